// What threads do when they do not run, as a page keeps it: docs/page-format.md, "Lanes".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytes/byte_writer.h"
#include "stackpack/model.h"

namespace stackpack::exporting {

/// Intervals that a page has room for.
inline constexpr std::uint64_t kMostLaneIntervals = std::uint64_t{1} << 22;

/// A thread with intervals.
struct PageLane {
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::string process;
  std::string thread;
  std::uint32_t row = kUnknownId;  ///< of PageContent::threads; kUnknownId: it has no samples
  bool waits_for_work = false;     ///< left out of sums (query::IdlePools)
  std::uint64_t intervals = 0;     ///< gaps between them included
};

/// Columns of intervals, as they are written.
enum class LaneColumn : std::uint8_t {
  kCodes = 0,  ///< state and flags
  kRunLengths = 1,
  kWaitLengths = 2,
  kReadyLengths = 3,
  kLengthBits = 4,
  kSpots = 5,
  kWakers = 6,
};
inline constexpr std::size_t kLaneColumns = 7;

/// Why and where a thread left its processor.
struct LaneSpot {
  std::uint32_t reason = 0;
  std::uint32_t stack = 0;  ///< row of PageLanes::nodes + 1; 0: no callstack
};

/// Who ended a block.
struct LaneWaker {
  std::uint32_t kind = 0;  ///< WakerKind
  std::uint32_t tid = 0;
  std::uint32_t lane = 0;   ///< row of PageLanes::lanes + 1; 0: it has none
  std::uint32_t stack = 0;  ///< as of LaneSpot
};

/// The intervals of all threads, on a clock of ticks from `start_ns` on.
struct PageLanes {
  std::uint64_t start_ns = 0;
  std::uint64_t tick_ns = 1;
  std::uint64_t ticks = 0;
  std::vector<PageLane> lanes;
  std::vector<std::string> reasons;
  std::vector<std::uint32_t> nodes;  ///< where callstacks end: nodes of PageContent
  std::vector<LaneSpot> spots;
  std::vector<LaneWaker> wakers;
  /// Which measures are time in which threads were blocked, woken, preempted.
  std::array<std::optional<std::uint32_t>, 3> measures;
  std::array<bytes::ByteWriter, kLaneColumns> columns;

  [[nodiscard]] std::uint64_t intervals() const {
    std::uint64_t sum = 0;
    for (const PageLane& lane : lanes) {
      sum += lane.intervals;
    }
    return sum;
  }
};

}  // namespace stackpack::exporting
