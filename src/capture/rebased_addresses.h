#pragma once

#include <cstdint>

namespace stackpack::capture {

/// Where a merged file has the code of its images and its named frames, whatever they were mapped
/// at: addresses that no processor gives to a program or a kernel.
///
/// Every image has a place of its own, with a gap behind it; every frame that is a name has
/// kBytesPerName bytes, its address being the second one, so that nothing is found one byte before
/// the first. Modules and functions there belong to kKernelPid: to every process.
struct RebasedAddresses {
  // Data that a recorder took for an address is often text, or small: below.
  static constexpr std::uint64_t kFirstPlace = 0x8000'0000'0000'0000;
  static constexpr std::uint64_t kFirstName = 0x8F00'0000'0000'0000;
  static constexpr std::uint64_t kEnd = 0x9000'0000'0000'0000;
  static constexpr std::uint64_t kBytesPerName = 2;
  static constexpr std::uint64_t kMostNames = std::uint64_t{1} << 31;
  static constexpr std::uint64_t kAlignment = 4096;
  /// Offsets in an image from this one on are left where they are.
  static constexpr std::uint64_t kMostExtent = std::uint64_t{1} << 48;

  /// Whether an address is in a place of images or names.
  static constexpr bool in_range(std::uint64_t address) {
    return address >= kFirstPlace && address < kEnd;
  }
  static constexpr bool is_name(std::uint64_t address) {
    return address >= kFirstName && address < kEnd;
  }
  /// An address of a capture that lies in the range all the same: somewhere else without meaning.
  static constexpr std::uint64_t moved_away(std::uint64_t address) {
    return address | std::uint64_t{1} << 62;
  }
};

}  // namespace stackpack::capture
