#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bytes/byte_cursor.h"

namespace stackpack::unwind {

/// Memory that was copied from a thread's stack: `bytes` as they were at `base` and above.
class StackMemory {
 public:
  StackMemory(std::uint64_t base, std::span<const std::byte> bytes) : base_(base), bytes_(bytes) {}

  [[nodiscard]] std::uint64_t base() const { return base_; }
  /// The first address that was not copied.
  [[nodiscard]] std::uint64_t end() const { return base_ + bytes_.size(); }

  /// The word at `address`; false when it was not copied.
  bool read(std::uint64_t address, std::uint64_t& word) const {
    return read_bytes(address, 8, word);
  }

  /// The number of `size` bytes (1, 2, 4 or 8) at `address`.
  bool read_bytes(std::uint64_t address, unsigned size, std::uint64_t& number) const {
    const std::uint64_t at = address - base_;
    if (at >= bytes_.size() || bytes_.size() - at < size) {
      return false;
    }
    bytes::ByteCursor in(bytes_.subspan(static_cast<std::size_t>(at), size), address);
    switch (size) {
      case 8:
        number = in.read<std::uint64_t>();
        break;
      case 4:
        number = in.read<std::uint32_t>();
        break;
      case 2:
        number = in.read<std::uint16_t>();
        break;
      default:
        number = in.read<std::uint8_t>();
        break;
    }
    return in.ok();
  }

 private:
  std::uint64_t base_;
  std::span<const std::byte> bytes_;
};

}  // namespace stackpack::unwind
