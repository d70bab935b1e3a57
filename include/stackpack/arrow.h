// The tables of a .spk file as Arrow streams, which pyarrow, pandas, Polars, DuckDB and others take
// without a copy. docs/arrow.md has the columns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/arrow_c_data.h"
#include "stackpack/convert.h"
#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack {

enum class ArrowTable : std::uint8_t {
  kSamples,
  kCallstacks,  ///< a tree: id, parent, frame
  kFrames,      ///< what the nodes of callstacks are: function, image, line, address
  kFunctions,   ///< all functions that the file names
  kModules,
  kProcesses,
  kThreads,
  kEvents,
  kSources,  ///< captures that the file was made of; one, unless it is a merged file
  kLosses,
  kMetadata,
  kCounts,        ///< samples by callstack, event, process and origin
  kTop,           ///< shares of functions, modules, ...: what the command `top` shows
  kBranches,      ///< of captures with branch stacks, summed up: see branches.h
  kRanges,        ///< how often code between taken branches ran through
  kIntervals,     ///< when threads ran and waited: see waits.h
  kEventValues,   ///< what events say, a row for each field: see event_values.h
  kSampleFields,  ///< accesses to memory and control groups of samples: see sample_fields.h
  kBranchStacks,  ///< of samples, where they were kept: a row for each branch, newest first
};
inline constexpr unsigned kArrowTableCount = 19;

/// "samples", "callstacks", ... in the order of the enumeration.
std::span<const std::string_view> arrow_table_names();
std::optional<ArrowTable> arrow_table_of(std::string_view name);

struct ArrowOptions {
  /// Rows of a batch, at most; a batch ends earlier where its texts take 16 MiB. 1 to 2^24.
  std::uint32_t batch_rows = 65'536;
  std::vector<std::string> columns;  ///< these, in this order; none: all of the table
  /// Samples, counts, top, intervals and values of events: times of the capture's clock in ns, both
  /// inclusive. Blocks of samples outside are not read.
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = ~std::uint64_t{0};
  /// Samples: not in order of time, for sums, which do not care. Cheaper.
  bool any_order = false;
  /// Top: function, module, line, process, thread, event, callstack, source, type, cgroup, package,
  /// waker or reason; empty: function.
  std::string by;
  /// Top: a pattern of events; empty: the one that samples where time goes, as the command does.
  std::string event;
  /// Top: what samples count for, and whether those of idle threads are among them.
  CountBy count = CountBy::kAuto;
  IdleSamples idle = IdleSamples::kAuto;
};

/// The tables of an open file.
///
/// Numbers of callstacks and frames are those of the file: the same in each stream and each run.
/// What finding them takes is done once, by the first stream that needs them.
/// Memory:  the tables of the file, and some 20 bytes for each distinct callstack in each place
///          where its addresses mean something else; of a stream one batch and one block of
///          samples.
/// Threads: any number may make streams; each stream belongs to one thread at a time.
class ArrowTables {
 public:
  static std::shared_ptr<const ArrowTables> of(std::shared_ptr<const Reader> reader);

  /// Makes *out a stream of a table, which the caller releases; it holds what it needs of this and
  /// of the reader. Nothing is written on failure.
  /// Errors: kUsage (an unknown column or `by`, a number of rows, samples of a file without); those
  ///         of the reader. Later ones come from the stream's get_next: EINVAL, ENOMEM or EIO, with
  ///         the text of message() as its last error.
  Status stream(ArrowTable table, const ArrowOptions& options, ArrowArrayStream* out) const;

  ArrowTables(const ArrowTables&) = delete;
  ArrowTables& operator=(const ArrowTables&) = delete;
  ~ArrowTables();

 private:
  struct Impl;
  explicit ArrowTables(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

/// What stream_provider_events() calls its table.
inline constexpr std::string_view kProviderEventTable = "provider_events";

struct ProviderEventOptions {
  std::string providers = "*";  ///< names or GUIDs; '*' stands for any characters
  ArrowOptions table;           ///< batch_rows, columns, from_ns and to_ns
};

/// Makes *out a stream of the events of a capture with the fields that the capture itself
/// describes, a row for each value, in the order of the capture; the caller releases it. A .spk
/// file does not have them.
///
/// Memory:  three batches, and what describes the events.
/// Threads: the stream belongs to one thread at a time. It reads on one of its own from its first
///          get_next on, and ends that when it is released.
/// Errors: kUsage (a .spk file, a format whose events have no fields, options as of
///         ArrowTables::stream); those of opening a capture. Later ones as of ArrowTables::stream.
Status stream_provider_events(const std::string& capture, const ConvertOptions& reading,
                              const ProviderEventOptions& options, ArrowArrayStream* out);

}  // namespace stackpack
