#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"

namespace stackpack::etl {

/// Frames as 64-bit addresses, one after the other. Memory: as much as there were at a time. What
/// grows here is not filled with zeros before it is written.
class FrameList {
 public:
  /// All whole pointers that `bytes` holds, and nothing else, until the next change. A rest shorter
  /// than a pointer is left out.
  std::span<const std::uint64_t> read(std::span<const std::byte> bytes, std::uint8_t pointer_size) {
    size_ = 0;
    append(bytes, pointer_size);
    return frames();
  }

  /// Adds what read() gives at the end.
  void append(std::span<const std::byte> bytes, std::uint8_t pointer_size) {
    bytes::ByteCursor in(bytes, 0);
    Tail tail{*this, size_};
    if (pointer_size == 8) {
      in.read_u64_array(bytes.size() / pointer_size, tail);
      return;
    }
    tail.resize(bytes.size() / pointer_size);
    for (std::uint64_t& frame : tail) {
      frame = in.read<std::uint32_t>();
    }
  }

  void append(std::span<const std::uint64_t> frames) {
    Tail tail{*this, size_};
    tail.resize(frames.size());
    std::copy(frames.begin(), frames.end(), tail.begin());
  }

  void clear() { size_ = 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<const std::uint64_t> frames() const {
    return std::span(memory_).first(size_);
  }

 private:
  // The frames from `begin` on, as a container that the cursor fills.
  struct Tail {
    FrameList& list;
    std::size_t first;

    void resize(std::size_t count) {
      list.size_ = first + count;
      if (list.memory_.size() < list.size_) {
        list.memory_.resize(std::max(list.size_, 2 * list.memory_.size()));
      }
    }
    std::uint64_t* data() { return begin(); }
    std::uint64_t* begin() { return list.memory_.data() + first; }
    std::uint64_t* end() { return list.memory_.data() + list.size_; }
  };

  std::vector<std::uint64_t> memory_;
  std::size_t size_ = 0;
};

}  // namespace stackpack::etl
