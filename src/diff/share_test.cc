#include "diff/share_test.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stackpack::diff {

namespace {

constexpr int kSteps = 100;
constexpr double kPrecision = 1e-11;  // of roots, and relative to them

double term(double count, double expected) {
  if (count <= 0) {
    return 0;
  }
  return expected <= 0 ? std::numeric_limits<double>::infinity()
                       : count * std::log(count / expected);
}

double deviance_of_both(const Portion& from, const Portion& to, double p, double q) {
  return deviance(from, p) + deviance(to, q);
}

// The share where the slope of the likelihood is `slope`: count / p - (size - count) / (1 - p).
// For a bound of the difference the two sides have opposite slopes (Lagrange).
double share_of_slope(const Portion& seen, double slope) {
  if (slope == 0) {
    return seen.share();
  }
  const double b = seen.size + slope;
  const double root = std::sqrt(std::max(0.0, b * b - 4 * slope * seen.count));
  // The form without cancellation, of the root that is in [0, 1].
  const double p =
      b >= 0 ? (b + root > 0 ? 2 * seen.count / (b + root) : 0) : (b - root) / (2 * slope);
  return std::clamp(p, 0.0, 1.0);
}

// Where `excess`, which grows and is not positive at 0, crosses zero. It is nearly a straight line
// from 0 to `guess`: a few steps of false position (the Illinois rule) find it.
template <typename Excess>
double crossing(double guess, double most, const Excess& excess) {
  double low = 0;
  double below = excess(0);
  double high = std::min(guess, most);
  double above = excess(high);
  for (int step = 0; step < kSteps * 10 && above <= 0 && high < most; ++step) {
    low = high;
    below = above;
    high = std::min(2 * high, most);
    above = excess(high);
  }
  if (above <= 0) {
    return high;
  }
  int side = 0;
  for (int step = 0; step < kSteps && high - low > kPrecision * high; ++step) {
    const bool finite = std::isfinite(above);
    double middle = finite ? (low * above - high * below) / (above - below) : (low + high) / 2;
    if (!(middle > low && middle < high)) {
      middle = (low + high) / 2;
    }
    const double value = excess(middle);
    if (value <= 0) {
      low = middle;
      below = value;
      above = side < 0 && finite ? above / 2 : above;
      side = -1;
    } else {
      high = middle;
      above = value;
      below = side > 0 ? below / 2 : below;
      side = 1;
    }
    if (std::abs(value) < kPrecision) {
      return middle;
    }
  }
  return (low + high) / 2;
}

double variance_of(const Portion& seen) {
  const double share = (seen.count + 0.5) / (seen.size + 1);
  return share * (1 - share) / seen.size;
}

double difference_bound(const Portion& from, const Portion& to, double critical, double sign) {
  const auto excess = [&](double slope) {
    return std::sqrt(deviance_of_both(from, to, share_of_slope(from, sign * slope),
                                      share_of_slope(to, -sign * slope))) -
           critical;
  };
  const double guess = critical / std::sqrt(variance_of(from) + variance_of(to));
  const double slope = crossing(guess, std::numeric_limits<double>::max() / 4, excess);
  return share_of_slope(to, -sign * slope) - share_of_slope(from, sign * slope);
}

// Shares of equal slope in the logarithm, by the Lagrange multiplier `moved`.
double moved_share(const Portion& seen, double moved) {
  const double size = seen.size - moved;
  return size <= 0 ? 1 : std::clamp((seen.count - moved) / size, 0.0, 1.0);
}

double ratio_bound(const Portion& from, const Portion& to, double critical, double sign) {
  const double whole = sign > 0 ? from.count : -to.count;
  const auto excess = [&](double part) {
    const double moved = part * whole;
    return std::sqrt(
               deviance_of_both(from, to, moved_share(from, moved), moved_share(to, -moved))) -
           critical;
  };
  const double part = crossing(0.5, 1, excess);
  const double moved = part * whole;
  const double p = moved_share(from, moved);
  const double q = moved_share(to, -moved);
  if (p <= 0) {
    return q <= 0 ? 0 : std::numeric_limits<double>::infinity();
  }
  return q / p;
}

}  // namespace

double deviance(const Portion& seen, double share) {
  const double rest = seen.size - seen.count;
  const double sum = term(seen.count, seen.size * share) + term(rest, seen.size * (1 - share));
  return std::max(0.0, 2 * sum);
}

double signed_root(const Portion& from, const Portion& to) {
  const double share = (from.count + to.count) / (from.size + to.size);
  const double root = std::sqrt(deviance_of_both(from, to, share, share));
  return to.share() < from.share() ? -root : root;
}

Interval difference_interval(const Portion& from, const Portion& to, double critical) {
  return {difference_bound(from, to, critical, -1), difference_bound(from, to, critical, 1)};
}

Interval ratio_interval(const Portion& from, const Portion& to, double critical) {
  if (from.count <= 0) {
    // Any share that can be nothing has ratios without an end.
    const Interval bounds{ratio_bound(from, to, critical, -1),
                          std::numeric_limits<double>::infinity()};
    return to.count <= 0 ? Interval{0, bounds.high} : bounds;
  }
  return {to.count <= 0 ? 0 : ratio_bound(from, to, critical, -1),
          ratio_bound(from, to, critical, 1)};
}

double least_growth(const Portion& from, double size, double root) {
  const double share = from.share();
  const auto grown = [&](double growth) {
    return Portion{std::min(1.0, share + growth) * size, size};
  };
  if (share >= 1 || signed_root(from, grown(1 - share)) < root) {
    return 1;
  }
  const double guess = root * std::sqrt(variance_of(from) + variance_of({share * size, size}));
  return crossing(guess, 1 - share,
                  [&](double growth) { return signed_root(from, grown(growth)) - root; });
}

}  // namespace stackpack::diff
