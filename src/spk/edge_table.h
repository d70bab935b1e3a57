// The edge table: for each frame, which frames were ever called from it.
//
// A node of the DAG does not name its frame: it tells which child of its parent's frame it is. Row
// r lists the children of frame r, ascending; the last row, r = number of frames, those of the
// root. A node's position in its row is told in one of two ways (page_encoder.h): by its "rank" for
// the first child of a node, which is small for frequent children, and as the distance from the
// child before for its siblings, which ascend. Ranks order the children by class, highest first,
// then by position; the class is about the logarithm of how often the child came first.
//
// On disk (section edges): blocks of at most kEdgesPerBlock rows and as many edges.
//
//   varint  first row, varint rows
//   column  number of children per row
//   column  first child of each row that has one: zigzag(child - row)
//   column  the other children: child - child before it - 1
//   column  class of each child of the rows with two or more (else it is 0)
//
// A row too long for the block goes on in the next one, whose first row has the same number; each
// part counts as a row for the columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/byte_cursor.h"
#include "spk/bit_array.h"
#include "spk/column_codec.h"
#include "spk/layout.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Where the children of a row stand in the table.
struct EdgeRow {
  std::uint64_t first = 0;
  std::uint32_t size = 0;
  std::uint32_t top = 0;  ///< the child of rank 0; when there is none, the number of frames
};

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
  /// Fetches what [row] will look at.
  void prefetch(std::uint32_t row) const {
    __builtin_prefetch(tops_.data() + std::uint64_t{row} * child_bits_ / 64);
    __builtin_prefetch(starts_.data() + std::uint64_t{row} * start_bits_ / 64);
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
  explicit EdgeTableBuilder(std::uint32_t frame_count) : frame_count_(frame_count) {}

  /// Adds the rows of the next block.
  /// Errors: kCorrupt: rows out of order, children that are no frames or do not ascend.
  Status add_block(io::ByteCursor in);

  /// After the last block.
  /// Errors: kCorrupt: rows are missing.
  Result<EdgeTable> finish();

 private:
  bool read_block(io::ByteCursor& in);
  bool add_part(std::uint64_t row, std::size_t length);
  void close_row();

  std::uint32_t frame_count_;
  std::uint64_t next_row_ = 0;  // the row that is open, or that comes next
  bool open_ = false;
  std::vector<std::uint32_t> tops_;
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint32_t> children_;   // of the rows with several, and of the open row
  std::vector<std::uint32_t> positions_;  // by rank
  std::vector<std::uint8_t> classes_;     // of the open row
  std::uint32_t longest_ = 0;

  std::vector<std::uint64_t> lengths_;  // columns of the block, and how far they are used up
  std::vector<std::uint64_t> firsts_;
  std::vector<std::uint64_t> others_;
  std::vector<std::uint64_t> block_classes_;
  std::size_t first_at_ = 0;
  std::size_t other_at_ = 0;
  std::size_t class_at_ = 0;
};

/// One edge, for the writer.
struct CountedEdge {
  std::uint32_t row = 0;
  std::uint32_t child = 0;
  std::uint64_t first_count =
      0;  ///< how often `child` was the first child of a node of frame `row`
};

/// Collects which edges there are.
/// Memory: about 24 bytes per edge.
class EdgeCounter {
 public:
  EdgeCounter();

  void add(std::uint32_t row, std::uint32_t child, bool first);

  [[nodiscard]] std::size_t size() const { return used_; }

  /// All edges by row, then child. The counter is empty after that.
  std::vector<CountedEdge> take();

 private:
  struct Slot {
    std::uint64_t key = 0;  // row + 1 in the high half, so that no pair is 0
    std::uint64_t count = 0;
  };
  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const;
  void grow();

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

/// Encodes the edges of a file in blocks: edges in, blocks out.
class EdgeBlockEncoder {
 public:
  /// `edges`: by row, then child. Not copied.
  EdgeBlockEncoder(std::span<const CountedEdge> edges, std::uint32_t row_count)
      : edges_(edges), row_count_(row_count) {}

  [[nodiscard]] bool done() const { return row_ == row_count_; }
  /// Appends the next block. Not when done().
  void encode(BlockContent& content);

 private:
  void add_part(std::span<const CountedEdge> part);

  std::span<const CountedEdge> edges_;  // those left
  std::uint32_t row_count_;
  std::uint32_t row_ = 0;  // the next one
  std::vector<std::uint64_t> lengths_;
  std::vector<std::uint64_t> firsts_;
  std::vector<std::uint64_t> others_;
  std::vector<std::uint64_t> classes_;
};

}  // namespace stackpack::spk
