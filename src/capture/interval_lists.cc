#include "capture/interval_lists.h"

namespace stackpack::capture {

IntervalLists::IntervalLists(std::span<const Range> ranges) {
  for (const Range& range : ranges) {
    cuts_.push_back(range.begin);
    if (range.end != 0) {
      cuts_.push_back(range.end);
    }
  }
  std::sort(cuts_.begin(), cuts_.end());
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  leaves_ = std::bit_ceil(std::max<std::size_t>(1, cuts_.size()));

  list_begin_.assign(2 * leaves_ + 1, 0);
  for (const Range& range : ranges) {
    each_node(range, [this](std::size_t node) { ++list_begin_[node + 1]; });
  }
  for (std::size_t node = 1; node < list_begin_.size(); ++node) {
    list_begin_[node] += list_begin_[node - 1];
  }
  entries_.resize(list_begin_.back());
  std::vector<std::size_t> next(list_begin_.begin(), list_begin_.end() - 1);
  for (std::uint32_t position = 0; position < ranges.size(); ++position) {
    each_node(ranges[position], [&](std::size_t node) { entries_[next[node]++] = position; });
  }
}

template <typename Visit>
void IntervalLists::each_node(const Range& range, const Visit& visit) const {
  const auto leaf_of = [this](std::uint64_t address) {
    return leaves_ + static_cast<std::size_t>(
                         std::lower_bound(cuts_.begin(), cuts_.end(), address) - cuts_.begin());
  };
  std::size_t left = leaf_of(range.begin);
  std::size_t right = range.end == 0 ? 2 * leaves_ : leaf_of(range.end);
  for (; left < right; left /= 2, right /= 2) {
    if (left % 2 == 1) {
      visit(left++);
    }
    if (right % 2 == 1) {
      visit(--right);
    }
  }
}

}  // namespace stackpack::capture
