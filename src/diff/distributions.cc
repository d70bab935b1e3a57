#include "diff/distributions.h"

#include <cmath>

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

}  // namespace stackpack::diff
