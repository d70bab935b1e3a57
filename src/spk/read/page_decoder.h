#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/page_path.h"
#include "spk/read/edge_table.h"
#include "spk/read/page_packer.h"
#include "spk/read/resident_page.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Turns the content of a page (page_path.h) into its resident form.
///
/// Every index of the content is checked here, once, so that nothing has to be checked when a stack
/// is decoded. Keeps its scratch between calls. Threads: one at a time.
class PageDecoder {
 public:
  /// What the page index says about the page.
  struct Expected {
    std::uint64_t first_node = 0;
    std::uint64_t first_stack = 0;
    std::uint32_t nodes = 0;  ///< 1 .. kNodesPerPage
    std::uint32_t stacks = 0;
    std::uint64_t offset = 0;  ///< of the page in the file, for messages
  };

  /// Errors: kCorrupt: the content contradicts itself, the edge table or `expected`.
  Result<ResidentPage> decode(std::span<const std::byte> content, const EdgeTable& edges,
                              const Expected& expected);

  // About the page decoded last, to compare it with its neighbours. Frames are dictionary indices.
  /// The frames above the first node, from the root on.
  [[nodiscard]] std::span<const std::uint32_t> spine() const { return spine_; }
  [[nodiscard]] std::uint32_t first_frame() const { return nodes_.front().frame; }
  [[nodiscard]] std::span<const ResidentPage::Node> nodes() const { return nodes_; }
  /// The frames of the last node and those above it, from the root on, into `path` (replaced).
  void last_path(std::vector<std::uint32_t>& path) const;

 private:
  using Node = ResidentPage::Node;
  struct Level : PathLevel {
    std::uint32_t node = 0;  // as Node::parent
  };
  bool read_head(bytes::ByteCursor& in, const Expected& expected);
  bool read_codes(bytes::ByteCursor& in);
  bool read_rests(bytes::ByteCursor& in);
  bool read_exceptions(bytes::ByteCursor& in);
  bool walk_spine(const EdgeTable& edges);
  bool walk_nodes(const EdgeTable& edges);
  [[nodiscard]] bool exceptions_fit() const;

  std::uint32_t node_count_ = 0;
  std::uint32_t spine_length_ = 0;
  std::uint32_t exception_count_ = 0;
  std::vector<std::uint32_t> spine_ranks_;
  std::span<const std::byte> codes_;  // in the content
  std::vector<std::uint32_t> rests_;  // of the codes, in order
  std::vector<std::uint32_t> exceptions_;
  std::vector<std::uint32_t> spine_;
  std::vector<Node> nodes_;
  std::vector<Level> path_;  // the first `depth_` are the root and the frames to the latest node
  std::size_t depth_ = 0;
  PagePacker packer_;
};

}  // namespace stackpack::spk
