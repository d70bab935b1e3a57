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
/// are loaded (resident_page.h), and a bit that says whether there are more. The rows that have
/// more stand one after the other in other arrays: their start, per child its frame and, in the
/// place of rank k, the position of the child of rank k, in a byte but for long rows. Looking up a
/// child takes no branch that a processor could guess wrong; loading a page does it for every node.
class EdgeTable {
 public:
  [[nodiscard]] std::uint32_t row_count() const { return row_count_; }

  [[nodiscard]] EdgeRow operator[](std::uint32_t row) const {
    // Past the containers, as in FrameDictionary.
    const Several& several = several_.data()[row / 64];
    const FieldArray starts(starts_, start_bits_);
    const std::size_t number = several.before + count_bits(several.rows & low_bits(row % 64));
    const std::uint64_t first = starts[number];
    const bool listed = ((several.rows >> (row % 64)) & 1) != 0;
    const auto top = static_cast<std::uint32_t>(tops()[row]);
    const auto length = static_cast<std::uint32_t>(starts[number + 1] - first);
    return {first, listed ? length : static_cast<std::uint32_t>(top != row_count_ - 1), top};
  }
  /// Per row the child of rank 0, where there is one; else the number of frames.
  [[nodiscard]] FieldArray tops() const { return {tops_, child_bits_}; }

  /// The child at a position < row.size.
  [[nodiscard]] std::uint32_t child(const EdgeRow& row, std::uint32_t position) const {
    const std::uint64_t listed = FieldArray(children_, child_bits_)[row.first + position];
    return row.size == 1 ? row.top : static_cast<std::uint32_t>(listed);
  }
  /// The position of the child of a rank < row.size.
  [[nodiscard]] std::uint32_t position(const EdgeRow& row, std::uint32_t rank) const {
    if (row.size > kShortRow) {
      return long_position(row, rank);
    }
    const std::uint32_t listed = positions_.data()[row.first + rank];
    return row.size == 1 ? 0 : listed;
  }

  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  friend class EdgeTableBuilder;

  static constexpr std::uint32_t kShortRow = 256;  // positions of longer rows do not fit in a byte
  struct Several {
    std::uint64_t rows = 0;    // bit per row: it has two children or more
    std::uint32_t before = 0;  // such rows before these 64
  };
  struct LongRow {
    std::uint64_t first = 0;  // as EdgeRow::first
    std::size_t place = 0;    // in long_positions_
  };
  [[nodiscard]] std::uint32_t long_position(const EdgeRow& row, std::uint32_t rank) const;

  std::uint32_t row_count_ = 0;
  unsigned start_bits_ = 0;
  unsigned child_bits_ = 0;
  std::vector<std::uint64_t> tops_;  // child_bits_ each
  std::vector<Several> several_;     // per 64 rows
  // Of the rows with two children or more:
  std::vector<std::uint64_t> starts_;    // start_bits_ each, one more than there are rows
  std::vector<std::uint64_t> children_;  // child_bits_ each
  std::vector<std::uint8_t> positions_;  // low bits
  std::vector<LongRow> long_rows_;       // ascending
  std::vector<std::uint32_t> long_positions_;
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
  void add_positions(EdgeTable& table) const;

  std::uint32_t frame_count_;
  EdgeBlockDecoder decoder_;
  std::vector<std::uint32_t> tops_;
  std::vector<std::uint32_t> several_;    // the rows with two children or more
  std::vector<std::uint32_t> starts_;     // of those
  std::vector<std::uint32_t> children_;   // of the rows with several, and of the open row
  std::vector<std::uint32_t> positions_;  // by rank
  std::vector<std::uint8_t> classes_;     // of the open row
  std::uint64_t edge_count_ = 0;
};

}  // namespace stackpack::spk
