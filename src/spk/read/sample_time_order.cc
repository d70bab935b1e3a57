#include "spk/read/sample_time_order.h"

#include <bit>
#include <numeric>

namespace stackpack::spk {

namespace {

// The most steps of sorting within buckets, per sample, before merging is cheaper.
constexpr std::uint64_t kMaxSteps = 8;

}  // namespace

bool SampleTimeOrder::find(const GroupedTimes& grouped, std::span<const std::uint32_t> corrections,
                           std::vector<std::uint32_t>& stored) {
  stored.resize(grouped.times.size());
  if (grouped.begin.size() == 2) {  // one group
    std::iota(stored.begin(), stored.end(), 0U);
    return true;
  }
  if (grouped.ascending && corrections.empty() && sort_by_time(grouped, stored)) {
    return true;
  }
  return merge(grouped, corrections, stored);
}

// Where times ascend in each group and nothing is corrected, the order is by time, then group: that
// of a stable sort. Times are spread evenly enough for buckets of a sample or two. False: they are
// not.
bool SampleTimeOrder::sort_by_time(const GroupedTimes& grouped,
                                   std::vector<std::uint32_t>& stored) {
  const std::size_t count = grouped.times.size();
  const std::uint64_t span = grouped.last - grouped.first;
  const auto wanted = static_cast<unsigned>(std::bit_width(count));
  const auto width = static_cast<unsigned>(std::bit_width(span));
  const unsigned shift = width > wanted ? width - wanted : 0;
  const std::uint64_t first = grouped.first;
  const std::uint64_t* const times = grouped.times.data();
  next_.assign(static_cast<std::size_t>(span >> shift) + 2, 0);
  std::uint32_t* const next = next_.data() + 1;
  std::uint64_t steps = 0;
  for (std::size_t at = 0; at < count; ++at) {
    steps += next[(times[at] - first) >> shift]++;
  }
  if (steps > kMaxSteps * count) {
    return false;
  }
  std::uint32_t begin = 0;
  for (std::uint32_t& bucket : next_) {
    begin += bucket;
    bucket = begin;
  }
  std::uint32_t* const to = stored.data();
  std::uint32_t* const place = next_.data();
  for (std::size_t at = 0; at < count; ++at) {
    to[place[(times[at] - first) >> shift]++] = static_cast<std::uint32_t>(at);
  }
  for (std::size_t i = 1; i < count; ++i) {
    const std::uint32_t at = to[i];
    const std::uint64_t time = times[at];
    std::size_t gap = i;
    for (; gap > 0 && times[to[gap - 1]] > time; --gap) {
      to[gap] = to[gap - 1];
    }
    to[gap] = at;
  }
  return true;
}

bool SampleTimeOrder::merge(const GroupedTimes& grouped, std::span<const std::uint32_t> corrections,
                            std::vector<std::uint32_t>& stored) {
  const std::size_t groups = grouped.begin.size() - 1;
  EarliestQueue queue(groups);
  std::vector<std::size_t> next(grouped.begin.begin(), grouped.begin.end());
  for (std::size_t group = 0; group < groups; ++group) {
    queue.set(group, grouped.times[next[group]]);
  }
  for (std::size_t i = 0; i < stored.size(); ++i) {
    std::size_t group = queue.earliest();
    if (!corrections.empty()) {
      group += corrections[i];
      group -= group >= groups ? groups : 0;
    }
    if (queue.empty(group)) {
      return false;
    }
    stored[i] = static_cast<std::uint32_t>(next[group]++);
    if (next[group] == grouped.begin[group + 1]) {
      queue.set_empty(group);
    } else {
      queue.set(group, grouped.times[next[group]]);
    }
  }
  return true;
}

}  // namespace stackpack::spk
