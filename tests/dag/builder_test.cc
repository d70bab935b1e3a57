#include "dag/builder.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "dag/node_map.h"
#include "dag/stack_model.h"

namespace stackpack::dag {
namespace {

using test::intern;
using test::OwnedStack;
using test::RandomStacks;
using test::RootFirst;

constexpr std::uint64_t kKernelHalf = 0xffff'8000'0000'0000;

std::uint32_t index(NodeIndex node) {
  return static_cast<std::uint32_t>(node);
}

RootFirst path_of(const Builder& builder, NodeIndex node) {
  RootFirst path;
  for (; node != kRoot; node = builder.parent(node)) {
    path.push_back(builder.frame(node));
  }
  return {path.rbegin(), path.rend()};
}

// Interns everything, some at a time, and says what each one got. Stops at an error.
std::vector<NodeIndex> intern_groups(Builder& builder,
                                     const std::vector<RandomStacks::Arrival>& arrivals,
                                     std::size_t at_once) {
  std::vector<OwnedStack> stacks;
  std::vector<Builder::Arrival> offered;
  stacks.reserve(arrivals.size());
  for (const auto& [thread, frames] : arrivals) {
    stacks.emplace_back(frames);
    offered.push_back({stacks.back().view(), thread});
  }
  std::vector<NodeIndex> nodes(offered.size());
  std::size_t done = 0;
  while (done < offered.size()) {
    const std::size_t count = std::min(at_once, offered.size() - done);
    const Result<std::size_t> interned = builder.intern_some(
        std::span(offered).subspan(done, count), std::span(nodes).subspan(done, count));
    if (!interned) {
      break;
    }
    REQUIRE(*interned > 0);
    REQUIRE(*interned <= count);
    done += *interned;
  }
  nodes.resize(done);
  return nodes;
}

// Interns everything and compares each answer with the model.
void compare_with_map(Builder& builder, const std::vector<RandomStacks::Arrival>& arrivals) {
  std::map<RootFirst, NodeIndex> nodes{{{}, kRoot}};
  std::uint64_t frames = 0;
  for (const auto& [thread, stack] : arrivals) {
    const Result<NodeIndex> leaf = intern(builder, stack, thread);
    REQUIRE(leaf);
    frames += stack.size();
    RootFirst prefix;
    for (const Frame& frame : stack) {
      prefix.push_back(frame);
      if (nodes.count(prefix) == 0) {
        nodes.emplace(prefix, static_cast<NodeIndex>(nodes.size()));  // nodes are made root first
      }
    }
    REQUIRE(*leaf == nodes.at(stack));
  }
  REQUIRE(builder.node_count() == nodes.size());
  for (const auto& [path, node] : nodes) {
    REQUIRE(path_of(builder, node) == path);
    REQUIRE((node == kRoot || index(builder.parent(node)) < index(node)));
  }
  CHECK(builder.counters().stacks == arrivals.size());
  CHECK(builder.counters().frames == frames);
  CHECK(builder.counters().prefix_frames <= frames);
  CHECK(builder.counters().probes >= builder.counters().lookups);
}

TEST_SUITE("dag builder") {
  TEST_CASE("nodes are those of a map from paths to nodes" * doctest::test_suite("slow")) {
    struct Case {
      std::string name;
      RandomStacks stacks;
      std::size_t count;
    };
    const std::vector<Case> cases = {
        {"few frames, everything shared", {4, 6, 3, 5}, 2000},
        {"many frames", {3000, 20, 7, 5}, 1500},
        {"every frame escapes", {300, 12, 5, 100}, 1500},
        {"deeper than an entry of the prefix cache", {50, 800, 3, 2}, 30},
        {"more threads than the prefix cache holds", {300, 4, 5000, 5}, 12'000},
    };
    for (const Case& c : cases) {
      CAPTURE(c.name);
      for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        CAPTURE(seed);
        Builder builder({});
        const std::vector<RandomStacks::Arrival> arrivals = c.stacks.make(seed, c.count);
        compare_with_map(builder, arrivals);

        std::vector<NodeIndex> expected;
        Builder alone({});
        for (const auto& [thread, stack] : arrivals) {
          expected.push_back(*intern(alone, stack, thread));
        }
        for (const std::size_t at_once : {2U, 7U, 300U}) {
          CAPTURE(at_once);
          Builder together({});
          REQUIRE(intern_groups(together, arrivals, at_once) == expected);
          CHECK(together.node_count() == alone.node_count());
          CHECK(together.counters().stacks == alone.counters().stacks);
          CHECK(together.counters().frames == alone.counters().frames);
          CHECK(together.counters().prefix_frames <= together.counters().frames);
        }
      }
    }
  }

  TEST_CASE("callstacks of one group see what those before them have added") {
    // All of one thread or all of different ones, growing or shrinking, each of them twice.
    for (const bool one_thread : {false, true}) {
      for (const bool growing : {false, true}) {
        CAPTURE(one_thread);
        CAPTURE(growing);
        std::vector<RandomStacks::Arrival> arrivals;
        for (std::uint64_t i = 0; i < 40; ++i) {
          RootFirst frames;
          for (std::uint64_t k = 0; k < (growing ? i / 2 + 1 : 20 - i / 2); ++k) {
            frames.push_back({FrameMode::kUser, 0x1000 + k});
          }
          arrivals.push_back({one_thread ? 1 : i, frames});
        }
        Builder builder({});
        const std::vector<NodeIndex> nodes = intern_groups(builder, arrivals, arrivals.size());
        REQUIRE(nodes.size() == arrivals.size());
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          CHECK(path_of(builder, nodes[i]) == arrivals[i].frames);
        }
        CHECK(builder.node_count() == 21);
        CHECK(builder.freeze().dag.stack_count == 20);
      }
    }
  }

  TEST_CASE("a group ends before a callstack that cannot be interned") {
    Builder builder({});
    const RootFirst deepest(kMaxDepth, {FrameMode::kUser, 0x400000});
    RootFirst too_deep = deepest;
    too_deep.push_back({FrameMode::kUser, 0x400000});
    const RootFirst small{{FrameMode::kUser, 0x500000}};
    const std::vector<NodeIndex> nodes =
        intern_groups(builder, {{1, small}, {1, {}}, {1, deepest}, {2, small}, {1, too_deep}}, 5);
    REQUIRE(nodes.size() == 4);
    CHECK(path_of(builder, nodes[0]) == small);
    CHECK(nodes[1] == kRoot);
    CHECK(path_of(builder, nodes[2]) == deepest);
    CHECK(nodes[3] == nodes[0]);
    CHECK(builder.counters().stacks == 4);
    CHECK(builder.counters().frames == kMaxDepth + 2);
  }

  TEST_CASE("a group that passes the memory limit keeps what came before") {
    const std::vector<RandomStacks::Arrival> arrivals =
        RandomStacks{200'000, 30, 20, 1}.make(3, 5000);
    const Builder::Options limited{std::uint64_t{6} << 19};
    Builder alone(limited);
    std::vector<NodeIndex> expected;
    for (const auto& [thread, stack] : arrivals) {
      const Result<NodeIndex> node = intern(alone, stack, thread);
      if (!node) {
        CHECK(node.error().code == ErrorCode::kLimit);
        break;
      }
      expected.push_back(*node);
    }
    REQUIRE(expected.size() < arrivals.size());
    Builder together(limited);
    CHECK(intern_groups(together, arrivals, 64) == expected);
    CHECK(together.memory_bytes() <= limited.memory_limit);
    CHECK(together.node_count() == alone.node_count());
  }

  TEST_CASE("a group that passes the limit among its escapes has nothing of what comes after") {
    const std::vector<RandomStacks::Arrival> arrivals =
        RandomStacks{200'000, 30, 20, 100}.make(5, 3000);
    for (const std::size_t at_once : {2U, 7U, 64U}) {
      CAPTURE(at_once);
      Builder builder({std::uint64_t{6} << 19});
      const std::vector<NodeIndex> nodes = intern_groups(builder, arrivals, at_once);
      REQUIRE(nodes.size() < arrivals.size());
      test::DagModel model;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        REQUIRE(path_of(builder, nodes[i]) == arrivals[i].frames);
        model.add(arrivals[i].frames);
      }
      CHECK(builder.node_count() == model.prefixes.size() + 1);
      CHECK(builder.counters().stacks == nodes.size());
    }
  }

  TEST_CASE("the map is counted each time it is filled anew, but for the first time") {
    Builder builder({});
    REQUIRE(intern(builder, {{FrameMode::kUser, 1}}));
    CHECK(builder.counters().rehashes == 0);
    for (std::uint64_t address = 1; address <= 200'000; ++address) {
      REQUIRE(intern(builder, {{FrameMode::kUser, address}}));
    }
    CHECK(builder.counters().rehashes > 1);
    CHECK(builder.counters().rehashes < 40);  // each makes the map larger by a part of itself
  }

  TEST_CASE("frames that differ in the mode alone are different") {
    Builder builder({});
    std::map<std::uint32_t, FrameMode> seen;
    for (unsigned mode = 0; mode < kFrameModeCount; ++mode) {
      for (const std::uint64_t address : {std::uint64_t{0x1234}, kKernelHalf | 0x1234}) {
        const Frame frame{static_cast<FrameMode>(mode), address};
        const Result<NodeIndex> node = intern(builder, {frame});
        REQUIRE(node);
        CHECK(builder.frame(*node) == frame);
        CHECK(seen.emplace(index(*node), frame.mode).second);
      }
    }
  }

  TEST_CASE("modes in the middle of a stack count in the comparison with the last one") {
    // Equal addresses, runs cut at other places: only the modes tell the stacks apart.
    Builder builder({});
    const auto stack = [](unsigned kernel_from) {
      RootFirst frames;
      for (unsigned i = 0; i < 24; ++i) {
        frames.push_back({i >= kernel_from ? FrameMode::kKernel : FrameMode::kUser, 0x1000U + i});
      }
      return frames;
    };
    std::map<std::uint32_t, unsigned> seen;
    for (unsigned cut = 0; cut <= 24; ++cut) {
      const Result<NodeIndex> node = intern(builder, stack(cut));
      REQUIRE(node);
      CHECK(path_of(builder, *node) == stack(cut));
      CHECK(seen.emplace(index(*node), cut).second);
    }
  }

  TEST_CASE("garbage that looks like another mode's word is not taken for it") {
    // 0x1 << 60 in the top nibble of a user address is where a mode would be.
    Builder builder({});
    const Result<NodeIndex> user = intern(builder, {{FrameMode::kUser, 0x500}});
    REQUIRE(user);
    for (std::uint64_t nibble = 1; nibble < 15; ++nibble) {
      for (unsigned mode = 0; mode < kFrameModeCount; ++mode) {
        const Frame garbage{static_cast<FrameMode>(mode), nibble << 60 | 0x500};
        const Result<NodeIndex> node = intern(builder, {garbage});
        REQUIRE(node);
        CHECK(*node != *user);
        CHECK(builder.frame(*node) == garbage);
      }
    }
  }

  TEST_CASE("no frame is taken for the root") {
    Builder builder({});
    REQUIRE(intern(builder, {{FrameMode::kUser, 1}}, 1));
    for (unsigned mode = 0; mode < kFrameModeCount; ++mode) {
      for (std::uint64_t nibble = 0; nibble < 16; ++nibble) {
        const Frame odd{static_cast<FrameMode>(mode), nibble << 60};
        const RootFirst twice{odd, {FrameMode::kUser, 1}};
        const Result<NodeIndex> node = intern(builder, twice, nibble);
        REQUIRE(node);
        CHECK(path_of(builder, *node) == twice);
      }
    }
  }

  TEST_CASE("paths of equal hash are told apart, above and below the frame where they differ") {
    std::map<PathHash, std::uint64_t> by_hash;
    unsigned collisions = 0;
    for (std::uint64_t address = 0x400000; address < 0x400000 + 400'000; ++address) {
      const FrameWord word = address ^ mode_key(FrameMode::kUser);
      const auto [other, fresh] = by_hash.emplace(extend_path(kRootHash, word), address);
      if (fresh) {
        continue;
      }
      ++collisions;
      Builder builder({});
      const Frame below{FrameMode::kKernel, kKernelHalf | 0x10};
      for (const std::uint64_t thread : {1U, 2U}) {
        for (const std::uint64_t root : {other->second, address}) {
          const RootFirst stack{{FrameMode::kUser, root}, below, below};
          const Result<NodeIndex> node = intern(builder, stack, thread);
          REQUIRE(node);
          CHECK(path_of(builder, *node) == stack);
        }
      }
      CHECK(builder.node_count() == 7);

      // The same in one group, after a callstack that gives both threads something to share.
      std::vector<RandomStacks::Arrival> arrivals;
      for (const std::uint64_t thread : {1U, 2U, 1U}) {
        for (const std::uint64_t root : {other->second, address}) {
          arrivals.push_back({thread, {{FrameMode::kUser, root}, below}});
          arrivals.push_back({thread, {{FrameMode::kUser, root}, below, below}});
        }
      }
      Builder together({});
      const std::vector<NodeIndex> nodes = intern_groups(together, arrivals, arrivals.size());
      REQUIRE(nodes.size() == arrivals.size());
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        CHECK(path_of(together, nodes[i]) == arrivals[i].frames);
      }
      CHECK(together.node_count() == 7);

      // Everything that is compared is equal: the difference is in what both threads share with
      // their callstacks before.
      for (std::size_t more = 1; more <= 20; ++more) {
        Builder sharing({});
        for (const std::uint64_t root : {other->second, address}) {
          RootFirst stack{{FrameMode::kUser, root}, below};
          CHECK(path_of(sharing, *intern(sharing, stack, root)) == stack);
          stack.resize(2 + more, {FrameMode::kKernel, kKernelHalf | 0x20});
          CHECK(path_of(sharing, *intern(sharing, stack, root)) == stack);
        }
      }
    }
    CHECK(collisions > 3);
  }

  TEST_CASE("deep callstacks of few different frames take steps in proportion to their frames") {
    // All of them agree above any place in two of them, but for the root: what looks like the node
    // of a path is seen not to be it at the very end.
    constexpr std::uint64_t kStacks = 16;
    constexpr std::uint64_t kDepth = 40'000;
    for (const std::size_t at_once : {std::size_t{1}, std::size_t{kStacks}}) {
      Builder builder({});
      std::vector<RandomStacks::Arrival> arrivals;
      for (std::uint64_t i = 0; i < kStacks; ++i) {
        RootFirst stack{{FrameMode::kUser, 0x1000 + i}};
        while (stack.size() < kDepth) {
          stack.push_back({FrameMode::kUser, 0x2000 + stack.size() % 2});
        }
        arrivals.push_back({i, stack});
      }
      const std::vector<NodeIndex> nodes = intern_groups(builder, arrivals, at_once);
      CHECK(builder.node_count() == kStacks * kDepth + 1);
      const BuilderCounters& counters = builder.counters();
      CHECK(counters.node_reads + counters.probes + counters.lookups < 16 * counters.frames);
      // Again, and the other way round: not one of them is new.
      std::reverse(arrivals.begin(), arrivals.end());
      std::vector<NodeIndex> again = intern_groups(builder, arrivals, at_once);
      std::reverse(again.begin(), again.end());
      CHECK(again == nodes);
      CHECK(builder.node_count() == kStacks * kDepth + 1);
      CHECK(path_of(builder, nodes.at(3)) == arrivals.at(kStacks - 4).frames);
    }
  }

  TEST_CASE("an empty stack is the root and adds nothing") {
    Builder builder({});
    const Result<NodeIndex> node = intern(builder, {});
    REQUIRE(node);
    CHECK(*node == kRoot);
    CHECK(builder.node_count() == 1);
    const Builder::Frozen frozen = builder.freeze();
    CHECK(frozen.dag.node_count() == 0);
    CHECK(frozen.dag.stack_count == 0);
    CHECK(frozen.stack_of_node == std::vector<StackId>{kNoStack});
  }

  TEST_CASE("an equal stack is found in the cache, also after a longer one") {
    Builder builder({});
    const RootFirst longer{{FrameMode::kUser, 1}, {FrameMode::kUser, 2}, {FrameMode::kKernel, 3}};
    const RootFirst shorter{longer.begin(), longer.end() - 1};
    const Result<NodeIndex> first = intern(builder, longer);
    const Result<NodeIndex> second = intern(builder, shorter);
    const Result<NodeIndex> third = intern(builder, longer);
    REQUIRE(first);
    REQUIRE(second);
    REQUIRE(third);
    CHECK(*first == *third);
    CHECK(*second == builder.parent(*first));
    CHECK(builder.counters().prefix_frames == 5);
    CHECK(builder.counters().lookups == 3);  // those of the first one
    CHECK(builder.freeze().dag.stack_count == 2);
  }

  TEST_CASE("depth up to the limit, and one more") {
    Builder builder({});
    RootFirst deep(kMaxDepth, {FrameMode::kUser, 0x400000});
    const Result<NodeIndex> node = intern(builder, deep);
    REQUIRE(node);
    CHECK(builder.node_count() == kMaxDepth + 1);
    CHECK(*intern(builder, deep, 2) == *node);

    deep.push_back({FrameMode::kUser, 0x400000});
    const Result<NodeIndex> refused = intern(builder, deep);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::kUnsupported);
    CHECK(builder.node_count() == kMaxDepth + 1);

    const FrozenDag dag = builder.freeze().dag;
    REQUIRE(dag.node_count() == kMaxDepth);
    CHECK(dag.depth.back() == kMaxDepth);
  }

  TEST_CASE("the memory limit holds at every step and refuses whole stacks") {
    struct Case {
      std::string name;
      std::uint64_t limit;
      RandomStacks stacks;
      std::size_t arrivals;
      std::uint64_t bytes_per_node;  // at most, after the fixed part of 2 MiB
    };
    const std::vector<Case> cases = {
        {"few distinct frames", std::uint64_t{6} << 19, {2000, 30, 20, 1}, 5000, 30},
        {"all frames distinct", std::uint64_t{6} << 19, {200'000, 30, 20, 0}, 5000, 48},
        {"all frames distinct, all escape",
         std::uint64_t{6} << 19,
         {200'000, 30, 20, 100},
         3000,
         64}};
    for (const Case& c : cases) {
      CAPTURE(c.name);
      Builder builder({c.limit});
      test::DagModel model;
      bool refused = false;
      for (const auto& [thread, stack] : c.stacks.make(7, c.arrivals)) {
        const std::uint32_t before = builder.node_count();
        const Result<NodeIndex> node = intern(builder, stack, thread);
        REQUIRE(builder.memory_bytes() <= c.limit);
        if (node) {
          model.add(stack);
          REQUIRE(path_of(builder, *node) == stack);
        } else {
          REQUIRE(node.error().code == ErrorCode::kLimit);
          REQUIRE(builder.node_count() == before);
          refused = true;
        }
      }
      CHECK(refused);
      // The limit was used, not merely kept.
      CHECK(builder.node_count() > (c.limit - (std::uint64_t{5} << 19)) / c.bytes_per_node);
      CHECK(test::same_dag(builder.freeze().dag, model.frozen()));
    }
  }

  TEST_CASE("after freeze the builder is empty and starts again") {
    Builder builder({});
    REQUIRE(intern(builder, {{FrameMode::kUser, 1}, {FrameMode::kUser, 2}}));
    (void)builder.freeze();
    CHECK(builder.node_count() == 1);
    const Result<NodeIndex> node = intern(builder, {{FrameMode::kUser, 2}});
    REQUIRE(node);
    CHECK(index(*node) == 1);
    CHECK(builder.counters().stacks == 2);  // counters go on
    CHECK(builder.freeze().dag.node_count() == 1);
  }
}

}  // namespace
}  // namespace stackpack::dag
