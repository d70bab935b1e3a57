#include "export/formats/packed_path.h"

#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "query/naming/stack_tree.h"
#include "query/naming/tree_path.h"
#include <protozero/pbf_writer.hpp>

using namespace stackpack;

namespace {

// Many nodes are children of the latest ones, as in the order of a file; some of any. Locations
// take up to five bytes.
query::StackTree random_tree(unsigned seed, std::uint32_t nodes) {
  std::mt19937 random(seed);
  query::StackTree tree;
  std::uint32_t at = query::StackTree::kRoot;
  while (tree.node_count() < nodes) {
    if (random() % 4 == 0) {
      at = static_cast<std::uint32_t>(random() % tree.node_count());
    }
    const auto child = tree.child(at, static_cast<std::uint32_t>(random() >> (random() % 32)));
    REQUIRE(child.has_value());
    at = *child;
  }
  return tree;
}

std::vector<std::uint32_t> order_of(std::uint32_t nodes, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> order;
  for (std::uint32_t node = 0; node < nodes; ++node) {  // as most are asked for
    order.push_back(node);
  }
  for (std::uint32_t i = 0; i < nodes; ++i) {
    order.push_back(static_cast<std::uint32_t>(random() % nodes));
  }
  return order;
}

std::string packed(std::vector<std::uint32_t> leaf_first) {
  std::string message;
  protozero::pbf_writer writer(message);
  std::vector<std::uint64_t> ids;
  for (const std::uint32_t location : leaf_first) {
    ids.push_back(std::uint64_t{location} + 1);
  }
  writer.add_packed_uint64(1, ids.begin(), ids.end());
  return message;
}

}  // namespace

TEST_CASE("packed path: from node to node it is what protobuf makes of the way to the root") {
  constexpr std::uint32_t kNodes = 2000;
  for (const unsigned seed : {1U, 2U, 3U}) {
    const query::StackTree tree = random_tree(seed, kNodes);
    exporting::PackedPath path(tree);
    for (const std::uint32_t node : order_of(kNodes, seed)) {
      std::vector<std::uint32_t> leaf_first;
      tree.path_to_root(node, leaf_first);
      const std::string_view ids = path.of(node);
      std::string message;
      if (!ids.empty()) {
        protozero::pbf_writer(message).add_bytes(1, ids.data(), ids.size());
      }
      REQUIRE(message == packed(leaf_first));
    }
  }
}

TEST_CASE("tree path: what is shared stays, and the whole is the way to the node") {
  constexpr std::uint32_t kNodes = 2000;
  const query::StackTree tree = random_tree(4, kNodes);
  query::TreePath path(tree);
  std::vector<std::uint32_t> before;
  std::size_t shared_in_all = 0;
  for (const std::uint32_t node : order_of(kNodes, 5)) {
    const std::size_t shared = path.go_to(node);
    const std::vector<std::uint32_t> now(path.nodes().begin(), path.nodes().end());
    std::vector<std::uint32_t> expected;
    for (std::uint32_t at = node; at != query::StackTree::kRoot; at = tree.parent(at)) {
      expected.insert(expected.begin(), at);
    }
    REQUIRE(now == expected);
    std::size_t alike = 0;
    while (alike < now.size() && alike < before.size() && now[alike] == before[alike]) {
      ++alike;
    }
    REQUIRE(shared == alike);
    shared_in_all += shared;
    before = now;
  }
  CHECK(shared_in_all > kNodes);
}
