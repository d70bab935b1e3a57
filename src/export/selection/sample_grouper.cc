#include "export/selection/sample_grouper.h"

#include <algorithm>
#include <limits>

namespace stackpack::exporting {

namespace {

constexpr std::size_t kFirstGroupSlots = 1024;

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

void SampleGrouper::index_groups(std::size_t slot_count) {
  slots_.assign(slot_count, 0);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    std::size_t slot = hash_of(groups_[i].key) & (slot_count - 1);
    while (slots_[slot] != 0) {
      slot = (slot + 1) & (slot_count - 1);
    }
    slots_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

// The slot which has the key, or the free one where it would go.
std::size_t SampleGrouper::slot_of(const GroupKey& key) const {
  std::size_t slot = hash_of(key) & (slots_.size() - 1);
  while (slots_[slot] != 0 && groups_[slots_[slot] - 1].key != key) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

std::optional<std::size_t> SampleGrouper::find(const SelectedSample& sample) const {
  if (slots_.empty()) {
    return std::nullopt;
  }
  const std::uint32_t entry = slots_[slot_of(key_of(sample))];
  return entry == 0 ? std::nullopt : std::optional<std::size_t>(entry - 1);
}

void SampleGrouper::throw_out_upper_half() {
  const auto middle = groups_.begin() + static_cast<std::ptrdiff_t>(groups_.size() / 2);
  std::nth_element(groups_.begin(), middle, groups_.end(),
                   [](const Group& a, const Group& b) { return a.key < b.key; });
  end_ = middle->key;
  has_end_ = true;
  groups_.erase(middle, groups_.end());
  index_groups(slots_.size());
}

void SampleGrouper::add(const SelectedSample& sample) {
  const GroupKey key = key_of(sample);
  if (groups_.size() * 2 >= slots_.size()) {
    index_groups(std::max(kFirstGroupSlots, slots_.size() * 2));
  }
  const std::size_t slot = slot_of(key);
  if (slots_[slot] == 0) {
    groups_.push_back({key});
    slots_[slot] = static_cast<std::uint32_t>(groups_.size());
  }
  Group& group = groups_[slots_[slot] - 1];
  add_saturating(group.count, sample.count);
  add_saturating(group.weight, sample.weight);
  if (groups_.size() > limit_) {
    throw_out_upper_half();
  }
}

Status SampleGrouper::collect(const GroupKey& from) {
  groups_.clear();
  std::fill(slots_.begin(), slots_.end(), 0);
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
    index_groups(slots_.size());
    if (const Status status = visit(groups_); !status) {
      return status;
    }
    from = end_;
  } while (has_end_);
  return {};
}

}  // namespace stackpack::exporting
