// The edges of a file in memory; edge_blocks.h says what an edge is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/bit_array.h"
#include "spk/format/edge_blocks.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// The rows in memory, packed. Per row its child of rank 0, which alone most pages need once they
/// are loaded (resident_page.h), and its start; per child of the rows with two or more its frame
/// and, in the place of rank k, the position of the child of rank k. Looking up takes no branch
/// that a processor could guess wrong; loading a page does it for every node.
class EdgeTable {
 public:
  [[nodiscard]] std::uint32_t row_count() const { return row_count_; }

  [[nodiscard]] EdgeRow operator[](std::uint32_t row) const {
    const std::uint64_t first = start(row);
    const auto listed = static_cast<std::uint32_t>(start(std::size_t{row} + 1) - first);
    const auto top = static_cast<std::uint32_t>(tops()[row]);
    const bool single = (listed == 0) & (top != row_count_ - 1);
    return {first, listed + (single ? 1U : 0U), top};
  }
  /// Per row the child of rank 0, where there is one.
  [[nodiscard]] FieldArray tops() const { return {tops_, child_bits_}; }

  /// The child at a position < row.size.
  [[nodiscard]] std::uint32_t child(const EdgeRow& row, std::uint32_t position) const {
    const std::uint64_t listed = field(row.first + position) & child_mask_;
    return row.size == 1 ? row.top : static_cast<std::uint32_t>(listed);
  }
  /// The position of the child of a rank < row.size.
  [[nodiscard]] std::uint32_t position(const EdgeRow& row, std::uint32_t rank) const {
    const std::uint64_t listed = field(row.first + rank) >> child_bits_;
    return row.size == 1 ? 0 : static_cast<std::uint32_t>(listed);
  }

  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  friend class EdgeTableBuilder;

  [[nodiscard]] std::uint64_t start(std::size_t row) const {
    return FieldArray(starts_, start_bits_)[row];
  }
  [[nodiscard]] std::uint64_t field(std::size_t index) const {
    return FieldArray(fields_, field_bits_)[index];
  }

  std::uint32_t row_count_ = 0;
  unsigned start_bits_ = 0;
  unsigned field_bits_ = 0;
  unsigned child_bits_ = 0;
  std::uint64_t child_mask_ = 0;
  std::vector<std::uint64_t> tops_;    // child_bits_ each
  std::vector<std::uint64_t> starts_;  // start_bits_ each, one more than there are rows
  std::vector<std::uint64_t> fields_;  // per edge of a row with several: child, above it a position
};

/// Makes an EdgeTable of the blocks of a file.
class EdgeTableBuilder {
 public:
  explicit EdgeTableBuilder(std::uint32_t frame_count)
      : frame_count_(frame_count), decoder_(frame_count) {}

  /// Adds the rows of the next block. Errors: those of EdgeBlockDecoder.
  Status add_block(bytes::ByteCursor in);

  /// Edges of the blocks so far.
  [[nodiscard]] std::uint64_t edge_count() const { return edge_count_; }

  /// After the last block.
  /// Errors: kCorrupt: rows are missing.
  Result<EdgeTable> finish();

 private:
  void close_row();

  std::uint32_t frame_count_;
  EdgeBlockDecoder decoder_;
  std::vector<std::uint32_t> tops_;
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint32_t> children_;   // of the rows with several, and of the open row
  std::vector<std::uint32_t> positions_;  // by rank
  std::vector<std::uint8_t> classes_;     // of the open row
  std::uint32_t longest_ = 0;
  std::uint64_t edge_count_ = 0;
};

}  // namespace stackpack::spk
