// Pages on disk: 4,096 consecutive nodes of the canonical order in about 0.6 bytes each.
//
// A node is stored as two small codes, which make sense only together with what is known when the
// reader gets there:
//
// * pops: where it hangs. The candidates are the node before it and the ancestors of that one,
// nearest
//   first. Children ascend; so a candidate whose last child was the last of its edge row
//   (edge_table.h) is out of the question and is not counted. Leaves have no edges at all, and most
//   frames have few: 0 is by far the most frequent code.
// * child: which frame it has. For a node's first child the rank in the edge row of the node's
// frame,
//   for others how many positions of the row are skipped since the child before.
//
// Both share a byte: 64 * pops + child, where pops 3 and child 63 mean that much or more, the rest
// following as a varint. One byte per node lets zstd find repeated shapes.
//
// That a callstack ends at a node is implied for nodes without a child in the page; exceptions are
// listed. The spine, the frames above the first node, makes the page decodable alone.
//
//   varint  first node, varint first stack id, varint nodes, varint spine length, varint exceptions
//   u8[]    code per frame of the spine, from the root on: the rank alone; 255: that much or more
//   u8[]    code per node
//   varint  per exception: its node - the exception's node before (the first: its node)
//   varint  rest of each code that has one, in the order of the codes, pops before child
//
// The first node hangs on the last frame of the spine. Nothing is known of the children that this
// frame had before: the node is coded as a first child.
#pragma once

#include <cstdint>
#include <vector>

#include "spk/format/column_codec.h"
#include "spk/format/layout.h"
#include "spk/read/resident_page.h"
#include "spk/write/dag_node.h"
#include "spk/write/edge_ranks.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// One level of the path from the root to the latest node, as the codes see it.
struct PathLevel {
  EdgeRow row;
  std::uint32_t frame = 0;  ///< for the root: the number of its edge row
  std::uint32_t next = 0;   ///< positions below are past; 0: no child yet

  [[nodiscard]] bool can_have_child() const { return next < row.size; }
};

/// Encodes the nodes of a DAG, page after page.
class PageEncoder {
 public:
  /// `edges` holds every pair of the DAG and outlives the encoder.
  explicit PageEncoder(EdgeRanks& edges) : edges_(edges) {}

  /// Adds the next node in canonical order. Not when full(). Errors: kIo, of the edges.
  Status add(const DagNode& node);
  /// Fetches what add() will look at for a node that comes soon.
  void prefetch(const DagNode& node) const { edges_.prefetch(node.frame); }
  [[nodiscard]] bool full() const { return codes_.size() == kNodesPerPage; }
  [[nodiscard]] bool empty() const { return codes_.size() == 0; }

  /// What a page is, for the index and the statistics.
  struct Page {
    std::uint32_t stacks = 0;
    PageShape shape;
  };
  /// Appends the page and begins the next.
  Page encode(BlockContent& content);

 private:
  Status begin_page(std::uint32_t depth);
  Status enter(std::uint32_t frame);

  EdgeRanks& edges_;
  std::vector<PathLevel> path_;  // the root and the frames down to the latest node
  bytes::ByteWriter spine_;      // codes of the page under construction
  bytes::ByteWriter spine_rests_;
  bytes::ByteWriter codes_;
  bytes::ByteWriter rests_;
  std::uint32_t spine_length_ = 0;
  std::vector<std::uint16_t> depths_;
  std::vector<bool> ends_;
  std::vector<bool> tops_;  // first children of rank 0
  std::uint64_t first_node_ = 0;
  std::uint64_t first_stack_ = 0;
};

}  // namespace stackpack::spk
