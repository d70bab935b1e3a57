#include "app/convert/stack_tally.h"

#include <algorithm>
#include <span>

namespace stackpack::app {

namespace {

using Word = std::uint64_t;
constexpr unsigned kWordBits = 64;

std::uint64_t word_offset(std::uint64_t number) {
  return number / kWordBits * sizeof(Word);
}

}  // namespace

Result<bool> StackTally::BitSet::contains(std::uint64_t number) {
  const Result<Word> word = pages_.get<Word>(word_offset(number));
  if (!word) {
    return word.error();
  }
  return ((*word >> (number % kWordBits)) & 1) != 0;
}

Result<bool> StackTally::BitSet::insert(std::uint64_t number) {
  const Result<Word> word = pages_.get<Word>(word_offset(number));
  if (!word) {
    return word.error();
  }
  const Word bit = Word{1} << (number % kWordBits);
  if ((*word & bit) != 0) {
    return false;
  }
  if (const Status set = pages_.set(word_offset(number), *word | bit); !set) {
    return set.error();
  }
  return true;
}

Status StackTally::add(const StoredSample& sample, std::uint32_t depth) {
  ++total_;
  ++by_origin_[static_cast<std::size_t>(sample.origin)];
  same_record_ += (sample.flags & kSampleSameRecord) != 0 ? 1 : 0;
  empty_chains_ += (sample.flags & kSampleEmptyChain) != 0 ? 1 : 0;
  const bool recorded = has_chain(sample.origin);
  stack_dump_only_ += !recorded && (sample.flags & kSampleStackDump) != 0 ? 1 : 0;
  ++samples_of_event_[sample.event];
  if (!recorded) {
    return {};
  }
  raw_frames_ += depth;
  const Result<bool> marked = recorded_.insert(sample.stack);
  return marked ? Status() : Status(marked.error());
}

Status StackTally::add(const StackCount& count) {
  total_ += count.samples;
  by_origin_[static_cast<std::size_t>(count.origin)] += count.samples;
  samples_of_event_[count.event] += count.samples;
  if (!has_chain(count.origin)) {
    return {};
  }
  const Result<bool> marked = recorded_.insert(count.stack);
  return marked ? Status() : Status(marked.error());
}

Status StackTally::report(const PackedStacks& stacks, Statistics& statistics) {
  statistics.samples.total = total_;
  statistics.samples.records = total_ - same_record_;
  statistics.samples.none = by_origin_[static_cast<std::size_t>(StackOrigin::kNone)];
  statistics.samples.ip_only = by_origin_[static_cast<std::size_t>(StackOrigin::kIpOnly)];
  statistics.samples.unwound = by_origin_[static_cast<std::size_t>(StackOrigin::kUnwound)];
  statistics.samples.recorded =
      by_origin_[static_cast<std::size_t>(StackOrigin::kRecorded)] + statistics.samples.unwound;
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
  return stacks.for_each_block([&](std::span<const spk::DagNode> nodes) -> Status {
    for (const spk::DagNode& node : nodes) {
      if (!node.ends_stack) {
        continue;
      }
      const Result<bool> recorded = recorded_.contains(counts.stored++);
      if (!recorded) {
        return recorded.error();
      }
      if (!*recorded) {
        continue;
      }
      ++counts.unique;
      counts.unique_frames += node.depth;
      counts.max_depth = std::max<std::uint64_t>(counts.max_depth, node.depth);
      const Result<bool> new_leaf = leaves_.insert(node.frame);
      if (!new_leaf) {
        return new_leaf.error();
      }
      counts.unique_leaf_frames += *new_leaf ? 1U : 0U;
    }
    return {};
  });
}

}  // namespace stackpack::app
