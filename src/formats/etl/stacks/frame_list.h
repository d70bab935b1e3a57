#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"

namespace stackpack::etl {

/// The frames of one payload at a time, as 64-bit addresses.
/// Memory: that of the longest payload so far, an event's 64 KiB at most.
class FrameList {
 public:
  /// All whole pointers that `bytes` holds, until the next call. A rest shorter than a pointer is
  /// left out.
  std::span<const std::uint64_t> read(std::span<const std::byte> bytes, std::uint8_t pointer_size) {
    bytes::ByteCursor in(bytes, 0);
    const std::size_t count = bytes.size() / pointer_size;
    if (pointer_size == 8) {
      in.read_u64_array(count, *this);
    } else {
      resize(count);
      for (std::uint64_t& frame : *this) {
        frame = in.read<std::uint32_t>();
      }
    }
    return std::span(memory_).first(size_);
  }

  // What a container has that the cursor fills. What there is after resize() is to be written.
  void resize(std::size_t size) {
    if (memory_.size() < size) {
      memory_.resize(size);
    }
    size_ = size;
  }
  [[nodiscard]] std::uint64_t* data() { return memory_.data(); }
  [[nodiscard]] std::uint64_t* begin() { return memory_.data(); }
  [[nodiscard]] std::uint64_t* end() { return memory_.data() + size_; }

 private:
  std::vector<std::uint64_t> memory_;
  std::size_t size_ = 0;
};

}  // namespace stackpack::etl
