#include "app/branches/code_runs.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace stackpack::app {

// Sums wrap alike on both sides, so that differences of sums beyond 64 bits are still right.
void CodeRuns::add(std::uint64_t begin, std::uint64_t end, std::uint64_t count) {
  begins_.emplace_back(begin, count);
  ends_.emplace_back(end, count);
}

void CodeRuns::settle() {
  for (Sums* const sums : {&begins_, &ends_}) {
    std::sort(sums->begin(), sums->end());
    std::uint64_t sum = 0;
    for (auto& [place, count] : *sums) {
      sum += count;
      count = sum;
    }
  }
}

std::uint64_t CodeRuns::sum_until(const Sums& sums, std::uint64_t at) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const auto next = std::upper_bound(sums.begin(), sums.end(), std::pair(at, kMost));
  return next == sums.begin() ? 0 : std::prev(next)->second;
}

}  // namespace stackpack::app
