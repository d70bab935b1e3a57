// How much more counts scatter than chance alone makes them.
//
// Counts of a function in several runs (or stretches of one run) scatter by a factor, its
// overdispersion. Few runs show it badly for one function, but all functions together show how such
// factors are distributed; each function's own is drawn towards that (empirical Bayes; Smyth 2004,
// as edgeR and limma do it). The moderated factor is worth more degrees of freedom than its runs
// alone.
#pragma once

#include <span>

namespace stackpack::diff {

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

}  // namespace stackpack::diff
