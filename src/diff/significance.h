// The few functions of statistics that comparisons of profiles need. Checked against scipy: see
// tests/diff/reference.py.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

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

// How much more counts scatter than chance alone makes them.
//
// Counts of a function in several runs (or stretches of one run) scatter by a factor, its
// overdispersion. Few runs show it badly for one function, but all functions together show how such
// factors are distributed; each function's own is drawn towards that (empirical Bayes; Smyth 2004,
// as edgeR and limma do it). The moderated factor is worth more degrees of freedom than its runs
// alone.

/// Scatter of one count: a sum of squares that is `freedom` on average when there is chance alone.
struct Scatter {
  double sum = 0;
  double freedom = 0;
};

/// How the factors of all functions are distributed: `freedom` (may be infinite) says how alike
/// they are.
struct OverdispersionPrior {
  double factor = 1;
  double freedom = 0;
};

/// From the functions with enough samples to say something. None: factor 1 that nothing supports.
OverdispersionPrior prior_of(std::span<const Scatter> scatters);

struct Overdispersion {
  double factor = 1;   ///< at least 1: sampling can be more even than chance, which proves nothing
  double freedom = 0;  ///< of the t distribution that goes with it
};

/// The prior counts for at most as many degrees of freedom as the function has itself.
Overdispersion moderated(const Scatter& own, const OverdispersionPrior& prior);

// Many functions are tested at once: which of the differences are discoveries?

/// The outcome for a family of tests.
struct Discoveries {
  /// Tests that could have found something, however the samples had fallen.
  std::size_t tests = 0;
  std::size_t found = 0;
  /// Tests with a p value up to this are discoveries. Intervals at this level, which is that of
  /// Benjamini and Yekutieli (2005), exclude 0 just there.
  double level = 0;
  /// The level for one discovery alone: what a single change has to reach.
  double single_level = 0;
};

/// One test: its p value, and the smallest one that samples of this number can give.
struct TestedValue {
  double p = 1;
  double least_p = 0;
};

/// Benjamini and Hochberg's procedure: of what is found, at most the share `rate` is found by
/// mistake on average; where nothing has changed, something is found with at most that
/// probability. Tests that have no chance are left out beforehand (Tarone 1990, Gilbert 2005): that
/// is decided without looking at differences.
Discoveries discoveries_of(std::span<const TestedValue> tests, double rate);

}  // namespace stackpack::diff
