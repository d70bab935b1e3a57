// Many functions are tested at once: which of the differences are discoveries?
#pragma once

#include <cstddef>
#include <span>

namespace stackpack::diff {

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
