#include "query/naming/stack_tree.h"

#include <limits>

namespace stackpack::query {

namespace {

std::uint64_t hash_of_child(std::uint32_t parent, std::uint32_t location) {
  return core::mix_bits(std::uint64_t{parent} << 32 | location);
}

}  // namespace

Result<std::uint32_t> StackTree::child(std::uint32_t parent, std::uint32_t location) {
  const auto fresh = static_cast<std::uint32_t>(nodes_.size());
  if (fresh >= std::numeric_limits<std::int32_t>::max()) {
    return Error{ErrorCode::kLimit, kNoOffset, "export: too many nodes in the tree of callstacks"};
  }
  Node& above = nodes_[parent];
  if (above.first_child == 0) {
    above.first_child = fresh;
    nodes_.push_back({parent, location, 0});
    return fresh;
  }
  if (nodes_[above.first_child].location == location) {
    return above.first_child;
  }
  const std::uint32_t node = index_.find_or_insert(
      hash_of_child(parent, location), fresh,
      [&](std::uint32_t i) { return nodes_[i].parent == parent && nodes_[i].location == location; },
      [this](std::uint32_t i) { return hash_of_child(nodes_[i].parent, nodes_[i].location); });
  if (node == fresh) {
    nodes_.push_back({parent, location, 0});
  }
  return node;
}

void StackTree::path_to_root(std::uint32_t node, std::vector<std::uint32_t>& path) const {
  path.clear();
  for (; node != kRoot; node = nodes_[node].parent) {
    path.push_back(nodes_[node].location);
  }
}

}  // namespace stackpack::query
