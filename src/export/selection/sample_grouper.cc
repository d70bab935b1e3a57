#include "export/selection/sample_grouper.h"

#include <algorithm>
#include <limits>

namespace stackpack::exporting {

namespace {

std::uint64_t hash_of(const GroupKey& key) {
  std::uint64_t hash = (std::uint64_t{key.stack} << 32) | key.context;
  hash ^= ((std::uint64_t{key.track} << 32) | key.event) * 0x9E37'79B9'7F4A'7C15ULL;
  hash ^= hash >> 32;
  hash *= 0xD6E8'FEB8'6659'FD93ULL;
  hash ^= hash >> 32;
  hash *= 0xD6E8'FEB8'6659'FD93ULL;
  return hash ^ (hash >> 32);
}

void add_saturating(std::uint64_t& sum, std::uint64_t value) {
  sum = sum + value < sum ? std::numeric_limits<std::uint64_t>::max() : sum + value;
}

}  // namespace

SampleGrouper::SampleGrouper(SampleSelection& selection, GroupBy by, std::size_t limit)
    : selection_(selection), by_(by), limit_(std::max<std::size_t>(limit, 2)) {}

GroupKey SampleGrouper::key_of(const SelectedSample& sample) const {
  return {by_.event ? sample.event : 0, sample.stack, by_.context ? sample.context : 0,
          by_.track ? sample.track : 0};
}

void SampleGrouper::index_groups() {
  const auto hash_of_group = [this](std::uint32_t i) { return hash_of(groups_[i].key); };
  index_.clear();
  for (std::uint32_t i = 0; i < groups_.size(); ++i) {
    index_.insert(hash_of_group(i), i, hash_of_group);
  }
}

std::optional<std::size_t> SampleGrouper::find(const SelectedSample& sample) const {
  const GroupKey key = key_of(sample);
  const std::uint32_t group =
      index_.find(hash_of(key), [&](std::uint32_t i) { return groups_[i].key == key; });
  return group == core::IndexTable::kNone ? std::nullopt : std::optional<std::size_t>(group);
}

void SampleGrouper::throw_out_upper_half() {
  const auto middle = groups_.begin() + static_cast<std::ptrdiff_t>(groups_.size() / 2);
  std::nth_element(groups_.begin(), middle, groups_.end(),
                   [](const Group& a, const Group& b) { return a.key < b.key; });
  end_ = middle->key;
  has_end_ = true;
  groups_.erase(middle, groups_.end());
  index_groups();
}

void SampleGrouper::add(const SelectedSample& sample) {
  const GroupKey key = key_of(sample);
  const std::uint32_t number = index_.find_or_insert(
      hash_of(key), static_cast<std::uint32_t>(groups_.size()),
      [&](std::uint32_t i) { return groups_[i].key == key; },
      [this](std::uint32_t i) { return hash_of(groups_[i].key); });
  if (number == groups_.size()) {
    groups_.push_back({key});
  }
  Group& group = groups_[number];
  add_saturating(group.count, sample.count);
  add_saturating(group.weight, sample.weight);
  if (groups_.size() > limit_) {
    throw_out_upper_half();
  }
}

Status SampleGrouper::collect(const GroupKey& from) {
  groups_.clear();
  index_.clear();
  has_end_ = false;
  ++passes_;
  return selection_.for_each([&](std::span<const SelectedSample> block) {
    for (const SelectedSample& sample : block) {
      const GroupKey key = key_of(sample);
      if (key >= from && (!has_end_ || key < end_)) {
        add(sample);
      }
    }
    return Status{};
  });
}

Status SampleGrouper::for_each(const std::function<Status(std::span<const Group>)>& visit) {
  GroupKey from{0, 0, 0, 0};
  passes_ = 0;
  do {
    if (const Status status = collect(from); !status) {
      return status;
    }
    std::sort(groups_.begin(), groups_.end(),
              [](const Group& a, const Group& b) { return a.key < b.key; });
    index_groups();
    if (const Status status = visit(groups_); !status) {
      return status;
    }
    from = end_;
  } while (has_end_);
  return {};
}

}  // namespace stackpack::exporting
