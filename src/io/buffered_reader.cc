#include "io/buffered_reader.h"

#include <algorithm>
#include <cstring>

namespace stackpack::io {

namespace {

// Bytes that are read at a time: few enough that they are still in the processor's own cache when
// they are looked at.
constexpr std::size_t kStep = std::size_t{256} << 10;

}  // namespace

BufferedReader::BufferedReader(ByteSource& source, std::uint64_t start, std::size_t capacity)
    : source_(source),
      capacity_(capacity),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(capacity_)),
      base_(start),
      limit_(~std::uint64_t{0}),
      random_access_(false) {}

BufferedReader::BufferedReader(ByteSource& source, std::uint64_t start, std::uint64_t end,
                               std::size_t capacity)
    : source_(source),
      capacity_(
          static_cast<std::size_t>(std::min<std::uint64_t>(capacity, end - std::min(start, end)))),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(capacity_)),
      base_(start),
      limit_(end),
      random_access_(true) {}

Status BufferedReader::fill(std::size_t size) {
  if (begin_ > 0 && capacity_ - begin_ < size + kStep) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    base_ += begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  while (end_ - begin_ < size && !at_end_) {
    std::span<std::byte> space = room().subspan(end_);
    space = space.first(std::min(space.size(), kStep));
    const std::uint64_t position = base_ + end_;
    if (position >= limit_) {
      at_end_ = true;
      break;
    }
    space = space.first(
        static_cast<std::size_t>(std::min<std::uint64_t>(space.size(), limit_ - position)));
    const Result<std::size_t> count =
        random_access_ ? source_.read_at(position, space) : source_.read(space);
    if (!count) {
      return count.error();
    }
    at_end_ = *count == 0;
    end_ += *count;
  }
  return {};
}

Result<std::span<const std::byte>> BufferedReader::peek(std::size_t size) {
  if (end_ - begin_ < size && !at_end_) {
    const Status filled = fill(std::min(size, capacity_));
    if (!filled) {
      return filled.error();
    }
  }
  return buffered();
}

Result<std::uint64_t> BufferedReader::skip(std::uint64_t size) {
  const std::uint64_t inside = std::min<std::uint64_t>(size, end_ - begin_);
  begin_ += static_cast<std::size_t>(inside);
  std::uint64_t left = size - inside;
  if (left != 0 && random_access_) {
    const std::uint64_t end = std::min(limit_, source_.size().value_or(limit_));
    const std::uint64_t position = offset();
    const std::uint64_t step = std::min(left, end > position ? end - position : 0);
    base_ = position + step;
    begin_ = end_ = 0;
    return inside + step;
  }
  while (left != 0) {
    const auto bytes = peek(1);
    if (!bytes) {
      return bytes.error();
    }
    if (bytes->empty()) {
      break;
    }
    const std::uint64_t step = std::min<std::uint64_t>(left, bytes->size());
    begin_ += static_cast<std::size_t>(step);
    left -= step;
  }
  return size - left;
}

}  // namespace stackpack::io
