// Which of many overlapping ranges have an address, without a look at each.
//
// An address is a leaf of a binary tree over all boundaries, and a range is in the lists of the
// O(log n) nodes that make it up. The ranges that have an address are those in the lists from its
// leaf to the root, each in one of them. Each list is in the order in which the ranges were given,
// which is for the user to choose.
//
// Memory: four bytes for each range and node it is in.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stackpack::capture {

class IntervalLists {
 public:
  /// Addresses from `begin` up to `end`, which is not one of them; 0: up to the last there is.
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  /// `ranges` are not empty ones. They are not needed afterwards.
  explicit IntervalLists(std::span<const Range> ranges);

  /// Positions of ranges, list by list: ascending in each.
  [[nodiscard]] std::span<const std::uint32_t> entries() const { return entries_; }

  /// Calls visit(first, end) for each list, no more than 65, that is not empty and is of the
  /// ranges that have `address`: where it is in entries().
  template <typename Visit>
  void each_list(std::uint64_t address, const Visit& visit) const {
    const auto after = std::upper_bound(cuts_.begin(), cuts_.end(), address);
    if (after == cuts_.begin()) {
      return;
    }
    const auto leaf = static_cast<std::size_t>(after - cuts_.begin()) - 1;
    for (std::size_t node = leaves_ + leaf; node != 0; node /= 2) {
      if (list_begin_[node] != list_begin_[node + 1]) {
        visit(list_begin_[node], list_begin_[node + 1]);
      }
    }
  }

 private:
  // Calls `visit` with the nodes that together make up a range.
  template <typename Visit>
  void each_node(const Range& range, const Visit& visit) const;

  std::vector<std::uint64_t> cuts_;      // where ranges begin or have ended, ascending
  std::size_t leaves_ = 1;               // a power of two
  std::vector<std::size_t> list_begin_;  // by node: where its list is in entries_
  std::vector<std::uint32_t> entries_;
};

}  // namespace stackpack::capture
