// Benchmark "segments": the same stream within memory limits. The merged DAG must be the one of the
// builder without a limit, node for node.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "benchmarks.h"
#include "dag/builder.h"
#include "dag/segment_merge.h"
#include "dag/segment_spill.h"
#include "stopwatch.h"

namespace stackpack::bench {
namespace {

struct Run {
  double intern_ns = 0;
  double spill_ns = 0;  // freeze and write
  double merge_ns = 0;
  double pass_ns = 0;  // one pass over the merged nodes
  std::uint64_t segment_nodes = 0;
  std::size_t segments = 0;
};

Status spill_segment(dag::Builder& builder, dag::SegmentSpill& spill, Run& run) {
  const Stopwatch watch;
  const dag::Builder::Frozen frozen = builder.freeze();
  run.segment_nodes += frozen.dag.node_count();
  const Status added = spill.add(frozen);
  run.spill_ns += watch.nanoseconds();
  return added;
}

Status intern_all(const StackStream& stream, dag::Builder& builder, dag::SegmentSpill& spill,
                  Run& run) {
  const Stopwatch watch;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    auto node = builder.intern(stream.stack(i), stream.entry(i).thread);
    if (!node) {
      if (const Status spilled = spill_segment(builder, spill, run); !spilled) {
        return spilled.error();
      }
      node = builder.intern(stream.stack(i), stream.entry(i).thread);
      if (!node) {
        return node.error();
      }
    }
  }
  run.intern_ns = watch.nanoseconds() - run.spill_ns;
  return spill_segment(builder, spill, run);
}

bool same_frames(const dag::SegmentMerge& merge, const dag::FrozenDag& whole) {
  bool same = merge.frame_count() == whole.dictionary.size();
  std::size_t at = 0;
  const Status visited = merge.for_each_frame_block([&](std::span<const Frame> frames) {
    for (const Frame& frame : frames) {
      same = same && frame == whole.dictionary[at++];
    }
    return Status();
  });
  return visited && same;
}

// Whether the merged nodes are those of `whole`.
bool same_nodes(const dag::SegmentMerge& merge, const dag::FrozenDag& whole) {
  bool same = same_frames(merge, whole) && merge.node_count() == whole.node_count() &&
              merge.stack_count() == whole.stack_count;
  std::size_t at = 0;
  const Status visited = merge.for_each_block([&](std::span<const dag::MergedNode> nodes) {
    for (const dag::MergedNode& node : nodes) {
      same = same && node == dag::MergedNode{whole.frame[at], whole.depth[at], whole.ends(at)};
      ++at;
    }
    return Status();
  });
  return visited && same;
}

bool run_with_limit(const StackStream& stream, std::uint64_t limit, const dag::FrozenDag& whole,
                    Run& run) {
  const std::string directory = std::filesystem::temp_directory_path().string();
  dag::SegmentSpill spill(directory);
  dag::Builder builder({limit});
  if (!intern_all(stream, builder, spill, run)) {
    return false;
  }
  run.segments = spill.segments().size();
  dag::SegmentMerge merge(spill, {directory});
  const Stopwatch merging;
  if (!merge.run()) {
    return false;
  }
  run.merge_ns = merging.nanoseconds();
  const Stopwatch passing;
  if (!merge.for_each_block([](std::span<const dag::MergedNode>) { return Status(); })) {
    return false;
  }
  run.pass_ns = passing.nanoseconds();
  return same_nodes(merge, whole);
}

}  // namespace

bool bench_segments(const Settings& settings) {
  const StackStream& stream = input_stream(settings);
  dag::Builder unlimited({});
  for (std::size_t i = 0; i < stream.size(); ++i) {
    if (!unlimited.intern(stream.stack(i), stream.entry(i).thread)) {
      return false;
    }
  }
  const dag::FrozenDag whole = unlimited.freeze().dag;
  const auto stacks = static_cast<double>(stream.size());
  std::printf("%8s %9s %12s %15s %15s %14s %13s\n", "limit", "segments", "segment nodes",
              "intern ns/stack", "spill ns/node", "merge ns/node", "pass ns/node");
  constexpr std::array<std::uint64_t, 4> kMebibytes = {8, 16, 64, 0};
  for (const std::uint64_t mebibytes : kMebibytes) {
    Run run;
    if (!run_with_limit(stream, mebibytes << 20, whole, run)) {
      return false;
    }
    const auto nodes = static_cast<double>(run.segment_nodes);
    std::printf("%4llu MiB %9zu %12.0f %15.1f %15.1f %14.1f %13.1f\n",
                static_cast<unsigned long long>(mebibytes), run.segments, nodes,
                run.intern_ns / stacks, run.spill_ns / nodes, run.merge_ns / nodes,
                run.pass_ns / static_cast<double>(whole.node_count()));
  }
  std::printf(
      "0 MiB: no limit; ns/node of the nodes of all segments, of the merged ones for the pass\n");
  return true;
}

}  // namespace stackpack::bench
