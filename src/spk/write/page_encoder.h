#pragma once

#include <cstdint>
#include <vector>

#include "bytes/byte_writer.h"
#include "spk/format/column_codec.h"
#include "spk/format/layout.h"
#include "spk/format/page_path.h"
#include "spk/write/dag_node.h"
#include "spk/write/edge_ranks.h"
#include "stackpack/result.h"

namespace stackpack::spk {

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

  /// Appends the page and begins the next. Returns the callstacks that end in it.
  std::uint32_t encode(BlockContent& content);

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
  std::uint64_t first_node_ = 0;
  std::uint64_t first_stack_ = 0;
};

}  // namespace stackpack::spk
