// The edges of a file in memory; edge_blocks.h says what an edge is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bytes/byte_cursor.h"
#include "core/bit_array.h"
#include "spk/format/edge_blocks.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// The rows in memory, packed.
///
/// In memory frames have other numbers than in the file: first those with more than kShortRow
/// children, then those with several, with one, and with none; among each other as in the file. So
/// the number says how much there is to look up: nothing for leaves, for others their child of rank
/// 0, which alone most pages need once they are loaded (resident_page.h). Only rows with several
/// children have a start; theirs stand one after the other, with, in the place of rank k, the
/// position of the child of rank k. The last number is the root's, which is no frame.
class EdgeTable {
 public:
  [[nodiscard]] std::uint32_t row_count() const { return row_count_; }
  [[nodiscard]] std::uint32_t root() const { return row_count_ - 1; }
  /// Bits of the number of a frame that has children.
  [[nodiscard]] unsigned inner_bits() const {
    return core::bit_width_of(std::max(parents_, 1U) - 1);
  }

  [[nodiscard]] EdgeRow operator[](std::uint32_t row) const {
    if (row >= parents_) {
      return row == root() ? root_ : EdgeRow{0, 0, root()};
    }
    const auto top = static_cast<std::uint32_t>(tops()[row]);
    if (row >= several_) {
      return {0, 1, top};
    }
    const core::FieldArray starts(starts_, start_bits_);
    const std::uint64_t first = starts[row];
    return {first, static_cast<std::uint32_t>(starts[row + 1] - first), top};
  }
  /// Per frame with children its child of rank 0.
  [[nodiscard]] core::FieldArray tops() const { return {tops_, child_bits_}; }

  /// The child at a position < row.size.
  [[nodiscard]] std::uint32_t child(const EdgeRow& row, std::uint32_t position) const {
    const std::uint64_t listed = core::FieldArray(children_, child_bits_)[row.first + position];
    return row.size == 1 ? row.top : static_cast<std::uint32_t>(listed);
  }
  /// The position of the child of a rank < row.size.
  [[nodiscard]] std::uint32_t position(const EdgeRow& row, std::uint32_t rank) const {
    if (row.size == 1) {
      return 0;
    }
    const std::uint64_t at = row.first + rank;
    return static_cast<std::uint32_t>(
        row.size > kShortRow ? core::FieldArray(long_positions_, long_bits_)[at]
                             : core::FieldArray(positions_, kPositionBits)[at - long_children_]);
  }

  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  friend class EdgeTableBuilder;

  static constexpr unsigned kPositionBits = 6;
  static constexpr std::uint32_t kShortRow = 1U << kPositionBits;

  std::uint32_t row_count_ = 0;
  std::uint32_t parents_ = 0;  // numbers below have children
  std::uint32_t several_ = 0;  // numbers below have several
  unsigned start_bits_ = 0;
  unsigned child_bits_ = 0;
  unsigned long_bits_ = 0;
  std::uint64_t long_children_ = 0;  // children of long rows, which come first
  EdgeRow root_;
  std::vector<std::uint64_t> tops_;            // child_bits_ each
  std::vector<std::uint64_t> starts_;          // start_bits_ each, one more than there are rows
  std::vector<std::uint64_t> children_;        // child_bits_ each
  std::vector<std::uint64_t> long_positions_;  // long_bits_ each
  std::vector<std::uint64_t> positions_;       // kPositionBits each, of the other rows
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

  /// Once finished: per frame of the table its number in the file.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }

 private:
  struct Row {  // with two children or more
    std::uint32_t number = 0;
    std::uint32_t first = 0;
    std::uint32_t size = 0;
  };
  void close_row();
  void sort_rows();
  void number_frames(EdgeTable& table);
  void put_tops(EdgeTable& table) const;
  void put_several(EdgeTable& table) const;

  std::uint32_t frame_count_;
  EdgeBlockDecoder decoder_;
  // As the file numbers frames:
  std::vector<std::uint32_t> tops_;
  std::vector<Row> several_;
  std::vector<std::uint32_t> children_;   // of the rows with several, and of the open row
  std::vector<std::uint32_t> positions_;  // by rank
  std::vector<std::uint8_t> classes_;     // of the open row
  std::uint64_t edge_count_ = 0;
  std::vector<std::uint32_t> order_;    // number in the file by number in memory
  std::vector<std::uint32_t> numbers_;  // and the other way round
};

}  // namespace stackpack::spk
