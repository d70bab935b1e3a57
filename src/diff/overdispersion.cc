#include "diff/overdispersion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "diff/distributions.h"

namespace stackpack::diff {

namespace {

constexpr std::size_t kFewFunctions = 4;
// A factor of nothing has no logarithm. Rows of very few samples come near to it.
constexpr double kLeastFactor = 0.05;

// All factors in one, when there are too few to see how they are distributed.
OverdispersionPrior pooled(std::span<const Scatter> scatters) {
  double sum = 0;
  double freedom = 0;
  for (const Scatter& scatter : scatters) {
    sum += scatter.sum;
    freedom += scatter.freedom;
  }
  return freedom <= 0 ? OverdispersionPrior{} : OverdispersionPrior{sum / freedom, freedom};
}

}  // namespace

OverdispersionPrior prior_of(std::span<const Scatter> scatters) {
  if (scatters.size() < kFewFunctions) {
    return pooled(scatters);
  }
  // Moments of the logarithms, less what chance does to a logarithm.
  double count = 0;
  double mean = 0;
  double squares = 0;
  double chance = 0;
  for (const Scatter& scatter : scatters) {
    const double half = scatter.freedom / 2;
    const double log = std::log(std::max(scatter.sum / scatter.freedom, kLeastFactor)) -
                       digamma(half) + std::log(half);
    ++count;
    const double step = log - mean;
    mean += step / count;
    squares += step * (log - mean);
    chance += trigamma(half);
  }
  const double spread = squares / (count - 1) - chance / count;
  if (spread <= 0) {
    return {std::exp(mean), kInfiniteFreedom};
  }
  const double half = inverse_trigamma(spread);
  return {std::exp(mean + digamma(half) - std::log(half)), 2 * half};
}

Overdispersion moderated(const Scatter& own, const OverdispersionPrior& prior) {
  // Others never count for more than the function itself: one that jumps between two states from
  // run to run would have the confidence of those that do not.
  const double lent = own.freedom > 0 ? std::min(prior.freedom, own.freedom) : prior.freedom;
  const double freedom = own.freedom + lent;
  if (freedom <= 0 || std::isinf(freedom)) {
    return {std::max(1.0, prior.factor), kInfiniteFreedom};
  }
  return {std::max(1.0, (own.sum + lent * prior.factor) / freedom), freedom};
}

}  // namespace stackpack::diff
