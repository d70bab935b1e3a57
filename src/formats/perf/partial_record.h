// A sample of which only the two ends have been read. Between them lies the dump of a stack, of
// which walking seldom needs more than the beginning: reading the rest of it, only to pass it over,
// would be most of the work on a capture with dumps of 64 KiB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// Positions are those of the payload. Bytes from head() to tail() are not those of the record
/// before load().
///
/// Errors: of reading, kept in status(); what could not be read is not there.
class PartialRecord {
 public:
  /// `payload`: of the record, which begins at `offset` of the source.
  PartialRecord(io::ByteSource& source, std::uint64_t offset, std::span<std::byte> payload,
                std::size_t head, std::size_t tail)
      : source_(source), offset_(offset), payload_(payload), head_(head), tail_(tail) {}

  [[nodiscard]] std::size_t head() const { return head_; }
  [[nodiscard]] std::size_t tail() const { return tail_; }
  [[nodiscard]] const Status& status() const { return status_; }

  /// Reads on until the first `size` bytes are there, or more. Result: head().
  std::size_t load(std::size_t size) {
    if (size <= head_ || !status_) {
      return head_;
    }
    constexpr std::size_t kLeastStep = std::size_t{4} << 10;
    const std::size_t step = std::max({size - head_, head_, kLeastStep});
    const std::size_t wanted = std::min(step, payload_.size() - head_);
    status_ = io::read_exactly_at(source_, offset_ + head_, payload_.subspan(head_, wanted),
                                  "perf: sample: the file ends inside it");
    if (status_) {
      head_ += wanted;
    }
    return head_;
  }

  /// The whole record.
  void load_all() { load(payload_.size()); }

 private:
  io::ByteSource& source_;
  std::uint64_t offset_;
  std::span<std::byte> payload_;
  std::size_t head_;
  std::size_t tail_;
  Status status_;
};

}  // namespace stackpack::perf
