#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "dag/builder.h"
#include "dag/stack_model.h"

namespace stackpack::dag {
namespace {

using test::DagModel;
using test::intern;
using test::RandomStacks;
using test::RootFirst;

struct Case {
  std::string name;
  RandomStacks stacks;
  std::size_t count;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> table = {
      {"one frame", {1, 1, 1, 0}, 3},
      {"few frames", {4, 6, 3, 5}, 500},
      {"255 and more frames and nodes", {300, 10, 5, 10}, 600},
      {"escapes only", {60, 10, 5, 100}, 800},
      {"more than 65,535 nodes", {70'000, 60, 9, 1}, 2800},
      {"thousands of brothers among as many nodes", {70'000, 6, 9, 1}, 50'000},
  };
  return table;
}

TEST_SUITE("dag freeze") {
  TEST_CASE("the frozen DAG is the sorted set of paths" * doctest::test_suite("slow")) {
    for (const Case& c : cases()) {
      CAPTURE(c.name);
      for (std::uint64_t seed = 11; seed <= 12; ++seed) {
        CAPTURE(seed);
        Builder builder({});
        DagModel model;
        for (const auto& [thread, stack] : c.stacks.make(seed, c.count)) {
          REQUIRE(intern(builder, stack, thread));
          model.add(stack);
        }
        const FrozenDag dag = builder.freeze().dag;
        CHECK(test::same_dag(dag, model.frozen()));
        CHECK(test::stacks_of(dag) ==
              std::vector<RootFirst>(model.stacks.begin(), model.stacks.end()));
      }
    }
  }

  TEST_CASE("stack_of_node leads from every leaf to its callstack and from no other node") {
    for (const Case& c : cases()) {
      CAPTURE(c.name);
      Builder builder({});
      std::vector<std::pair<NodeIndex, RootFirst>> leaves;
      for (const auto& [thread, stack] : c.stacks.make(13, c.count)) {
        leaves.emplace_back(*intern(builder, stack, thread), stack);
      }
      const std::uint32_t node_count = builder.node_count();
      const Builder::Frozen frozen = builder.freeze();
      REQUIRE(frozen.stack_of_node.size() == node_count);
      const std::vector<RootFirst> stacks = test::stacks_of(frozen.dag);
      REQUIRE(stacks.size() == frozen.dag.stack_count);
      std::vector<StackId> ids = frozen.stack_of_node;
      for (const auto& [leaf, stack] : leaves) {
        const StackId id = frozen.stack_of_node[static_cast<std::uint32_t>(leaf)];
        if (stack.empty()) {
          REQUIRE(id == kNoStack);
        } else {
          REQUIRE(stacks.at(id) == stack);
        }
      }
      std::sort(ids.begin(), ids.end());
      for (StackId id = 0; id < frozen.dag.stack_count; ++id) {
        REQUIRE(ids[id] == id);
      }
      CHECK(std::count(ids.begin(), ids.end(), kNoStack) == node_count - frozen.dag.stack_count);
    }
  }

  TEST_CASE("the order of arrival and the threads leave no trace") {
    for (const Case& c : cases()) {
      CAPTURE(c.name);
      std::vector<RandomStacks::Arrival> arrivals = c.stacks.make(17, c.count);
      Builder in_order({});
      for (const auto& [thread, stack] : arrivals) {
        REQUIRE(intern(in_order, stack, thread));
      }
      std::shuffle(arrivals.begin(), arrivals.end(), std::mt19937_64(18));
      Builder shuffled({});
      for (const auto& [thread, stack] : arrivals) {
        REQUIRE(intern(shuffled, stack, thread % 2));
      }
      CHECK(test::same_dag(in_order.freeze().dag, shuffled.freeze().dag));
    }
  }

  TEST_CASE("with a memory limit, which means one thread, it is the same") {
    for (const Case& c : cases()) {
      CAPTURE(c.name);
      Builder unlimited({});
      Builder limited({std::uint64_t{1} << 30});
      for (const auto& [thread, stack] : c.stacks.make(19, c.count)) {
        REQUIRE(intern(unlimited, stack, thread));
        REQUIRE(intern(limited, stack, thread));
      }
      const Builder::Frozen expected = unlimited.freeze();
      const Builder::Frozen frozen = limited.freeze();
      CHECK(test::same_dag(frozen.dag, expected.dag));
      CHECK(frozen.stack_of_node == expected.stack_of_node);
    }
  }
}

}  // namespace
}  // namespace stackpack::dag
