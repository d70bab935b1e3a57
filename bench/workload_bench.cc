// Benchmarks "workload" (what the input is like) and "freeze".
#include <algorithm>
#include <cstdio>
#include <vector>

#include "benchmarks.h"
#include "dag/builder.h"
#include "stopwatch.h"

namespace stackpack::bench {
namespace {

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

struct Built {
  dag::Builder builder{{}};
  std::vector<std::uint32_t> nodes;
};

bool build(const StackStream& stream, Built& built) {
  built.nodes.resize(stream.size());
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const auto node = built.builder.intern(stream.stack(i), stream.entry(i).thread);
    if (!node) {
      return false;
    }
    built.nodes[i] = static_cast<std::uint32_t>(*node);
  }
  return true;
}

// Every callstack of the stream is the one that its id stands for.
bool same_stacks(const StackStream& stream, const Built& built,
                 const dag::Builder::Frozen& frozen) {
  const dag::FrozenDag& dag = frozen.dag;
  std::vector<Frame> path;
  std::vector<std::vector<Frame>> by_id;
  for (std::size_t i = 0; i < dag.node_count(); ++i) {
    path.resize(dag.depth[i] - std::size_t{1});
    path.push_back(dag.dictionary[dag.frame[i]]);
    if (dag.ends(i)) {
      by_id.push_back(path);
    }
  }
  for (std::size_t i = 0; i < stream.size(); i += 97) {
    const std::vector<Frame>& stored = by_id.at(frozen.stack_of_node[built.nodes[i]]);
    const capture::StackView stack = stream.stack(i);
    const bool same =
        std::equal(stored.rbegin(), stored.rend(), stack.addresses.begin(), stack.addresses.end(),
                   [](const Frame& f, std::uint64_t a) { return f.address == a; });
    if (!same) {
      return false;
    }
  }
  return std::is_sorted(by_id.begin(), by_id.end());
}

}  // namespace

bool bench_workload(const Settings& settings) {
  const StackStream& stream = input_stream(settings);
  Built built;
  if (!build(stream, built)) {
    return false;
  }
  const dag::BuilderCounters counters = built.builder.counters();
  const dag::Builder::Frozen frozen = built.builder.freeze();
  const dag::FrozenDag& dag = frozen.dag;
  if (!same_stacks(stream, built, frozen)) {
    return false;
  }

  std::uint64_t unique_frames = 0;
  std::uint64_t branches = 0;  // nodes that do not continue the one before them
  for (std::size_t i = 0; i < dag.node_count(); ++i) {
    unique_frames += dag.ends(i) ? dag.depth[i] : 0U;
    branches += i > 0 && dag.depth[i] != dag.depth[i - 1] + 1 ? 1U : 0U;
  }
  const auto stacks = static_cast<double>(stream.size());
  const auto nodes = static_cast<double>(dag.node_count());
  const double unique = dag.stack_count;
  const auto frames = static_cast<double>(counters.frames);
  std::printf("stacks                 %12.0f   mean depth %6.2f\n", stacks, frames / stacks);
  std::printf("unique stacks          %12.0f   mean depth %6.2f   %5.2f %% of stacks\n", unique,
              static_cast<double>(unique_frames) / unique, percent(unique, stacks));
  std::printf("nodes                  %12.0f   per unique stack %5.2f\n", nodes, nodes / unique);
  std::printf("distinct frames        %12zu   %5.2f %% of nodes\n", dag.dictionary.size(),
              percent(static_cast<double>(dag.dictionary.size()), nodes));
  std::printf("branching nodes        %12.2f %% (canonical order)\n",
              percent(static_cast<double>(branches), nodes));
  std::printf("frames in prefix cache %12.2f %%\n",
              percent(static_cast<double>(counters.prefix_frames), frames));
  std::printf("look-ups per stack     %12.3f   probes %.3f   node reads %.3f   rehashes %llu\n",
              static_cast<double>(counters.lookups) / stacks,
              static_cast<double>(counters.probes) / stacks,
              static_cast<double>(counters.node_reads) / stacks,
              static_cast<unsigned long long>(counters.rehashes));
  return true;
}

bool bench_freeze(const Settings& settings) {
  const StackStream& stream = input_stream(settings);
  Times freezing;
  Times remapping;
  double nodes = 0;
  for (unsigned round = 0; round < settings.repeat; ++round) {
    Built built;
    if (!build(stream, built)) {
      return false;
    }
    const Stopwatch watch;
    const dag::Builder::Frozen frozen = built.builder.freeze();
    freezing.add(watch.nanoseconds());
    nodes = static_cast<double>(frozen.dag.node_count());
    if (round == 0 && !same_stacks(stream, built, frozen)) {
      return false;
    }
    const Stopwatch remap;
    for (std::uint32_t& node : built.nodes) {
      node = frozen.stack_of_node[node];
    }
    remapping.add(remap.nanoseconds());
  }
  std::printf("freeze %.1f ns/node (median %.1f), remap %.2f ns/stack\n", freezing.least() / nodes,
              freezing.median() / nodes, remapping.least() / static_cast<double>(stream.size()));
  return true;
}

}  // namespace stackpack::bench
