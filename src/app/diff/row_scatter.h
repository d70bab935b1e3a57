// How the counts of rows scatter over the units of a comparison.
#pragma once

#include <vector>

#include "app/diff/row_sums.h"
#include "diff/significance.h"

namespace stackpack::app {

/// By row: the scatter of its counts over the runs of each side about the side's own share.
std::vector<diff::Scatter> scatter_over_runs(const SideSums& before, const SideSums& after,
                                             bool self);

/// By row: the scatter, over the stretches of one run a side, of the difference between the two.
///
/// A program has phases, which are no scatter: both runs have them. So stretch i of one run is
/// compared with stretch i of the other, and what counts is how the differences differ. Where the
/// runs do not keep step, phases count as scatter: the comparison sees less then, never more.
std::vector<diff::Scatter> scatter_over_blocks(const SideSums& before, const SideSums& after,
                                               bool self);

}  // namespace stackpack::app
