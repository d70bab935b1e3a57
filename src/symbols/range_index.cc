#include "symbols/range_index.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "core/sort_rows.h"

namespace stackpack::symbols {

namespace {

using Range = CrowdedRanges::Range;

std::vector<Range> in_order_of_key(std::vector<Range> ranges) {
  core::sort_rows(ranges, [](const Range& a, const Range& b) {
    return std::tuple(a.key, a.place) < std::tuple(b.key, b.place);
  });
  return ranges;
}

std::vector<capture::IntervalLists::Range> intervals_of(const std::vector<Range>& ranges) {
  std::vector<capture::IntervalLists::Range> intervals;
  intervals.reserve(ranges.size());
  for (const Range& range : ranges) {
    intervals.push_back({range.begin, range.end});
  }
  return intervals;
}

}  // namespace

CrowdedRanges::CrowdedRanges(std::vector<Range> ranges)
    : ranges_(in_order_of_key(std::move(ranges))), lists_(intervals_of(ranges_)) {}

std::optional<Range> CrowdedRanges::last_until(std::uint64_t address, std::uint64_t key) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), key,
                       [](std::uint64_t wanted, const Range& range) { return wanted < range.key; });
  const auto limit = static_cast<std::size_t>(after - ranges_.begin());
  std::optional<std::uint32_t> best;  // positions in ranges_: the highest is the one
  lists_.each_list(address, [&](std::size_t begin, std::size_t end) {
    const auto list = lists_.entries().subspan(begin, end - begin);
    const auto beyond = std::lower_bound(list.begin(), list.end(), limit);
    if (beyond != list.begin()) {
      best = std::max(best.value_or(0), *(beyond - 1));
    }
  });
  return best ? std::optional(ranges_[*best]) : std::nullopt;
}

std::optional<Range> CrowdedRanges::first(std::uint64_t address) const {
  std::optional<std::uint32_t> best;
  lists_.each_list(address, [&](std::size_t begin, std::size_t /*end*/) {
    const std::uint32_t lowest = lists_.entries()[begin];
    best = std::min(best.value_or(lowest), lowest);
  });
  return best ? std::optional(ranges_[*best]) : std::nullopt;
}

}  // namespace stackpack::symbols
