// The edges of a file: for each frame, which frames were ever called from it.
//
// A node of the DAG does not name its frame: it says which child of its parent's frame it is. Row r
// lists the children of frame r, ascending; the last row, r = number of frames, those of the root.
// A node's position in its row is given in one of two ways (page_path.h): as its "rank" for the
// first child of a node, which is small for frequent children, and as the distance from the child
// before for its siblings, which ascend. Ranks order the children by class, highest first, then by
// position; the class is about the logarithm of how often the child came first.
//
// Section edges: blocks of at most kEdgesPerBlock rows and as many edges.
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
#include <functional>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/column_codec.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Where the children of a row stand among all edges of a file.
struct EdgeRow {
  std::uint64_t first = 0;
  std::uint32_t size = 0;
  std::uint32_t top = 0;  ///< the child of rank 0; when there is none, the number of frames
};

/// One edge, for the writer.
struct CountedEdge {
  std::uint32_t row = 0;
  std::uint32_t child = 0;
  /// How often `child` was the first child of a node of frame `row`.
  std::uint64_t first_count = 0;
};

/// One edge as it stands in a block.
struct ClassedEdge {
  std::uint32_t row = 0;
  std::uint32_t child = 0;
  std::uint8_t edge_class = 0;  ///< at most kMaxEdgeClass
};

/// Encodes the edges of a file in blocks: edges in, blocks out.
class EdgeBlockEncoder {
 public:
  /// `emit` is given every block as soon as it is complete; its errors come back from add() and
  /// finish().
  EdgeBlockEncoder(std::uint32_t row_count, std::function<Status(BlockContent&)> emit)
      : row_count_(row_count), emit_(std::move(emit)) {}

  /// The next edge, by row, then child.
  Status add(const CountedEdge& edge);
  /// After the last edge.
  Status finish();

 private:
  void add_part();
  Status close_row();
  Status end_block();

  std::uint32_t row_count_;
  std::function<Status(BlockContent&)> emit_;
  BlockContent content_;
  std::uint32_t first_row_ = 0;  // of the block
  std::uint32_t row_ = 0;        // the open one
  std::size_t edges_in_block_ = 0;
  std::vector<CountedEdge> part_;  // of the open row, in this block
  std::vector<std::uint64_t> lengths_;
  std::vector<std::uint64_t> firsts_;
  std::vector<std::uint64_t> others_;
  std::vector<std::uint64_t> classes_;
};

/// Decodes the blocks of a file, one after the other.
class EdgeBlockDecoder {
 public:
  explicit EdgeBlockDecoder(std::uint32_t frame_count) : frame_count_(frame_count) {}

  /// The edges of the next block, by row, then child, above those of all blocks before. Valid until
  /// the next call.
  /// Errors: kCorrupt: rows out of order, children that are no frames or do not ascend.
  Result<std::span<const ClassedEdge>> decode(bytes::ByteCursor in);

  /// Whether all rows came.
  [[nodiscard]] bool complete() const {
    return next_row_ + (open_ ? 1 : 0) == std::uint64_t{frame_count_} + 1;
  }

 private:
  bool read_columns(bytes::ByteCursor& in);
  bool add_part(std::size_t length);

  std::uint32_t frame_count_;
  std::uint64_t next_row_ = 0;  // the row that is open, or that comes next
  bool open_ = false;
  bool begun_ = false;        // the open row has children
  std::uint64_t before_ = 0;  // the last of them
  std::vector<ClassedEdge> edges_;

  std::vector<std::uint64_t> lengths_;  // columns of the block, and how far they are used up
  std::vector<std::uint64_t> firsts_;
  std::vector<std::uint64_t> others_;
  std::vector<std::uint64_t> classes_;
  std::size_t first_at_ = 0;
  std::size_t other_at_ = 0;
  std::size_t class_at_ = 0;
};

}  // namespace stackpack::spk
