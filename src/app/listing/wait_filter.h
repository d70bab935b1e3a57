// Which intervals a report of waits is about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"

namespace stackpack::app {

/// All conditions that are set must hold.
struct WaitFilter {
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  std::vector<std::string> threads;  ///< patterns of names, of the thread or of its process
  /// Names of states (`blocked`) and of reasons (`S`, `WrQueue/u`), with * and ?; one must fit.
  std::vector<std::string> states;
  std::uint64_t longer_than_ns = 0;  ///< whole lengths, also of what a time range cuts
  std::optional<CaptureTime> from;
  std::optional<CaptureTime> to;
};

/// The times of a filter on the capture's clock.
/// Errors: kUsage: a file without intervals, a range that ends before it begins; kIo, kCorrupt.
struct WaitRange {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = ~std::uint64_t{0};
};
Result<WaitRange> wait_range(const Reader& reader, const WaitFilter& filter);

/// What intervals are told by: the range of a filter, names of threads, reasons.
struct WaitTables {
  WaitRange range;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<std::string> reasons;  ///< by WaitInterval::reason
  /// Of a merged file: the first process number of each source, ascending.
  std::vector<std::uint64_t> source_firsts;
};
/// Errors: as wait_range.
Result<WaitTables> wait_tables(const Reader& reader, const WaitFilter& filter);

/// The part of an interval that lies in a range.
inline std::uint64_t length_in(const WaitInterval& row, const WaitRange& range) {
  const std::uint64_t from = row.from_ns < range.from_ns ? range.from_ns : row.from_ns;
  const std::uint64_t to = row.to_ns > range.to_ns ? range.to_ns : row.to_ns;
  return to > from ? to - from : 0;
}

/// Whether state or reason of an interval are among those of a filter.
bool fits_state(const WaitFilter& filter, const WaitInterval& row,
                const std::vector<std::string>& reasons);

}  // namespace stackpack::app
