#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/index_table.h"
#include "stackpack/result.h"

namespace stackpack::query {

/// Callstacks of locations as a tree: node 0 is the root, every other node has a parent with a
/// lower number and a location. Two callstacks with the same locations end at the same node.
///
/// Most nodes are the only child of the one above, which knows it: the hash table has the others.
///
/// Memory: 12 bytes a node, and 8 to 16 for each that is not the first child of its parent.
class StackTree {
 public:
  static constexpr std::uint32_t kRoot = 0;

  /// The child of `parent` with that location, added when it is new.
  /// Errors: kLimit when there are no more numbers.
  Result<std::uint32_t> child(std::uint32_t parent, std::uint32_t location);

  [[nodiscard]] std::uint32_t parent(std::uint32_t node) const { return nodes_[node].parent; }
  [[nodiscard]] std::uint32_t location(std::uint32_t node) const { return nodes_[node].location; }
  /// Root included.
  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(nodes_.size());
  }

  /// The locations on the way from `node` to the root, leaf first, into `path` (replaced).
  void path_to_root(std::uint32_t node, std::vector<std::uint32_t>& path) const;

 private:
  struct Node {
    std::uint32_t parent = 0;
    std::uint32_t location = 0;
    std::uint32_t first_child = 0;  // 0: none
  };

  std::vector<Node> nodes_ = std::vector<Node>(1);
  core::IndexTable index_;  // of all nodes but the root and first children
};

}  // namespace stackpack::query
