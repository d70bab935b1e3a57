// Where the samples are: functions, modules, lines, processes, ... by their share of the samples.
#pragma once

#include <string>
#include <vector>

#include "app/analysis/hot_spot_query.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Counts the samples of a file. Samples without a callstack count for processes, threads and
/// events, and in the whole.
/// Memory: that of an export, and the names that occur. Errors: as export_capture.
Result<HotSpots> hot_spots(const Reader& reader, const HotSpotQuery& query);

/// What calls functions, or what they call.
struct Neighbours {
  HotSpot center;                ///< the functions themselves, each sample once
  std::vector<HotSpot> matches;  ///< each of them, by total
  HotSpots around;  ///< total: samples that go through both; self: those at the far end
  /// Where none fits: the names in the callstacks, without parameters and template arguments.
  std::vector<std::string> occurring;
};
enum class NeighbourSide : std::uint8_t { kCallers, kCallees };

/// `function`: as query::FunctionPattern; those that fit best are taken together. Where nothing
/// called them the row is `[root]`; where they called nothing, `[self]`. A sample counts once for
/// each row.
/// Errors: as hot_spots; kUsage: `function` cannot be read.
Result<Neighbours> neighbours(const Reader& reader, const HotSpotQuery& query,
                              const std::string& function, NeighbourSide side);

/// Leaves the rows of those functions that fit best (query::FunctionPattern); all rows where
/// `function` is empty. Errors: kUsage: it cannot be read.
Status keep_functions(std::vector<HotSpot>& rows, const std::string& function);

/// By self or total, largest first; equal ones by name.
void sort_hot_spots(std::vector<HotSpot>& rows, bool by_self);

}  // namespace stackpack::app
