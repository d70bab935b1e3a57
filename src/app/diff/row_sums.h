// What the samples of one side count for, row by row.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "app/diff/row_table.h"
#include "app/diff/side_profile.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// The counts of one unit: those rows that have some.
struct UnitCounts {
  std::vector<std::uint32_t> rows;
  std::vector<double> counts;
};

struct UnitSums {
  UnitCounts self;
  UnitCounts total;  ///< empty for callstacks
  double size = 0;   ///< of what shares are shares of, scaled like counts
  double count = 0;  ///< of all samples, scaled
};

struct SideSums {
  std::vector<double> self;   ///< by row
  std::vector<double> total;  ///< by row; empty for callstacks
  double size = 0;
  double count = 0;  ///< of all samples, scaled
  double work = 0;   ///< units of work done
  std::vector<UnitSums> units;
  std::size_t filled_units = 0;  ///< with something in them
  double scale = 1;              ///< a scaled count is what samples count for times this
  /// A share is scaled count / size, times this: 1, but for samples per second and cost per run.
  double per_size = 1;
};

struct RowQuery {
  DiffOptions options;
  /// By node: whether it lies within DiffOptions::whole. Empty: all do.
  std::vector<bool> inside;
  /// DiffUnit::kRun: the size of a unit of work, so large that shares of it are small.
  double size_of_work = 1;
};

/// Counts are scaled so that the variance of a count is about the count where samples come by
/// chance: weights by their mean square.
SideSums sum_rows(const SideProfile& side, std::span<const std::uint32_t> row_of_node,
                  std::size_t rows, const RowQuery& query);

/// By side, the nodes within DiffOptions::whole; nothing where that is everything.
/// Errors: kUsage: it cannot be read.
Result<std::array<std::vector<bool>, 2>> nodes_inside(const std::array<SideProfile, 2>& sides,
                                                      const DiffOptions& options,
                                                      const Renames& renames);

}  // namespace stackpack::app
