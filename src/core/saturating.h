// Sums of weights, which captures choose.
#pragma once

#include <cstdint>
#include <limits>

namespace stackpack::core {

/// The sum, or the largest number when it does not fit. Weights come from captures: a sum of them
/// must not begin anew at zero.
constexpr std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

/// The same, in place.
constexpr void add_saturating(std::uint64_t& sum, std::uint64_t value) {
  sum = saturating_sum(sum, value);
}

}  // namespace stackpack::core
