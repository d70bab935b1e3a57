#include "query/selection/sample_grouper.h"

#include <algorithm>

#include "core/saturating.h"
#include "core/task_line.h"

namespace stackpack::query {

namespace {

// How far ahead of the samples that are counted their groups are fetched: where the number of the
// group stands, and behind it the group.
constexpr std::size_t kNumbersAhead = 32;
constexpr std::size_t kGroupsAhead = 16;

// A second thread is not worth its start for fewer.
constexpr std::size_t kGroupsForTwo = 65'536;

std::uint64_t hash_of(const GroupKey& key) {
  std::uint64_t hash = (std::uint64_t{key.stack} << 32) | key.context;
  hash ^= ((std::uint64_t{key.track} << 32) | key.event) * 0x9E37'79B9'7F4A'7C15ULL;
  hash ^= hash >> 32;
  hash *= 0xD6E8'FEB8'6659'FD93ULL;
  hash ^= hash >> 32;
  hash *= 0xD6E8'FEB8'6659'FD93ULL;
  return hash ^ (hash >> 32);
}

}  // namespace

SampleGrouper::SampleGrouper(SampleSelection& selection, GroupBy by, std::size_t limit)
    : selection_(selection),
      by_(by),
      limit_(std::max<std::size_t>(limit, 2)),
      runs_(limit_ * kBytesPerGroup / 2) {
  if (by.stack && selection.view().stack_count <= limit_) {
    latest_.resize(selection.view().stack_count);
  }
}

GroupKey SampleGrouper::key_of(const SelectedSample& sample) const {
  return {by_.event ? selection_.choice().joined(sample.event) : 0,
          by_.stack ? sample.stack : kNoStack, by_.context ? sample.context : 0,
          by_.track ? sample.track : 0};
}

GroupKey SampleGrouper::key_of(const SummedSample& sample) const {
  return {by_.event ? sample.event : 0, by_.stack ? sample.stack : kNoStack,
          by_.context ? sample.context : 0, by_.track ? sample.track : 0};
}

// The groups, not where they end.
void SampleGrouper::forget_numbers() {
  index_.clear();
  std::fill(latest_.begin(), latest_.end(), core::IndexTable::kNone);
}

void SampleGrouper::index_groups() {
  const auto hash_of_group = [this](std::uint32_t i) { return hash_of(groups_[i].key); };
  forget_numbers();
  for (std::uint32_t i = 0; i < groups_.size(); ++i) {
    index_.insert(hash_of_group(i), i, hash_of_group);
  }
}

std::optional<std::size_t> SampleGrouper::find(const SelectedSample& sample) {
  if (!indexed_) {
    index_groups();
    indexed_ = true;
  }
  const GroupKey key = key_of(sample);
  const std::uint32_t group =
      index_.find(hash_of(key), [&](std::uint32_t i) { return groups_[i].key == key; });
  return group == core::IndexTable::kNone ? std::nullopt : std::optional<std::size_t>(group);
}

// Keys are distinct: halves that two threads sort are what one thread makes of them all.
void SampleGrouper::sort_groups() {
  const auto before = [](const Group& a, const Group& b) { return a.key < b.key; };
  if (groups_.size() < kGroupsForTwo) {
    std::sort(groups_.begin(), groups_.end(), before);
    return;
  }
  const auto middle = groups_.begin() + static_cast<std::ptrdiff_t>(groups_.size() / 2);
  std::nth_element(groups_.begin(), middle, groups_.end(), before);
  core::TaskLine::Task upper;
  core::TaskLine line(1, [&](unsigned, core::TaskLine::Task&) {
    std::sort(middle, groups_.end(), before);
    return Status();
  });
  line.submit(upper);
  std::sort(groups_.begin(), middle, before);
  (void)line.collect(upper, core::TaskLine::IfNotBegun::kRunHere);  // sorting does not fail
}

void SampleGrouper::pack_groups() {
  sort_groups();
  if (const auto end = runs_.add(groups_)) {
    end_ = *end;
    has_end_ = true;
  }
  groups_.clear();
  forget_numbers();
}

void SampleGrouper::add(const GroupKey& key, const SummedSample& sample) {
  const bool has_latest = key.stack < latest_.size();
  std::uint32_t number = has_latest ? latest_[key.stack] : core::IndexTable::kNone;
  if (number == core::IndexTable::kNone || groups_[number].key != key) {
    number = index_.find_or_insert(
        hash_of(key), static_cast<std::uint32_t>(groups_.size()),
        [&](std::uint32_t i) { return groups_[i].key == key; },
        [this](std::uint32_t i) { return hash_of(groups_[i].key); });
    if (number == groups_.size()) {
      groups_.push_back({key});
    }
    if (has_latest) {
      latest_[key.stack] = number;
    }
  }
  Group& group = groups_[number];
  core::add_saturating(group.count, sample.count);
  core::add_saturating(group.weight, sample.weight);
  if (groups_.size() == limit_) {
    pack_groups();
  }
}

// Of many callstacks, what add() looks at lies beyond the caches.
void SampleGrouper::prefetch(std::span<const SummedSample> block, std::size_t at) const {
  const StackId far = block[std::min(at + kNumbersAhead, block.size() - 1)].stack;
  const StackId near = block[std::min(at + kGroupsAhead, block.size() - 1)].stack;
  if (far < latest_.size()) {
    __builtin_prefetch(&latest_[far]);
  }
  // Where threads are apart, the latest group of a callstack is seldom the one.
  if (by_.track) {
    index_.prefetch(hash_of(key_of(block[std::min(at + kNumbersAhead, block.size() - 1)])));
  }
  const std::uint32_t likely =
      by_.track
          ? index_.first_for(hash_of(key_of(block[std::min(at + kGroupsAhead, block.size() - 1)])))
      : near < latest_.size() ? latest_[near]
                              : core::IndexTable::kNone;
  if (likely != core::IndexTable::kNone) {
    __builtin_prefetch(&groups_[likely], 1);
  }
}

Status SampleGrouper::collect(const GroupKey& from) {
  groups_.clear();
  forget_numbers();
  runs_.clear();
  has_end_ = false;
  ++passes_;
  // In time order, so that contexts and tracks have the numbers that any other pass gives them.
  const SummedFields fields{.weight = by_.weight,
                            .stack = by_.stack,
                            .track = by_.track || by_.numbers_tracks,
                            .by_time = true,
                            .merged = true};
  return selection_.for_each_summed(fields, [&](std::span<const SummedSample> block) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      prefetch(block, i);
      const GroupKey key = key_of(block[i]);
      if (key >= from && (!has_end_ || key < end_)) {
        add(key, block[i]);
      }
    }
    return Status{};
  });
}

// What a pass has collected.
Status SampleGrouper::hand_out(const std::function<Status(std::span<const Group>)>& visit) {
  indexed_ = false;
  if (runs_.empty()) {
    sort_groups();
    return visit(groups_);
  }
  if (!groups_.empty()) {
    pack_groups();
  }
  while (runs_.take(limit_, groups_)) {
    indexed_ = false;
    if (const Status status = visit(groups_); !status) {
      return status;
    }
  }
  return {};
}

Status SampleGrouper::for_each(const std::function<Status(std::span<const Group>)>& visit) {
  GroupKey from{0, 0, 0, 0};
  passes_ = 0;
  do {
    if (const Status status = collect(from); !status) {
      return status;
    }
    if (const Status status = hand_out(visit); !status) {
      return status;
    }
    from = end_;
  } while (has_end_);
  return {};
}

}  // namespace stackpack::query
