#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spk/format/column_codec.h"
#include "spk/format/layout.h"
#include "spk/write/section_writer.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// A section whose blocks have so many rows each, the last one the rest. Without rows there is no
/// section.
///
/// `encode(rows, content)` appends a block's content. Memory: a block. Errors: those of the output.
template <typename Row>
class BlockRows {
 public:
  BlockRows(SectionWriter& out, SectionKind kind, std::size_t rows_per_block)
      : out_(out), kind_(kind), rows_per_block_(rows_per_block) {}

  [[nodiscard]] bool empty() const { return count_ == 0; }

  template <typename Encode>
  Status add(const Row& row, const Encode& encode) {
    if (count_++ == 0) {
      out_.begin_section(kind_);
    }
    rows_.push_back(row);
    return rows_.size() < rows_per_block_ ? Status{} : flush(encode);
  }

  /// The end of the section. Once, after the last row.
  template <typename Encode>
  Status end(const Encode& encode) {
    const Status flushed = rows_.empty() ? Status{} : flush(encode);
    if (flushed && count_ != 0) {
      out_.end_section(count_);
    }
    return flushed;
  }

 private:
  template <typename Encode>
  Status flush(const Encode& encode) {
    content_.clear();
    encode(rows_, content_);
    rows_.clear();
    const Result<BlockRecord> added = out_.add_block(content_);
    return added ? Status{} : Status{added.error()};
  }

  SectionWriter& out_;
  SectionKind kind_;
  std::size_t rows_per_block_;
  std::vector<Row> rows_;
  std::uint64_t count_ = 0;
  BlockContent content_;
};

/// A section of `count` rows in one block, which `encode(content)` appends.
template <typename Encode>
Status write_one_block(SectionWriter& out, SectionKind kind, std::uint64_t count,
                       const Encode& encode) {
  out.begin_section(kind);
  BlockContent content;
  encode(content);
  if (const Result<BlockRecord> added = out.add_block(content); !added) {
    return added.error();
  }
  out.end_section(count);
  return {};
}

}  // namespace stackpack::spk
