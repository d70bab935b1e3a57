#include "dag/node_map.h"

#include <array>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "dag/prefix_cache.h"

namespace stackpack::dag {
namespace {

struct Tree {
  static constexpr std::uint32_t kMore = 2'000;  // that add() has room for

  NodeStore store;
  std::vector<PathHash> hashes;

  // `parent` and `word` of node 1, 2, ... are drawn with `seed`.
  Tree(std::uint32_t nodes, std::uint64_t seed) {
    REQUIRE(store.reserve(nodes + std::uint64_t{1} + kMore));
    store.append(kRootWord, 0);
    hashes.push_back(kRootHash);
    std::mt19937_64 random(seed);
    std::map<std::pair<std::uint32_t, FrameWord>, int> seen;
    while (store.size() <= nodes) {
      const auto parent = static_cast<std::uint32_t>(random() % store.size());
      const FrameWord word = random() % 16 * 16 + 0x400000;
      if (seen.emplace(std::make_pair(parent, word), 0).second) {
        add(parent, word);
      }
    }
  }

  void add(std::uint32_t parent, FrameWord word) {
    store.append(word, parent);
    hashes.push_back(extend_path(hashes[parent], word));
  }
};

/// A word whose share in a path's hash is that of every other one with the same `folded`.
FrameWord word_that_folds_to(std::uint32_t folded, std::uint32_t number) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;
  std::uint64_t inverse = 1;
  for (int i = 0; i < 64; ++i) {
    inverse *= 2 - kFactor * inverse;
  }
  return (std::uint64_t{number} << 32 | (number ^ folded)) * inverse;
}

/// Enters the nodes of `tree` one by one into a map that grows when it is full.
void check_growth(const Tree& tree, NodeMap::Growth growth) {
  NodeStore store;
  REQUIRE(store.reserve(tree.store.size()));
  store.append(kRootWord, 0);
  NodeMap map;
  REQUIRE(map.rebuild(NodeMap::next_capacity(0, 1, growth), store));
  std::uint64_t probes = 0;
  for (std::uint32_t node = 1; node < tree.store.size(); ++node) {
    if (node > NodeMap::node_limit_of(map.capacity())) {
      REQUIRE(map.rebuild(NodeMap::next_capacity(map.capacity(), node, growth), store));
      std::uint32_t found = 0;
      for (std::uint32_t known = 1; known < node; ++known) {
        const auto same = [&](std::uint32_t candidate) { return candidate == known; };
        found += map.find(tree.hashes[known], probes, same) == known ? 1U : 0U;
      }
      REQUIRE(found == node - 1);
    }
    store.append(tree.store.word(node), tree.store.parent(node));
    map.insert(tree.hashes[node], node);
  }
}

TEST_SUITE("dag node map") {
  TEST_CASE("every node is found at every size, and nothing else") {
    const Tree tree(3000, 5);
    NodeMap map;
    std::uint64_t capacity = 0;
    for (const std::uint64_t nodes : {800U, 900U, 1500U, 3000U}) {
      capacity = NodeMap::next_capacity(capacity, nodes, NodeMap::Growth::kTight);
      CHECK(NodeMap::node_limit_of(capacity) >= nodes);
    }
    REQUIRE(map.rebuild(capacity, tree.store));
    CHECK(map.memory_bytes() == 4 * map.capacity());
    std::uint64_t probes = 0;
    for (std::uint32_t node = 1; node < tree.store.size(); ++node) {
      const auto same = [&](std::uint32_t candidate) { return candidate == node; };
      REQUIRE(map.find(tree.hashes[node], probes, same) == node);
      REQUIRE(map.find(tree.hashes[node], probes, [](std::uint32_t) { return false; }) == 0);
    }
    CHECK(probes >= 2 * std::uint64_t{3000});
  }

  TEST_CASE("nodes entered one by one are found like those of a rebuild") {
    const Tree tree(700, 6);
    NodeStore root_only;
    REQUIRE(root_only.reserve(1));
    root_only.append(kRootWord, 0);
    NodeMap map;
    REQUIRE(map.rebuild(NodeMap::next_capacity(0, 700, NodeMap::Growth::kUsual), root_only));
    std::uint64_t probes = 0;
    for (std::uint32_t node = 1; node < tree.store.size(); ++node) {
      map.insert(tree.hashes[node], node);
      for (std::uint32_t known = 1; known <= node; known += 37) {
        const auto same = [&](std::uint32_t candidate) { return candidate == known; };
        REQUIRE(map.find(tree.hashes[known], probes, same) == known);
      }
    }
  }

  TEST_CASE("nodes of one hash are told apart by the verification alone") {
    NodeStore root_only;
    REQUIRE(root_only.reserve(1));
    root_only.append(kRootWord, 0);
    NodeMap map;
    REQUIRE(map.rebuild(NodeMap::next_capacity(0, 100, NodeMap::Growth::kUsual), root_only));
    const PathHash last_slot = ~PathHash{0};  // probing goes round the end
    for (std::uint32_t node = 1; node <= 100; ++node) {
      map.insert(last_slot, node);
    }
    std::uint64_t probes = 0;
    for (std::uint32_t node = 1; node <= 100; ++node) {
      const auto same = [&](std::uint32_t candidate) { return candidate == node; };
      REQUIRE(map.find(last_slot, probes, same) == node);
    }
    CHECK(probes == 5050 + 264);  // node i is the i-th candidate, after (i - 1) / 16 full buckets
  }

  TEST_CASE("a map that cannot grow stays as it is") {
    const Tree tree(700, 6);
    NodeMap map;
    REQUIRE(map.rebuild(NodeMap::next_capacity(0, 700, NodeMap::Growth::kUsual), tree.store));
    const std::uint64_t capacity = map.capacity();
    CHECK_FALSE(map.rebuild(std::uint64_t{1} << 60, tree.store));
    CHECK(map.capacity() == capacity);
    std::uint64_t probes = 0;
    for (std::uint32_t node = 1; node < tree.store.size(); ++node) {
      const auto same = [&](std::uint32_t candidate) { return candidate == node; };
      REQUIRE(map.find(tree.hashes[node], probes, same) == node);
    }
  }

  TEST_CASE("a map that grows step by step has every node after each step") {
    const Tree tree(40'000, 8);
    for (const NodeMap::Growth growth : {NodeMap::Growth::kUsual, NodeMap::Growth::kTight}) {
      check_growth(tree, growth);
    }
  }

  TEST_CASE("nodes of one hash are far from home and stay in a map that grows") {
    for (const std::uint32_t count : {90U, 700U}) {   // few: paths are hashed; many: all nodes are
      for (const std::uint32_t depth : {1U, 600U}) {  // a path too long to be hashed alone
        CAPTURE(count);
        CAPTURE(depth);
        Tree tree(2'000, 9);
        for (std::uint32_t i = 0; i < depth; ++i) {
          tree.add(tree.store.size() - 1, 0x500000);
        }
        const std::uint32_t parent = tree.store.size() - 1;
        for (std::uint32_t i = 1; i <= count; ++i) {
          tree.add(parent, word_that_folds_to(0x1234567, i));
          REQUIRE(tree.hashes.back() == tree.hashes[parent + 1]);
        }
        check_growth(tree, NodeMap::Growth::kTight);
      }
    }
  }

  TEST_CASE("a large map takes at most 5.5 bytes a node, 4.7 when memory is tight") {
    struct Case {
      const char* name;
      NodeMap::Growth growth;
      double most_bytes;
    };
    for (const Case& c : {Case{"usual", NodeMap::Growth::kUsual, 5.5},
                          Case{"tight", NodeMap::Growth::kTight, 4.7}}) {
      CAPTURE(c.name);
      std::uint64_t capacity = 0;
      for (std::uint64_t nodes = 1'500'000; nodes < NodeMap::kMostNodes; ++nodes) {
        capacity = NodeMap::next_capacity(capacity, nodes, c.growth);
        REQUIRE(NodeMap::node_limit_of(capacity) >= nodes);
        REQUIRE(static_cast<double>(NodeMap::bytes_of(capacity)) <=
                c.most_bytes * static_cast<double>(nodes));
        nodes = NodeMap::node_limit_of(capacity);  // the next node makes it grow
      }
      CHECK(NodeMap::node_limit_of(NodeMap::next_capacity(capacity, NodeMap::kMostNodes,
                                                          c.growth)) >= NodeMap::kMostNodes);
    }
  }

  TEST_CASE("slots of a bucket are compared under a mask") {
    alignas(64) std::array<std::uint32_t, kBucketSlots> slots{};
    for (std::uint32_t i = 0; i < kBucketSlots; ++i) {
      slots[i] = (i % 3) << 30 | i;
    }
    CHECK(equal_slots(slots.data(), 0, 0xc000'0000) == 0b1001'0010'0100'1001);
    CHECK(equal_slots(slots.data(), 0x8000'0000, 0xc000'0000) == 0b0100'1001'0010'0100);
    CHECK(equal_slots(slots.data(), 0x4000'0001, 0xffff'ffff) == 0b10);
    CHECK(equal_slots(slots.data(), 0, 0xffff'ffff) == 1);
  }
}

TEST_SUITE("dag prefix cache") {
  TEST_CASE("an entry keeps its frames next to the root while it grows") {
    PrefixCache cache(1 << 20);
    LastStack& first = cache.entry(9, 3);
    for (std::uint32_t k = 0; k < 3; ++k) {
      first.words[first.slot(k)] = 100 + k;
      first.nodes[first.slot(k)] = 200 + k;
      first.hashes[first.slot(k)] = 300 + k;
    }
    first.depth = 3;
    LastStack& again = cache.entry(9, 400);
    REQUIRE(again.depth == 3);
    REQUIRE(again.words.size() >= 400);
    for (std::uint32_t k = 0; k < 3; ++k) {
      CHECK(again.words[again.slot(k)] == 100 + k);
      CHECK(again.nodes[again.slot(k)] == 200 + k);
      CHECK(again.hashes[again.slot(k)] == 300 + k);
    }
  }

  TEST_CASE("a thread comes back to its entry, an unknown one to an empty entry") {
    PrefixCache cache(1 << 20);
    for (std::uint64_t thread = 0; thread < 300; ++thread) {
      cache.entry(thread, 1).depth = 1;
    }
    for (std::uint64_t thread = 0; thread < 300; ++thread) {
      CHECK(cache.entry(thread, 1).depth == 1);
    }
    CHECK(cache.entry(~std::uint64_t{0}, 1).depth == 0);
  }

  TEST_CASE("memory stays within its bound whatever the threads") {
    PrefixCache cache(std::uint64_t{256} << 10);
    std::mt19937_64 random(3);
    for (int i = 0; i < 20'000; ++i) {
      const auto depth = static_cast<std::uint32_t>(1 + random() % 600);
      LastStack& stack = cache.entry(random(), depth);
      REQUIRE(stack.words.size() >= depth);
      stack.depth = depth;
      REQUIRE(cache.memory_bytes() <= cache.most_bytes());
    }
    CHECK(cache.most_bytes() < std::uint64_t{2} << 20);
  }
}

}  // namespace
}  // namespace stackpack::dag
