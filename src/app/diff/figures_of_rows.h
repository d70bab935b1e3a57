// From counts to figures: differences, intervals, verdicts.
#pragma once

#include "app/diff/row_sums.h"
#include "app/diff/row_table.h"
#include "stackpack/diff.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Fills rows, tests, level of `event`, whose sides and scatter are known.
/// Threads: two work on the figures, which do not depend on it. Errors: memory that runs out.
Status fill_rows(EventDiff& event, const RowTable& table, const SideSums& before,
                 const SideSums& after, const DiffOptions& options);

}  // namespace stackpack::app
