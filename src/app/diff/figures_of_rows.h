// From counts to figures: differences, intervals, verdicts.
#pragma once

#include "app/diff/row_sums.h"
#include "app/diff/row_table.h"
#include "stackpack/diff.h"

namespace stackpack::app {

/// Fills rows, tests, level of `event`, whose sides and scatter are known.
void fill_rows(EventDiff& event, const RowTable& table, const SideSums& before,
               const SideSums& after, const DiffOptions& options);

}  // namespace stackpack::app
