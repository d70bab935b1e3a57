#include "diff/significance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace stackpack::diff {

namespace {

// Above it the asymptotic series are good to the last digits.
constexpr double kAsymptotic = 12;
constexpr double kNormalFreedom = 1e7;

// The continued fraction of the incomplete beta function, by Lentz; x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kSteps = 10'000;
  const auto kept = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / kept(1 - (a + b) * x / (a + 1));
  double product = d;
  for (int step = 1; step <= kSteps; ++step) {
    const double m = step;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / kept(1 + even * d);
    c = kept(1 + even / c);
    product *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / kept(1 + odd * d);
    c = kept(1 + odd / c);
    product *= d * c;
    if (std::abs(d * c - 1) < 1e-15) {
      break;
    }
  }
  return product;
}

// The regularized incomplete beta function.
double beta_share(double a, double b, double x) {
  if (x <= 0) {
    return 0;
  }
  if (x >= 1) {
    return 1;
  }
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

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

// The smallest k so that at most k tests can reach rate / k.
std::size_t testable(std::span<const TestedValue> tests, double rate) {
  std::vector<double> least;
  least.reserve(tests.size());
  for (const TestedValue& test : tests) {
    least.push_back(test.least_p);
  }
  std::sort(least.begin(), least.end());
  std::size_t k = 1;
  while (k < least.size() && least[k] <= rate / static_cast<double>(k)) {
    ++k;
  }
  return k;
}

}  // namespace

double digamma(double x) {
  double sum = 0;
  while (x < kAsymptotic) {
    sum -= 1 / x;
    x += 1;
  }
  const double f = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f / 132))));
}

double trigamma(double x) {
  double sum = 0;
  while (x < kAsymptotic) {
    sum += 1 / (x * x);
    x += 1;
  }
  const double f = 1 / (x * x);
  return sum + 1 / x + f / 2 +
         f / x * (1.0 / 6 - f * (1.0 / 30 - f * (1.0 / 42 - f * (1.0 / 30 - f * 5 / 66))));
}

double inverse_trigamma(double y) {
  // Falls from infinity to nothing: halves of an interval in the logarithm.
  double low = -30;
  double high = 30;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (trigamma(std::exp(middle)) > y ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

double upper_tail(double t, double freedom) {
  if (freedom > kNormalFreedom) {
    return 0.5 * std::erfc(t / std::sqrt(2.0));
  }
  return 0.5 * beta_share(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double upper_quantile(double tail, double freedom) {
  double low = 0;
  double high = 1;
  while (upper_tail(high, freedom) > tail && high < 1e100) {
    low = high;
    high *= 2;
  }
  for (int step = 0; step < 80; ++step) {
    const double middle = (low + high) / 2;
    (upper_tail(middle, freedom) > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

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

Discoveries discoveries_of(std::span<const TestedValue> tests, double rate) {
  Discoveries result;
  result.tests = testable(tests, rate);
  result.single_level = rate / static_cast<double>(result.tests);
  std::vector<double> values;
  for (const TestedValue& test : tests) {
    if (test.least_p <= result.single_level) {
      values.push_back(test.p);
    }
  }
  std::sort(values.begin(), values.end());
  for (std::size_t i = values.size(); i > 0; --i) {
    if (values[i - 1] <= static_cast<double>(i) * result.single_level) {
      result.found = i;
      break;
    }
  }
  result.level = result.single_level * static_cast<double>(std::max<std::size_t>(result.found, 1));
  return result;
}

}  // namespace stackpack::diff
