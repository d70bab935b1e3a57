// Two shares, each of a number of samples: are they different, and by how much?
//
// The test is that of the likelihood ratio of two binomial counts, whose square root with a sign is
// compared with a t distribution. Counts are divided by their overdispersion first
// (quasi-likelihood), so they need not be whole. Against the usual test, difference by standard
// error, it keeps its level where counts are small or the sides are of different sizes. Its
// intervals are those values that it would not reject, so interval and verdict never disagree.
#pragma once

namespace stackpack::diff {

/// `count` of `size`; 0 <= count <= size, size > 0.
struct Portion {
  double count = 0;
  double size = 0;

  [[nodiscard]] double share() const { return count / size; }
  [[nodiscard]] Portion divided(double by) const { return {count / by, size / by}; }
};

/// Twice the difference of the logarithms of the likelihoods of the share that was seen and of
/// `share`. Infinite where `share` makes the count impossible.
double deviance(const Portion& seen, double share);

/// The root of the deviance that both shares are one, with the sign of to - from.
double signed_root(const Portion& from, const Portion& to);

struct Interval {
  double low = 0;
  double high = 0;
};

/// The differences to.share() - from.share() whose signed root is within +-critical.
Interval difference_interval(const Portion& from, const Portion& to, double critical);

/// The same of the ratio to.share() / from.share(); high is infinite where `from` may be nothing.
Interval ratio_interval(const Portion& from, const Portion& to, double critical);

/// The smallest growth of from.share() whose expected signed root is `root`, with `size` samples
/// afterwards; 1 when no growth has it.
double least_growth(const Portion& from, double size, double root);

}  // namespace stackpack::diff
