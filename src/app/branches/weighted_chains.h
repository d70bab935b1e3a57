// Orders of code by how often one piece of it follows another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stackpack::app {

struct WeightedEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t weight = 0;
};

/// A block, or a function.
struct ClusterItem {
  std::uint64_t runs = 0;
  std::uint64_t bytes = 0;
};

/// Blocks of a function, by numbers of `items`: chains of the heaviest edges, that of `entry`
/// first, which it begins with, then those with most runs a byte. Time: n log n.
std::vector<std::uint32_t> chain_blocks(std::span<const ClusterItem> items,
                                        std::vector<WeightedEdge> edges, std::uint32_t entry);

/// Functions, by numbers of `items`: each one after the cluster of its heaviest caller, as long as
/// that has at most `most_bytes` and does not become much colder; clusters with most runs a byte
/// first. Time: n log n.
std::vector<std::uint32_t> cluster_calls(std::span<const ClusterItem> items,
                                         std::vector<WeightedEdge> calls, std::uint64_t most_bytes);

}  // namespace stackpack::app
