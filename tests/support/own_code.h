// Where code of the test program lies in its own file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <link.h>
#include <unistd.h>

#include "io/byte_source.h"
#include "symbolize/elf_identity.h"

namespace stackpack::test {

/// The path of the test program.
inline std::string own_path() {
  std::string path(4096, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(static_cast<std::size_t>(size > 0 ? size : 0));
  return path;
}

inline symbolize::ElfIdentity own_identity() {
  const auto source = io::open_source(own_path());
  return source ? symbolize::read_elf_identity(**source).value() : symbolize::ElfIdentity();
}

/// The offset in the program's file of an address of this process.
inline std::uint64_t own_offset(std::uint64_t address) {
  std::uint64_t base = 0;
  // The first one is the program itself.
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t /*size*/, void* result) {
        *static_cast<std::uint64_t*>(result) = info->dlpi_addr;
        return 1;
      },
      &base);
  return own_identity().offset_of(address - base).value_or(0);
}

template <typename Result, typename... Arguments>
std::uint64_t own_offset_of(Result (*function)(Arguments...)) {
  return own_offset(reinterpret_cast<std::uint64_t>(function));  // NOLINT: its address is wanted
}

}  // namespace stackpack::test
