#include "symbolize/library_memory.h"

#include <cerrno>
#include <new>
#include <string_view>

#include <elfutils/libdw.h>
#include <libelf.h>

namespace stackpack::symbolize {

namespace {

// The libraries publish the texts of their errors, not the numbers.
constexpr std::string_view kOutOfMemory = "out of memory";

bool is_lack_of_memory(const char* message) {
  return message != nullptr && message == kOutOfMemory;
}

}  // namespace

void forget_lack_of_memory() {
  errno = 0;
  ::elf_errno();  // asking clears it
  ::dwarf_errno();
}

void heed_lack_of_memory() {
  const bool refused = errno == ENOMEM;
  const int elf = ::elf_errno();
  const int dwarf = ::dwarf_errno();
  if (refused || (elf != 0 && is_lack_of_memory(::elf_errmsg(elf))) ||
      (dwarf != 0 && is_lack_of_memory(::dwarf_errmsg(dwarf)))) {
    throw std::bad_alloc();
  }
}

}  // namespace stackpack::symbolize
