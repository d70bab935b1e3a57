// Where the samples are: functions, modules, lines, processes, ... by their share of the samples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stackpack/export.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

enum class HotSpotKind : std::uint8_t {
  kFunction,
  kModule,
  kLine,
  kProcess,
  kThread,
  kEvent,
  kCallstack,
  kSource,  ///< captures of a merged file; any other is one
};

/// One row. What samples count for is a matter of the options.
struct HotSpot {
  std::string name;
  std::string module;       ///< functions and lines: file name of the image; may be empty
  std::string place;        ///< lines: file:line; may be empty
  std::uint64_t self = 0;   ///< samples in it
  std::uint64_t total = 0;  ///< samples in it or in what it called; each sample once

  friend bool operator==(const HotSpot&, const HotSpot&) = default;
};

struct HotSpots {
  std::string event;  ///< the one event that was taken, when the options left the choice
  std::uint64_t samples = 0;
  std::uint64_t value = 0;    ///< what they count for in all: the whole of each share
  std::vector<HotSpot> rows;  ///< in no order; see sort_hot_spots

  /// Adds those of another file; rows of the same name, module and place become one.
  void add(const HotSpots& other);
};

struct HotSpotQuery {
  ExportOptions filters;  ///< which samples, and what they count for; FrameStyle of frames
  HotSpotKind by = HotSpotKind::kFunction;
};

/// Counts the samples of a file. Samples without a callstack count for processes, threads and
/// events, and in the whole.
/// Memory: that of an export, and the names that occur. Errors: as export_capture.
Result<HotSpots> hot_spots(const Reader& reader, const HotSpotQuery& query);

/// What calls a function, or what it calls.
struct Neighbours {
  HotSpot center;   ///< the function itself
  HotSpots around;  ///< total: samples that go through both; self: those at the far end
};
enum class NeighbourSide : std::uint8_t { kCallers, kCallees };

/// `function`: a name, or `module!name`. Where nothing called it the row is `[root]`; where it
/// called nothing, `[self]`. A sample counts once for each row.
/// Errors: as hot_spots; kUsage: no function of this name occurs.
Result<Neighbours> neighbours(const Reader& reader, const HotSpotQuery& query,
                              const std::string& function, NeighbourSide side);

/// By self or total, largest first; equal ones by name.
void sort_hot_spots(std::vector<HotSpot>& rows, bool by_self);

}  // namespace stackpack::app
