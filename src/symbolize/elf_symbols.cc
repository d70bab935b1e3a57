#include "symbolize/elf_symbols.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <tuple>

#include <gelf.h>

#include "core/sort_rows.h"
#include "symbolize/library_memory.h"
#include "symbolize/xz_stream.h"

namespace stackpack::symbolize {

namespace {

std::uint8_t binding_order(unsigned char info) {
  switch (GELF_ST_BIND(info)) {
    case STB_GLOBAL:
    case STB_GNU_UNIQUE:
      return 0;
    case STB_WEAK:
      return 1;
    default:
      return 2;
  }
}

// `memcpy@@GLIBC_2.14` without its version.
std::string_view without_version(std::string_view name) {
  const std::size_t at = name.find('@', 1);
  return at == std::string_view::npos ? name : name.substr(0, at);
}

auto order_of(const ElfSymbol& symbol) {
  return std::tuple(symbol.start, std::numeric_limits<std::uint64_t>::max() - symbol.size,
                    symbol.binding, symbol.name.size(), symbol.name,
                    symbol.source == FunctionSource::kDynsym ? 1 : 0, symbol.source);
}

// The bytes from an address to the end of a section; 0 when it is not in there.
std::uint64_t section_room(Elf* file, std::size_t section, std::uint64_t address) {
  GElf_Shdr header{};
  Elf_Scn* const part = section >= SHN_LORESERVE ? nullptr : ::elf_getscn(file, section);
  if (part == nullptr || ::gelf_getshdr(part, &header) == nullptr || address < header.sh_addr ||
      address - header.sh_addr >= header.sh_size) {
    return 0;
  }
  const std::uint64_t left = header.sh_size - (address - header.sh_addr);
  return std::min(left, std::numeric_limits<std::uint64_t>::max() - address);
}

bool is_function_here(const GElf_Sym& symbol) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF;
}

ElfSymbol function_of(Elf* file, const GElf_Ehdr& top, const GElf_Sym& symbol, const char* name,
                      FunctionSource source) {
  ElfSymbol function;
  // The lowest bit of a Thumb function's address says that it is one.
  function.start = top.e_machine == EM_ARM ? symbol.st_value & ~GElf_Addr{1} : symbol.st_value;
  function.size =
      std::min(symbol.st_size, std::numeric_limits<std::uint64_t>::max() - function.start);
  function.source = source;
  function.binding = binding_order(symbol.st_info);
  function.name = without_version(name);
  if (function.size == 0) {
    function.room = section_room(file, symbol.st_shndx, function.start);
  }
  return function;
}

}  // namespace

struct ElfSymbols::Unpacked {
  explicit Unpacked(std::string content)
      : bytes(std::move(content)), file(::elf_memory(bytes.data(), bytes.size())) {}
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;
  ~Unpacked() { ::elf_end(file); }

  std::string bytes;
  Elf* file;
};

ElfSymbols::ElfSymbols() {
  ::elf_version(EV_CURRENT);
}
ElfSymbols::~ElfSymbols() = default;

void ElfSymbols::keep(const ElfSymbol& function) {
  if (function.size != 0 || function.room != 0) {
    functions_.push_back(function);
  }
}

void ElfSymbols::add_table(Elf* file, std::size_t section, FunctionSource source) {
  Elf_Scn* const part = ::elf_getscn(file, section);
  GElf_Shdr header{};
  GElf_Ehdr top{};
  Elf_Data* const data = part == nullptr ? nullptr : ::elf_getdata(part, nullptr);
  if (data == nullptr || ::gelf_getshdr(part, &header) == nullptr ||
      ::gelf_getehdr(file, &top) == nullptr) {
    heed_lack_of_memory();
    ++damaged_tables_;
    return;
  }
  const std::size_t entry = ::gelf_fsize(file, ELF_T_SYM, 1, EV_CURRENT);
  // What debug files have no bytes of is in another one.
  const bool has_rows = header.sh_type != SHT_NOBITS && entry != 0;
  const std::size_t count = has_rows ? data->d_size / entry : 0;
  bool damaged = false;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Sym symbol{};
    if (::gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) {
      damaged = true;
      break;
    }
    if (!is_function_here(symbol)) {
      continue;
    }
    const char* const name = ::elf_strptr(file, header.sh_link, symbol.st_name);
    if (name == nullptr || *name == '\0') {
      damaged = damaged || name == nullptr;
      continue;
    }
    const ElfSymbol function = function_of(file, top, symbol, name, source);
    keep(function);
  }
  heed_lack_of_memory();
  damaged_tables_ += damaged ? 1U : 0U;
}

void ElfSymbols::add_packed(const char* bytes, std::size_t size) {
  std::string content = unpack_xz(std::as_bytes(std::span(bytes, size)));
  if (content.empty()) {
    ++damaged_tables_;
    return;
  }
  unpacked_.push_back(std::make_unique<Unpacked>(std::move(content)));
  Elf* const file = unpacked_.back()->file;
  std::size_t sections = 0;
  if (file == nullptr || ::elf_getshdrnum(file, &sections) != 0) {
    heed_lack_of_memory();
    ++damaged_tables_;
    return;
  }
  for (std::size_t i = 1; i < sections; ++i) {
    GElf_Shdr header{};
    Elf_Scn* const part = ::elf_getscn(file, i);
    if (part != nullptr && ::gelf_getshdr(part, &header) != nullptr &&
        header.sh_type == SHT_SYMTAB) {
      add_table(file, i, FunctionSource::kMiniDebug);
    }
  }
}

void ElfSymbols::add(Elf* file) {
  std::size_t sections = 0;
  std::size_t names = 0;
  if (file == nullptr) {
    return;
  }
  if (::elf_getshdrnum(file, &sections) != 0) {
    heed_lack_of_memory();
    ++damaged_tables_;
    return;
  }
  const bool named = ::elf_getshdrstrndx(file, &names) == 0;
  for (std::size_t i = 1; i < sections; ++i) {
    GElf_Shdr header{};
    Elf_Scn* const part = ::elf_getscn(file, i);
    if (part == nullptr || ::gelf_getshdr(part, &header) == nullptr) {
      continue;
    }
    if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) {
      add_table(file, i,
                header.sh_type == SHT_SYMTAB ? FunctionSource::kSymtab : FunctionSource::kDynsym);
      continue;
    }
    const char* const name = named ? ::elf_strptr(file, names, header.sh_name) : nullptr;
    if (name != nullptr && std::string_view(name) == ".gnu_debugdata" &&
        header.sh_type == SHT_PROGBITS) {
      const Elf_Data* const data = ::elf_rawdata(part, nullptr);
      if (data != nullptr && data->d_buf != nullptr) {
        add_packed(static_cast<const char*>(data->d_buf), data->d_size);
      } else {
        ++damaged_tables_;
      }
    }
  }
  heed_lack_of_memory();
}

std::optional<std::uint64_t> ElfSymbols::address_of(Elf* file, std::string_view name) {
  std::size_t sections = 0;
  if (file == nullptr || ::elf_getshdrnum(file, &sections) != 0) {
    return std::nullopt;
  }
  for (std::size_t i = 1; i < sections; ++i) {
    GElf_Shdr header{};
    Elf_Scn* const part = ::elf_getscn(file, i);
    if (part == nullptr || ::gelf_getshdr(part, &header) == nullptr ||
        (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM)) {
      continue;
    }
    Elf_Data* const data = ::elf_getdata(part, nullptr);
    GElf_Sym symbol{};
    for (int row = 0; data != nullptr && ::gelf_getsym(data, row, &symbol) != nullptr; ++row) {
      const char* const text = ::elf_strptr(file, header.sh_link, symbol.st_name);
      if (text != nullptr && name == text && symbol.st_shndx != SHN_UNDEF) {
        return symbol.st_value;
      }
    }
  }
  return std::nullopt;
}

void ElfSymbols::settle() {
  core::sort_rows(functions_,
                  [](const ElfSymbol& a, const ElfSymbol& b) { return order_of(a) < order_of(b); });
  functions_.erase(
      std::unique(functions_.begin(), functions_.end(),
                  [](const ElfSymbol& a, const ElfSymbol& b) { return a.start == b.start; }),
      functions_.end());
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    ElfSymbol& function = functions_[i];
    if (function.size == 0) {
      function.size = i + 1 < functions_.size()
                          ? std::min(function.room, functions_[i + 1].start - function.start)
                          : function.room;
    }
  }
}

const ElfSymbol* ElfSymbols::Sweep::find(std::uint64_t address) {
  while (next_ < symbols_.size() && symbols_[next_].start <= address) {
    open_.push_back(next_++);
  }
  // Later addresses are higher: what has ended here has ended for them as well.
  while (!open_.empty()) {
    const ElfSymbol& symbol = symbols_[open_.back()];
    if (address - symbol.start < symbol.size) {
      return &symbol;
    }
    open_.pop_back();
  }
  return nullptr;
}

const ElfSymbol* ElfSymbols::Sweep::begins_at(std::uint64_t address) const {
  return next_ < symbols_.size() && symbols_[next_].start == address ? &symbols_[next_] : nullptr;
}

}  // namespace stackpack::symbolize
