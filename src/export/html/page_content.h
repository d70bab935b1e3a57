#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bytes/byte_writer.h"
#include "export/html/page_findings.h"
#include "query/naming/code_mode.h"
#include "stackpack/export.h"
#include "stackpack/model.h"

namespace stackpack::exporting {

// What threads do when they do not run, as a page keeps it: docs/page-format.md, "Lanes".

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

inline constexpr std::uint32_t kNoPageModule = ~std::uint32_t{0};
/// Measures are numbered in 8 bits.
inline constexpr std::size_t kMostPageMeasures = 250;

/// A function: a name in a module, or a place in a module that has no name.
struct PageFunction {
  std::string name;
  std::uint32_t module = kNoPageModule;  ///< row of PageContent::modules
  query::CodeMode mode = query::CodeMode::kUnknown;
  bool named = true;         ///< the name may be empty all the same
  std::uint64_t offset = 0;  ///< of what is not named: in the file of the module, or an address
};

/// What is counted: samples of an event, or what they stand for.
struct PageMeasure {
  std::string name;
  std::string unit;
  /// Equal for measures of several files that are one; empty: the name is.
  std::string key = {};
};

/// One side of a page may have a number of weights for each node.
struct NodeValue {
  std::uint32_t node = 0;
  std::uint64_t value = 0;
};

struct PageFact {
  std::string label;
  std::string value;
};

struct PageLoss {
  std::string name;
  std::uint64_t count = 0;
  std::string text;
  bool remark = false;  ///< it takes nothing away
};

struct PageThread {
  std::uint32_t pid = 0;  ///< kUnknownId: not recorded
  std::uint32_t tid = 0;
  std::string process;
  std::string thread;
};

/// The labels of samples.
struct PageLabels {
  using Set = std::vector<std::pair<std::string, std::string>>;  // keys and values
  /// Samples of one thread with the same labels.
  struct Track {
    std::uint32_t thread = 0;
    /// 0: no labels; else a row of `sets` + 1, the one after the last for `others`.
    std::uint32_t set = 0;
  };
  std::vector<Set> sets;
  std::vector<Track> tracks;
  std::uint64_t others = 0;  ///< sets that have no row
};

/// Samples of one event in one stretch of time, thread and callstack.
struct TimeRow {
  std::uint32_t bucket = 0;
  /// Of PageContent::threads; of PageLabels::tracks where there are labels.
  std::uint32_t thread = 0;
  std::uint32_t node = 0;
  std::uint32_t event = 0;  ///< row of PageTimeline::measures_of_event
  std::uint64_t count = 0;
  std::uint64_t weight = 0;
};

/// Which measures an event has: numbers of them.
struct EventMeasures {
  std::optional<std::uint32_t> count;
  std::optional<std::uint32_t> weight;

  /// The figures of an event stand in the order of the numbers of their measures.
  [[nodiscard]] bool weight_first() const { return weight && count && *weight < *count; }
};

struct PageTimeline {
  std::uint64_t start_ns = 0;
  std::uint64_t width_ns = 1;
  std::uint32_t buckets = 0;
  bool timed = true;          ///< false: all samples are in bucket 0
  std::string resolution;     ///< a sentence for people
  std::vector<TimeRow> rows;  ///< by bucket, thread, node, event
  std::vector<EventMeasures> measures_of_event;
};

/// All that a page shows, before it is put into order and written. Texts are UTF-8.
struct PageContent {
  std::string title;
  std::vector<std::string> sides;  ///< none, or two
  /// Names of the files of each side, without folders; empty where they are not known.
  std::vector<std::vector<std::string>> files;
  std::vector<PageFact> facts;
  std::vector<PageLoss> losses;
  std::vector<PageMeasure> measures;
  std::vector<std::string> modules;
  std::vector<PageFunction> functions;
  /// Callstacks as a tree. Node 0 is the root; a parent has a lower number than its children, no
  /// two of which have the same function.
  std::vector<std::uint32_t> parents;
  std::vector<std::uint32_t> node_functions;
  /// [side][measure]: by node ascending, each node once, values above 0. One side when there are no
  /// names for them. The root's: samples without a callstack.
  std::vector<std::vector<std::vector<NodeValue>>> self;
  std::vector<PageThread> threads;
  std::optional<PageTimeline> timeline;
  std::optional<PageLabels> labels;  ///< with a timeline only
  std::optional<PageLanes> lanes;
  std::vector<PageTable> tables;         ///< of the values of events
  std::string diff_json;                 ///< what a comparison is about: an object, or empty
  std::optional<PageFindings> findings;  ///< of a comparison
};

}  // namespace stackpack::exporting
