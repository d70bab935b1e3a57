// How long each thread ran and waited.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/listing/wait_filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Lengths of intervals.
struct WaitSum {
  std::uint64_t count = 0;
  std::uint64_t sum_ns = 0;
  std::uint64_t min_ns = 0;  ///< 0 without intervals
  std::uint64_t max_ns = 0;
  double squares = 0;  ///< sum of the squares of lengths in ns

  void add(std::uint64_t length_ns);
  void add(const WaitSum& other);
  [[nodiscard]] double mean_ns() const;
  /// Standard error of the mean in percent of it, as perf has it; 0 below two intervals.
  [[nodiscard]] double deviation_percent() const;
};

using StateSums = std::array<WaitSum, kWaitStateCount>;

struct ThreadWaits {
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::string name;  ///< of the thread when its last interval ended, else of its process
  StateSums states;  ///< by WaitState
  std::map<std::uint32_t, WaitSum> blocked_by;  ///< by row of the reasons

  [[nodiscard]] const WaitSum& of(WaitState state) const {
    return states[static_cast<std::size_t>(state)];
  }
  /// It waits for work, as query::IdlePools has it.
  bool is_idle_pool = false;
};

struct WaitTable {
  std::vector<ThreadWaits> threads;  ///< in the order of the file: by source, thread
  std::vector<std::string> reasons;
  std::vector<std::string> notices;  ///< as query::cut_notices has them
};

/// Sums the intervals that fit, as far as they lie in the range of the filter. An id that names
/// several threads one after the other is one row.
/// Memory: a row a thread. Errors: as wait_range.
Result<WaitTable> sum_waits(const Reader& reader, const WaitFilter& filter);

}  // namespace stackpack::app
