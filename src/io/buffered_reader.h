#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::io {

/// A window that slides forward over a ByteSource: look at bytes, then consume them.
///
/// Memory:  one buffer of `capacity` bytes, fewer for a shorter range, allocated once. Of a short
///          file little of it is touched.
/// Range:   reads [start, end) of a seekable source, or a source that is not seekable from its
///          read position to its end.
class BufferedReader {
 public:
  static constexpr std::size_t kDefaultCapacity = std::size_t{1} << 20;

  /// Sequential, from the source's read position to its end. `start` names that position.
  explicit BufferedReader(ByteSource& source, std::uint64_t start = 0,
                          std::size_t capacity = kDefaultCapacity);

  /// A range of a seekable source. `end` may lie beyond the end of the file.
  BufferedReader(ByteSource& source, std::uint64_t start, std::uint64_t end, std::size_t capacity);

  /// At least `size` bytes from the position on (size <= capacity), or as many as are left before
  /// the end. The span is valid until the next call; it may hold more than was asked for.
  Result<std::span<const std::byte>> peek(std::size_t size);

  /// Passes over `size` bytes. Past the window it seeks, or reads and discards.
  /// Result: bytes passed over; fewer than `size` only at the end.
  Result<std::uint64_t> skip(std::uint64_t size);

  /// Offset of the next byte in the file.
  [[nodiscard]] std::uint64_t offset() const { return base_ + begin_; }

  /// Bytes that peek can give without reading: for a fast path over many small records.
  [[nodiscard]] std::span<const std::byte> buffered() const {
    return room().subspan(begin_, end_ - begin_);
  }

  /// Passes over `size` bytes of buffered().
  void consume(std::size_t size) { begin_ += size; }

 private:
  Status fill(std::size_t size);
  [[nodiscard]] std::span<std::byte> room() const { return {buffer_.get(), capacity_}; }

  ByteSource& source_;
  std::size_t capacity_;
  std::unique_ptr<std::byte[]> buffer_;
  std::uint64_t base_;  // file offset of buffer_[0]
  std::uint64_t limit_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  bool random_access_;
};

}  // namespace stackpack::io
