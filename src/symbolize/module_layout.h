#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include <elf.h>

namespace stackpack::symbolize {

/// Where the kernel loads the sections of a module, which has no addresses of its own: those with
/// code one after the other, in the order of the file and aligned, from the first byte of the
/// module's mapping on; those for its start, which are thrown away, elsewhere.
///
/// Not followed: machines for which the kernel adds sections of its own between them (PLTs of
/// aarch64).
class ModuleLayout {
 public:
  /// The address of the first byte; none has 0, which stands for code that a linker threw away.
  static constexpr std::uint64_t kBase = std::uint64_t{1} << 20;
  /// Of sections for the start.
  static constexpr std::uint64_t kStartBase = std::uint64_t{1} << 31;

  /// The address of the next section of the file; nothing when it has no code.
  std::optional<std::uint64_t> place(std::string_view name, std::uint64_t flags, std::uint64_t size,
                                     std::uint64_t alignment) {
    constexpr std::uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
    if ((flags & kCode) != kCode || size > kMostBytes) {
      return std::nullopt;
    }
    std::uint64_t& next = name.starts_with(".init") ? next_of_start_ : next_;
    const std::uint64_t unit = std::has_single_bit(alignment) && alignment <= kBase ? alignment : 1;
    const std::uint64_t address = (next + unit - 1) / unit * unit;
    if (address - kBase > kMostBytes && address < kStartBase) {
      return std::nullopt;
    }
    next = address + size;
    return address;
  }

 private:
  std::uint64_t next_ = kBase;
  std::uint64_t next_of_start_ = kStartBase;
};

}  // namespace stackpack::symbolize
