#include "app/stack_tally.h"

#include <algorithm>

namespace stackpack::app {

void StackTally::learn_stacks(const dag::FrozenDag& dag) {
  distinct_frames_ = dag.dictionary.size();
  leaf_of_.reserve(dag.stack_count);
  depth_of_.reserve(dag.stack_count);
  for (std::size_t node = 0; node < dag.node_count(); ++node) {
    if (dag.ends(node)) {
      leaf_of_.push_back(dag.frame[node]);
      depth_of_.push_back(dag.depth[node]);
    }
  }
  recorded_.resize(leaf_of_.size());
}

void StackTally::add(const StoredSample& sample) {
  ++total_;
  ++by_origin_[static_cast<std::size_t>(sample.origin)];
  empty_chains_ += (sample.flags & kSampleEmptyChain) != 0 ? 1 : 0;
  const bool recorded = sample.origin == StackOrigin::kRecorded;
  stack_dump_only_ += !recorded && (sample.flags & kSampleStackDump) != 0 ? 1 : 0;
  ++samples_of_event_[sample.event];
  if (recorded) {
    raw_frames_ += depth_of_[sample.stack];
    recorded_[sample.stack] = true;
  }
}

void StackTally::report(Statistics& statistics) const {
  statistics.samples.total = total_;
  statistics.samples.none = by_origin_[static_cast<std::size_t>(StackOrigin::kNone)];
  statistics.samples.ip_only = by_origin_[static_cast<std::size_t>(StackOrigin::kIpOnly)];
  statistics.samples.recorded = by_origin_[static_cast<std::size_t>(StackOrigin::kRecorded)];
  statistics.samples.empty_chains = empty_chains_;
  statistics.samples.stack_dump_only = stack_dump_only_;

  auto& stacks = statistics.callstacks;
  stacks = {};
  stacks.raw_frames = raw_frames_;
  stacks.stored = leaf_of_.size();
  std::vector<bool> leaf_seen(distinct_frames_);
  for (std::size_t stack = 0; stack < leaf_of_.size(); ++stack) {
    if (!recorded_[stack]) {
      continue;
    }
    ++stacks.unique;
    stacks.unique_frames += depth_of_[stack];
    stacks.max_depth = std::max<std::uint64_t>(stacks.max_depth, depth_of_[stack]);
    if (!leaf_seen[leaf_of_[stack]]) {
      leaf_seen[leaf_of_[stack]] = true;
      ++stacks.unique_leaf_frames;
    }
  }
  for (std::size_t event = 0; event < statistics.events.size(); ++event) {
    statistics.events[event].samples = samples_of_event_[event];
  }
}

}  // namespace stackpack::app
