#include "export/html/lane_ticks.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace stackpack::exporting {

void LaneTicks::add(std::uint64_t length_ns) {
  ++lengths_[static_cast<std::size_t>(std::bit_width(length_ns))];
}

double LaneTicks::bits_at(std::uint64_t tick_ns) const {
  const double per_tick = std::log2(static_cast<double>(tick_ns));
  double bits = 0;
  for (std::size_t width = 1; width < lengths_.size(); ++width) {
    // The first bit of a length is always set: which one it is, is told otherwise.
    const double own = static_cast<double>(width) - 1 - per_tick;
    bits += static_cast<double>(lengths_[width]) * std::max(0.0, own);
  }
  return bits;
}

std::uint64_t LaneTicks::choose(std::uint64_t span_ns) const {
  constexpr std::uint64_t kMostTicks = std::uint64_t{1} << 31;
  constexpr std::uint64_t kLongest = 1'000'000'000'000'000'000;
  constexpr std::array<std::uint64_t, 3> kFactors = {1, 2, 5};
  for (std::uint64_t power = 1; power < kLongest; power *= 10) {
    for (const std::uint64_t factor : kFactors) {
      const std::uint64_t tick = power * factor;
      if (span_ns / tick < kMostTicks - 1 && bits_at(tick) <= static_cast<double>(kMostBits)) {
        return tick;
      }
    }
  }
  return kLongest;
}

}  // namespace stackpack::exporting
