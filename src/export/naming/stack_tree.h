#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::exporting {

/// Callstacks of locations as a tree: node 0 is the root, every other node has a parent with a
/// lower number and a location. Two callstacks with the same locations end at the same node.
///
/// Memory: 8 bytes a node and 4 a slot of the look-up table, which is at most three quarters full.
class StackTree {
 public:
  static constexpr std::uint32_t kRoot = 0;

  StackTree();

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
  };
  void grow();

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> slots_;  // node; 0: free, since the root is nobody's child
};

}  // namespace stackpack::exporting
