#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "query/naming/stack_tree.h"

namespace stackpack::query {

/// The way from the root of a tree to one node after another. Neighbours share most of it, and what
/// they share is not walked again.
///
/// The tree must outlive this; it may grow meanwhile.
class TreePath {
 public:
  explicit TreePath(const StackTree& tree) : tree_(tree) {}

  /// Goes on to a node. Result: how many nodes, from the root on, are those that they were.
  std::size_t go_to(std::uint32_t node) {
    fresh_.clear();
    // A parent has a lower number than its children: the two ways are compared from their ends.
    for (; node != StackTree::kRoot; node = tree_.parent(node)) {
      while (!nodes_.empty() && nodes_.back() > node) {
        nodes_.pop_back();
      }
      if (!nodes_.empty() && nodes_.back() == node) {
        break;
      }
      fresh_.push_back(node);
    }
    if (node == StackTree::kRoot) {
      nodes_.clear();
    }
    const std::size_t shared = nodes_.size();
    nodes_.insert(nodes_.end(), fresh_.rbegin(), fresh_.rend());
    return shared;
  }

  /// Root first, without the root itself. Valid until the next call.
  [[nodiscard]] std::span<const std::uint32_t> nodes() const { return nodes_; }

 private:
  const StackTree& tree_;
  std::vector<std::uint32_t> nodes_;
  std::vector<std::uint32_t> fresh_;  // leaf first
};

}  // namespace stackpack::query
