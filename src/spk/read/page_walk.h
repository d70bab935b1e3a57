#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/layout.h"
#include "spk/format/page_path.h"
#include "spk/read/edge_table.h"
#include "spk/read/resident_page.h"

namespace stackpack::spk {

/// Follows the content of a page (page_path.h) node by node.
///
/// Every index of the content is checked before it is used. Keeps its scratch between pages.
/// Threads: one at a time.
class PageWalk {
 public:
  using Node = ResidentPage::Node;

  /// What the page index says about the page.
  struct Expected {
    std::uint64_t first_node = 0;
    std::uint64_t first_stack = 0;
    std::uint32_t nodes = 0;  ///< 1 .. kNodesPerPage
    std::uint32_t stacks = 0;
    std::uint64_t offset = 0;  ///< of the page in the file, for messages
  };

  /// Reads what stands before the nodes; false when it contradicts itself, the edge table or
  /// `expected`. `content` outlives the walk.
  bool begin(std::span<const std::byte> content, const EdgeTable& edges, const Expected& expected);

  /// Calls `visit(number, node)` for each node, which says whether to go on. False when a node
  /// contradicts itself or the edge table, or when bytes are left over after the last one.
  template <typename Visit>
  bool nodes(const EdgeTable& edges, Visit visit);

  // Dictionary indices:
  /// The frames above the first node, from the root on.
  [[nodiscard]] std::span<const std::uint32_t> spine() const { return spine_; }
  /// Nodes where "ends a callstack" and "has no child in the page" are the same; ascending.
  [[nodiscard]] std::span<const std::uint32_t> exceptions() const { return exceptions_; }

  /// Frames from the root to the last node; when `visit` ended the walk, to the node before the one
  /// that it was called with.
  [[nodiscard]] std::size_t depth() const { return depth_ - 1; }
  /// Frame number `level` < depth() of them, the root's child first.
  [[nodiscard]] std::uint32_t frame(std::size_t level) const { return path_[level + 1].frame; }

 private:
  struct Level : PathLevel {
    std::uint32_t node = 0;  // as Node::parent
  };
  bool read_head(const Expected& expected);
  bool read_codes();
  bool read_exceptions();
  bool read_rest(std::uint32_t escape, std::uint32_t& value);
  bool walk_spine(const EdgeTable& edges);

  bytes::ByteCursor in_{{}, 0};  // at the next rest, once begun
  std::uint32_t node_count_ = 0;
  std::uint32_t spine_length_ = 0;
  std::uint32_t exception_count_ = 0;
  std::span<const std::byte> spine_codes_;  // in the content, as are:
  std::span<const std::byte> codes_;
  std::vector<std::uint32_t> exceptions_;
  std::vector<std::uint32_t> spine_;
  std::vector<Level> path_;  // the first `depth_` are the root and the frames to the latest node
  std::size_t depth_ = 0;
};

template <typename Visit>
bool PageWalk::nodes(const EdgeTable& edges, Visit visit) {
  std::size_t depth = depth_;
  for (std::uint32_t i = 0; i < node_count_; ++i) {
    depth_ = depth;
    const auto code = std::to_integer<std::uint32_t>(codes_[i]);
    std::uint32_t pops = code / (kChildEscape + 1);
    std::uint32_t child = code % (kChildEscape + 1);
    if ((pops == kPopsEscape && !read_rest(kPopsEscape, pops)) ||
        (child == kChildEscape && !read_rest(kChildEscape, child))) {
      return false;
    }
    while (depth > 0 && (pops > 0 || !path_[depth - 1].can_have_child())) {
      pops -= path_[depth - 1].can_have_child() ? 1U : 0U;
      --depth;
    }
    if (depth == 0 || depth > kMaxStackDepth) {
      return false;
    }
    Level& parent = path_[depth - 1];
    if (child >= parent.row.size - parent.next) {
      return false;
    }
    const std::uint32_t position =
        parent.next == 0 ? edges.position(parent.row, child) : parent.next + child;
    const std::uint32_t frame = edges.child(parent.row, position);
    const bool top = static_cast<bool>((parent.next == 0) & (child == 0));
    if (!visit(i, Node{frame, parent.node, position, top})) {
      return true;
    }
    parent.next = position + 1;
    path_[depth++] = {{edges[frame], frame, 0}, i};
  }
  depth_ = depth;
  return in_.remaining() == 0;
}

}  // namespace stackpack::spk
