// The few functions of statistics that comparisons of profiles need. Checked against scipy: see
// tests/diff/reference.py.
#pragma once

#include <limits>

namespace stackpack::diff {

/// Degrees of freedom of a t distribution that is the normal one.
inline constexpr double kInfiniteFreedom = std::numeric_limits<double>::infinity();

/// Derivatives of log(gamma(x)), first and second; x > 0.
double digamma(double x);
double trigamma(double x);
/// The x with trigamma(x) == y; y > 0.
double inverse_trigamma(double y);

/// The probability that a value of Student's t distribution lies above `t` >= 0.
/// `freedom` > 0, may be infinite.
double upper_tail(double t, double freedom);

/// The t >= 0 with upper_tail(t, freedom) == tail; 0 < tail <= 0.5.
double upper_quantile(double tail, double freedom);

}  // namespace stackpack::diff
