#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "dag/builder.h"
#include "dag/segment_merge.h"
#include "dag/segment_spill.h"
#include "dag/stack_model.h"

namespace stackpack::dag {
namespace {

using test::intern;
using test::RandomStacks;
using test::RootFirst;

std::string scratch() {
  return std::filesystem::temp_directory_path().string();
}

// The merged DAG as a whole, to compare it with that of one builder.
FrozenDag collect(const SegmentMerge& merge) {
  FrozenDag dag;
  REQUIRE(merge.for_each_frame_block([&](std::span<const Frame> frames) -> Status {
    dag.dictionary.insert(dag.dictionary.end(), frames.begin(), frames.end());
    return {};
  }));
  REQUIRE(dag.dictionary.size() == merge.frame_count());
  dag.stack_count = merge.stack_count();
  dag.ends_stack.resize((merge.node_count() + 63) / 64);
  const Status visited = merge.for_each_block([&](std::span<const MergedNode> nodes) -> Status {
    for (const MergedNode& node : nodes) {
      if (node.ends_stack) {
        dag.ends_stack[dag.frame.size() / 64] |= std::uint64_t{1} << (dag.frame.size() % 64);
      }
      dag.frame.push_back(node.frame);
      dag.depth.push_back(node.depth);
    }
    return {};
  });
  REQUIRE(visited);
  REQUIRE(dag.frame.size() == merge.node_count());
  return dag;
}

struct Interned {
  std::size_t segment;
  NodeIndex node;
  RootFirst stack;
};

// Interns the stacks in one builder and, cut into segments at random, in another one.
struct BothWays {
  Builder whole{{}};
  SegmentSpill spill{scratch()};
  std::vector<Interned> interned;

  BothWays(const std::vector<RandomStacks::Arrival>& arrivals, std::uint64_t seed,
           unsigned one_cut_in) {
    std::mt19937_64 random(seed);
    Builder part({});
    for (const auto& [thread, stack] : arrivals) {
      REQUIRE(intern(whole, stack, thread));
      const Result<NodeIndex> node = intern(part, stack, thread);
      REQUIRE(node);
      interned.push_back({spill.segments().size(), *node, stack});
      while (random() % one_cut_in == 0) {  // sometimes twice: an empty segment
        REQUIRE(spill.add(part.freeze()));
      }
    }
    REQUIRE(spill.add(part.freeze()));
  }
};

TEST_SUITE("dag segments") {
  TEST_CASE("segments merge into the DAG of one builder, and ids lead to the same stacks") {
    struct Case {
      std::string name;
      RandomStacks stacks;
      std::size_t count;
      unsigned one_cut_in;
    };
    const std::vector<Case> cases = {
        {"one segment", {50, 10, 4, 5}, 200, 1'000'000'000},
        {"a segment per stack or two", {10, 6, 3, 5}, 150, 2},
        {"few frames", {4, 6, 3, 5}, 500, 40},
        {"many frames, most not canonical", {2000, 15, 5, 80}, 600, 100},
        {"more frames than find room", {30'000, 8, 3, 5}, 6'000, 1'500},
        {"deep: more levels to leave than fit the first byte", {6, 120, 4, 5}, 300, 60},
    };
    for (const Case& c : cases) {
      CAPTURE(c.name);
      for (std::uint64_t seed = 21; seed <= 26; ++seed) {
        CAPTURE(seed);
        BothWays both(c.stacks.make(seed, c.count), seed, c.one_cut_in);
        SegmentMerge merge(both.spill, {scratch(), 0, 0});  // buffers as small as they get
        REQUIRE(merge.run());
        const FrozenDag merged = collect(merge);
        const FrozenDag whole = both.whole.freeze().dag;
        REQUIRE(test::same_dag(merged, whole));
        REQUIRE(test::same_dag(collect(merge), merged));  // a second pass gives the same

        const std::vector<RootFirst> stacks = test::stacks_of(merged);
        std::vector<std::vector<StackId>> of_node;
        for (std::size_t i = 0; i < both.spill.segments().size(); ++i) {
          of_node.emplace_back(both.spill.segments()[i].builder_node_count);
          REQUIRE(merge.stack_of_node(i, 0, of_node.back()));
        }
        for (const Interned& sample : both.interned) {
          const auto node = static_cast<std::uint32_t>(sample.node);
          const StackId id = of_node[sample.segment][node];
          if (sample.stack.empty()) {
            REQUIRE(id == kNoStack);
          } else {
            REQUIRE(stacks.at(id) == sample.stack);
          }
          StackId alone = 0;
          REQUIRE(merge.stack_of_node(sample.segment, node, std::span(&alone, 1)));
          REQUIRE(alone == id);
        }
      }
    }
  }

  TEST_CASE("the new ids of a segment's stacks ascend, and are those of its stacks") {
    const RandomStacks random{5000, 6, 3, 5};
    SegmentSpill spill(scratch());
    std::vector<std::vector<RootFirst>> stacks;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      Builder builder({});
      for (const auto& [thread, stack] : random.make(seed, 4000)) {  // more than a chunk of ids
        REQUIRE(intern(builder, stack, thread));
      }
      const Builder::Frozen frozen = builder.freeze();
      stacks.push_back(test::stacks_of(frozen.dag));
      REQUIRE(spill.add(frozen));
    }
    SegmentMerge merge(spill, {scratch()});
    REQUIRE(merge.run());
    const std::vector<RootFirst> merged = test::stacks_of(collect(merge));
    for (std::size_t segment = 0; segment < stacks.size(); ++segment) {
      CAPTURE(segment);
      std::vector<StackId> ids(stacks[segment].size());
      REQUIRE(ids.size() > 2048);
      REQUIRE(merge.stack_ids(segment, 0, ids));
      for (std::size_t i = 0; i < ids.size(); ++i) {
        REQUIRE(merged.at(ids[i]) == stacks[segment][i]);
        REQUIRE((i == 0 || ids[i - 1] < ids[i]));
      }
      std::vector<StackId> middle(7);
      REQUIRE(merge.stack_ids(segment, 1020, middle));
      CHECK(middle == std::vector<StackId>(ids.begin() + 1020, ids.begin() + 1027));
    }
  }

  TEST_CASE("a builder at its memory limit goes on in the next segment") {
    const RandomStacks random{3000, 30, 10, 2};
    constexpr std::uint64_t kLimit = std::uint64_t{5} << 19;
    Builder whole({});
    Builder limited({kLimit});
    SegmentSpill spill(scratch());
    for (const auto& [thread, stack] : random.make(31, 9000)) {
      REQUIRE(intern(whole, stack, thread));
      Result<NodeIndex> node = intern(limited, stack, thread);
      if (!node) {
        REQUIRE(node.error().code == ErrorCode::kLimit);
        REQUIRE(spill.add(limited.freeze()));
        node = intern(limited, stack, thread);
      }
      REQUIRE(node);
      REQUIRE(limited.memory_bytes() <= kLimit);
    }
    REQUIRE(spill.add(limited.freeze()));
    CHECK(spill.segments().size() > 2);
    SegmentMerge merge(spill, {scratch()});
    REQUIRE(merge.run());
    CHECK(test::same_dag(collect(merge), whole.freeze().dag));
  }

  TEST_CASE("no segment and empty segments give an empty DAG") {
    for (unsigned segments = 0; segments < 3; ++segments) {
      CAPTURE(segments);
      SegmentSpill spill(scratch());
      for (unsigned i = 0; i < segments; ++i) {
        Builder builder({});
        REQUIRE(spill.add(builder.freeze()));
      }
      SegmentMerge merge(spill, {scratch()});
      REQUIRE(merge.run());
      CHECK(merge.node_count() == 0);
      CHECK(merge.stack_count() == 0);
      CHECK(collect(merge).node_count() == 0);
      if (segments > 0) {
        StackId root = 0;
        REQUIRE(merge.stack_of_node(0, 0, std::span(&root, 1)));
        CHECK(root == kNoStack);
      }
    }
  }

  TEST_CASE("an error of the visitor ends the pass and is passed on") {
    BothWays both(RandomStacks{}.make(3, 50), 3, 10);
    SegmentMerge merge(both.spill, {scratch()});
    REQUIRE(merge.run());
    const Status visited = merge.for_each_block([](std::span<const MergedNode>) -> Status {
      return Error{ErrorCode::kCancelled, kNoOffset, "stop"};
    });
    REQUIRE_FALSE(visited);
    CHECK(visited.error().code == ErrorCode::kCancelled);
  }

  TEST_CASE("a directory that cannot be written is an error") {
    Builder builder({});
    REQUIRE(intern(builder, {{FrameMode::kUser, 1}}));
    SegmentSpill spill("/nonexistent/directory");
    const Status added = spill.add(builder.freeze());
    REQUIRE_FALSE(added);
    CHECK(added.error().code == ErrorCode::kIo);
  }
}

}  // namespace
}  // namespace stackpack::dag
