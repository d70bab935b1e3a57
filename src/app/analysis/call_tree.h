// Who called whom, as a tree of functions from the root of callstacks on.
#pragma once

#include <cstddef>
#include <vector>

#include "app/analysis/hot_spot_query.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// A function where it was called by those above it.
struct CallTreeRow {
  std::size_t depth = 0;  ///< 0: of the root of callstacks
  HotSpot spot;           ///< self, and total: of this place in the tree
  std::size_t rank = 0;   ///< so many rows are larger, or as large and before it
};

struct CallTree {
  HotSpots about;                 ///< all but its rows
  std::vector<CallTreeRow> rows;  ///< each after the one that calls it; the largest first
  std::size_t left_out = 0;       ///< rows that are smaller than these

  /// The same with fewer rows, as call_tree() gives it.
  [[nodiscard]] CallTree first(std::size_t most) const;
};

/// The `most` rows with the largest totals (0: all), which are a tree again, since no row is larger
/// than the one that calls it. query.by is kFunction, kModule or kLine.
/// Memory: that of hot_spots, and the distinct callstacks as functions. Errors: as hot_spots.
Result<CallTree> call_tree(const Reader& reader, const HotSpotQuery& query, std::size_t most);

}  // namespace stackpack::app
