#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/sample_fields.h"

namespace stackpack::query {

/// The fields of samples, for who goes through all samples of a file in their order.
/// Memory: a block of rows.
class FieldCursor {
 public:
  /// As Reader::sample_field_block().
  using ReadBlock = std::function<Status(std::size_t, std::vector<FieldRow>&)>;

  explicit FieldCursor(ReadBlock read) : read_(std::move(read)) {}
  /// `reader` must outlive the cursor.
  explicit FieldCursor(const Reader& reader)
      : read_([&reader](std::size_t number, std::vector<FieldRow>& rows) {
          return reader.sample_field_block(number, rows);
        }) {}

  /// The fields of the sample with this number, which is above those that were asked for before;
  /// null when it has none. Valid until the next call. Errors: as Reader::sample_fields().
  Result<const FieldRow*> find(std::uint64_t sample) {
    while (at_ == rows_.size() || rows_[at_].sample < sample) {
      if (at_ < rows_.size()) {
        ++at_;
        continue;
      }
      if (ended_) {
        return Result<const FieldRow*>(nullptr);
      }
      at_ = 0;
      if (const Status read = read_(block_++, rows_); !read) {
        return read.error();
      }
      ended_ = rows_.empty();
    }
    return Result<const FieldRow*>(rows_[at_].sample == sample ? &rows_[at_] : nullptr);
  }

 private:
  ReadBlock read_;
  std::size_t block_ = 0;
  std::vector<FieldRow> rows_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

}  // namespace stackpack::query
