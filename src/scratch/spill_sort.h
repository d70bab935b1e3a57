#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "scratch/spill_records.h"

namespace stackpack::scratch {

/// Sorts the elements [begin, begin + count) of `items` by `less`. Stable.
///
/// Memory: `run` elements, and pages of the space for a copy. Elements are read and written one
/// after the other, so that few pages suffice.
template <typename T, typename Less>
void spill_sort(SpillArray<T>& items, std::uint64_t begin, std::uint64_t count, Less less,
                std::uint64_t run = std::uint64_t{1} << 14) {
  std::vector<T> sorted;
  for (std::uint64_t first = 0; first < count; first += run) {
    sorted.clear();
    const std::uint64_t end = std::min(first + run, count);
    for (std::uint64_t i = first; i < end; ++i) {
      sorted.push_back(items.get(begin + i));
    }
    std::stable_sort(sorted.begin(), sorted.end(), less);
    for (std::uint64_t i = first; i < end; ++i) {
      items.set(begin + i, sorted[static_cast<std::size_t>(i - first)]);
    }
  }
  SpillArray<T> merged(items.space());
  for (; run < count; run *= 2) {  // pairs of runs become one
    for (std::uint64_t first = 0; first < count; first += 2 * run) {
      const std::uint64_t middle = std::min(first + run, count);
      const std::uint64_t end = std::min(middle + run, count);
      std::uint64_t left = first;
      std::uint64_t right = middle;
      for (std::uint64_t out = first; out < end; ++out) {
        const bool take_right = left == middle || (right != end && less(items.get(begin + right),
                                                                        items.get(begin + left)));
        merged.set(out, items.get(begin + (take_right ? right++ : left++)));
      }
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      items.set(begin + i, merged.get(i));
    }
  }
  merged.clear();
}

}  // namespace stackpack::scratch
