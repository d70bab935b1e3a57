#include "app/stack_tally.h"

#include <algorithm>
#include <span>

namespace stackpack::app {

namespace {

using Word = std::uint64_t;
constexpr unsigned kWordBits = 64;

std::uint64_t word_offset(std::uint64_t stack) {
  return stack / kWordBits * sizeof(Word);
}

}  // namespace

Status StackTally::mark_recorded(StackId stack) {
  const Result<Word> word = recorded_.get<Word>(word_offset(stack));
  if (!word) {
    return word.error();
  }
  const Word bit = Word{1} << (stack % kWordBits);
  return (*word & bit) != 0 ? Status() : recorded_.set(word_offset(stack), *word | bit);
}

Status StackTally::add(const StoredSample& sample, std::uint32_t depth) {
  ++total_;
  ++by_origin_[static_cast<std::size_t>(sample.origin)];
  empty_chains_ += (sample.flags & kSampleEmptyChain) != 0 ? 1 : 0;
  const bool recorded = sample.origin == StackOrigin::kRecorded;
  stack_dump_only_ += !recorded && (sample.flags & kSampleStackDump) != 0 ? 1 : 0;
  ++samples_of_event_[sample.event];
  if (!recorded) {
    return {};
  }
  raw_frames_ += depth;
  return mark_recorded(sample.stack);
}

Status StackTally::report(const PackedStacks& stacks, Statistics& statistics) {
  statistics.samples.total = total_;
  statistics.samples.none = by_origin_[static_cast<std::size_t>(StackOrigin::kNone)];
  statistics.samples.ip_only = by_origin_[static_cast<std::size_t>(StackOrigin::kIpOnly)];
  statistics.samples.recorded = by_origin_[static_cast<std::size_t>(StackOrigin::kRecorded)];
  statistics.samples.empty_chains = empty_chains_;
  statistics.samples.stack_dump_only = stack_dump_only_;
  for (std::size_t event = 0; event < statistics.events.size(); ++event) {
    statistics.events[event].samples = samples_of_event_[event];
  }
  return count_stacks(stacks, statistics);
}

Status StackTally::count_stacks(const PackedStacks& stacks, Statistics& statistics) {
  auto& counts = statistics.callstacks;
  counts = {};
  counts.raw_frames = raw_frames_;
  std::vector<bool> leaf_seen(stacks.dictionary().size());
  Word word = 0;
  return stacks.for_each_block([&](std::span<const spk::DagNode> nodes) -> Status {
    for (const spk::DagNode& node : nodes) {
      if (!node.ends_stack) {
        continue;
      }
      const std::uint64_t stack = counts.stored++;
      if (stack % kWordBits == 0) {
        const Result<Word> next = recorded_.get<Word>(word_offset(stack));
        if (!next) {
          return next.error();
        }
        word = *next;
      }
      if (((word >> (stack % kWordBits)) & 1) == 0) {
        continue;
      }
      ++counts.unique;
      counts.unique_frames += node.depth;
      counts.max_depth = std::max<std::uint64_t>(counts.max_depth, node.depth);
      counts.unique_leaf_frames += leaf_seen[node.frame] ? 0U : 1U;
      leaf_seen[node.frame] = true;
    }
    return {};
  });
}

}  // namespace stackpack::app
