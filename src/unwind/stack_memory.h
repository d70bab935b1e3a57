#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "bytes/byte_cursor.h"

namespace stackpack::unwind {

/// Memory that was copied from a thread's stack: `bytes` as they were at `base` and above.
class StackMemory {
 public:
  /// Reads on, to so many bytes or more. Result: how many are there then.
  using Load = std::function<std::size_t(std::size_t)>;

  StackMemory(std::uint64_t base, std::span<const std::byte> bytes)
      : StackMemory(base, bytes, bytes.size(), nullptr) {}

  /// Of `bytes`, the first `loaded` are there, and `load` reads more of them.
  StackMemory(std::uint64_t base, std::span<const std::byte> bytes, std::size_t loaded,
              const Load* load)
      : base_(base), bytes_(bytes), loaded_(loaded), load_(load) {}

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
    if (loaded_ < at + size && !has_loaded(static_cast<std::size_t>(at) + size)) [[unlikely]] {
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
  bool has_loaded(std::size_t size) const {
    loaded_ = load_ != nullptr && *load_ ? (*load_)(size) : loaded_;
    return loaded_ >= size;
  }

  std::uint64_t base_;
  std::span<const std::byte> bytes_;
  mutable std::size_t loaded_;  // what a reader sees stays the same
  const Load* load_;
};

}  // namespace stackpack::unwind
