// A page: 4,096 consecutive nodes of the canonical order in about 0.6 bytes each.
//
// A node is stored as two small codes, which make sense only together with what is known when the
// reader gets there:
//
// clang-format off
// * pops: where it hangs. The candidates are the node before it and the ancestors of that one, nearest
//   first. Children ascend; so a candidate whose last child was the last of its edge row (edge_blocks.h)
//   is out of the question and is not counted. Leaves have no edges at all, and most frames have few:
//   0 is by far the most frequent code.
// * child: which frame it has. For a node's first child the rank in the edge row of the node's frame,
//   for others how many positions of the row are skipped since the child before.
// clang-format on
//
// Both share a byte: 64 * pops + child, where pops 3 and child 63 mean that much or more, the rest
// following as a varint. One byte per node lets zstd find repeated shapes.
//
// That a callstack ends at a node is implied for nodes without a child in the page; exceptions are
// listed. The spine, the frames above the first node, makes the page decodable alone.
//
// clang-format off
//   varint  first node, varint first stack id, varint nodes, varint spine length, varint exceptions
//   u8[]    code per frame of the spine, from the root on: the rank alone; 255: that much or more
//   u8[]    code per node
//   varint  per exception: its node - the exception's node before (the first: its node)
//   varint  rest of each code that has one, in the order of the codes, pops before child
// clang-format on
//
// The first node hangs on the last frame of the spine. Nothing is known of the children that this
// frame had before: the node is coded as a first child.
#pragma once

#include <cstdint>

#include "spk/format/edge_blocks.h"

namespace stackpack::spk {

/// One level of the path from the root to the latest node, as the codes see it.
struct PathLevel {
  EdgeRow row;
  std::uint32_t frame = 0;  ///< for the root: the number of its edge row
  std::uint32_t next = 0;   ///< positions below are past; 0: no child yet

  [[nodiscard]] bool can_have_child() const { return next < row.size; }
};

}  // namespace stackpack::spk
