// Names addresses as libdw alone does, one after the other: name_by_libdw FILE < ADDRESSES
//
// For comparisons with name_elf_addresses, whose answer has the same form, but for names, which are
// as linked here. ADDRESSES has one hexadecimal virtual address a line. It has no code in common
// with the reader, and walks a whole unit for each address: units of megabytes take long.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <libelf.h>
#include <unistd.h>

namespace {

std::string name_of(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    if (Dwarf_Attribute* const found = ::dwarf_attr_integrate(&die, name, &attribute);
        found != nullptr) {
      const char* const text = ::dwarf_formstring(found);
      return text == nullptr ? "?" : text;
    }
  }
  return "?";
}

std::string place(const char* file, std::uint64_t line) {
  if (file == nullptr) {
    return " -";
  }
  const std::string_view path = file;
  return " " + std::string(path.substr(path.rfind('/') + 1)) + ":" + std::to_string(line);
}

std::uint64_t number_of(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  Dwarf_Attribute* const found = ::dwarf_attr(&die, name, &attribute);
  return found != nullptr && ::dwarf_formudata(found, &value) == 0 ? value : 0;
}

struct Free {
  void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};
using Scopes = std::unique_ptr<Dwarf_Die, Free>;

// The line of the innermost code.
std::string line_at(Dwarf_Die& unit, Dwarf_Addr address) {
  Dwarf_Line* const line = ::dwarf_getsrc_die(&unit, address);
  int number = 0;
  if (line == nullptr || ::dwarf_lineno(line, &number) != 0) {
    return " -";
  }
  return place(::dwarf_linesrc(line, nullptr, nullptr), static_cast<std::uint64_t>(number));
}

// Where an inlined call is.
std::string call_at(Dwarf_Die& unit, Dwarf_Die& call) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  const std::uint64_t file = number_of(call, DW_AT_call_file);
  const char* const name = ::dwarf_getsrcfiles(&unit, &files, &count) == 0 && file < count
                               ? ::dwarf_filesrc(files, file, nullptr, nullptr)
                               : nullptr;
  return place(name, number_of(call, DW_AT_call_line));
}

std::string chain_of(Dwarf* file, Dwarf_Addr address) {
  Dwarf_Die unit;
  if (::dwarf_addrdie(file, address, &unit) == nullptr) {
    return {};
  }
  Dwarf_Die* found = nullptr;
  const int innermost = ::dwarf_getscopes(&unit, address, &found);
  const Scopes scopes(found);
  if (innermost <= 0) {
    return {};
  }
  Dwarf_Die* around = nullptr;
  const int count = ::dwarf_getscopes_die(scopes.get(), &around);
  const Scopes nest(around);
  std::string chain;
  std::string where = line_at(unit, address);
  for (int i = 0; i < count; ++i) {
    Dwarf_Die& die = nest.get()[i];
    const int tag = ::dwarf_tag(&die);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) {
      continue;
    }
    chain += (chain.empty() ? "" : " | ") + name_of(die) + where;
    if (tag == DW_TAG_subprogram) {
      return chain;
    }
    where = call_at(unit, die);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const int descriptor = argc == 2 ? ::open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
  Dwarf* const file = descriptor < 0 ? nullptr : ::dwarf_begin(descriptor, DWARF_C_READ);
  if (file == nullptr) {
    std::cerr << "name_by_libdw FILE < ADDRESSES: no debug information\n";
    return 1;
  }
  for (std::string text; std::getline(std::cin, text);) {
    constexpr int kHex = 16;
    std::cout << text << '\t' << chain_of(file, std::strtoull(text.c_str(), nullptr, kHex)) << '\n';
  }
  ::dwarf_end(file);
  ::close(descriptor);
  return 0;
}
