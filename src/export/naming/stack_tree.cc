#include "export/naming/stack_tree.h"

#include <limits>

namespace stackpack::exporting {

namespace {

constexpr std::size_t kFirstTreeSlots = 1024;

std::size_t hash_of(std::uint32_t parent, std::uint32_t location) {
  std::uint64_t hash = (std::uint64_t{parent} << 32) | location;
  hash ^= hash >> 32;
  hash *= 0xD6E8'FEB8'6659'FD93ULL;
  hash ^= hash >> 32;
  hash *= 0xD6E8'FEB8'6659'FD93ULL;
  return static_cast<std::size_t>(hash ^ (hash >> 32));
}

}  // namespace

StackTree::StackTree() : nodes_(1), slots_(kFirstTreeSlots) {}

void StackTree::grow() {
  const std::size_t count = slots_.size() * 2;
  slots_.assign(count, 0);
  for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
    std::size_t slot = hash_of(nodes_[i].parent, nodes_[i].location) & (count - 1);
    while (slots_[slot] != 0) {
      slot = (slot + 1) & (count - 1);
    }
    slots_[slot] = i;
  }
}

Result<std::uint32_t> StackTree::child(std::uint32_t parent, std::uint32_t location) {
  std::size_t slot = hash_of(parent, location) & (slots_.size() - 1);
  while (slots_[slot] != 0) {
    const Node& node = nodes_[slots_[slot]];
    if (node.parent == parent && node.location == location) {
      return slots_[slot];
    }
    slot = (slot + 1) & (slots_.size() - 1);
  }
  if (nodes_.size() >= std::numeric_limits<std::int32_t>::max()) {
    return Error{ErrorCode::kLimit, kNoOffset, "export: too many nodes in the tree of callstacks"};
  }
  const auto fresh = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({parent, location});
  slots_[slot] = fresh;
  if (nodes_.size() * 4 >= slots_.size() * 3) {
    grow();
  }
  return fresh;
}

void StackTree::path_to_root(std::uint32_t node, std::vector<std::uint32_t>& path) const {
  path.clear();
  for (; node != kRoot; node = nodes_[node].parent) {
    path.push_back(nodes_[node].location);
  }
}

}  // namespace stackpack::exporting
