#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scratch/sorted_runs.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"

namespace stackpack::app {

/// An interval with what its place in a file is decided by.
struct IntervalRow : WaitInterval {
  std::uint32_t source = 0;  ///< intervals of different sources are not mixed
  /// In a merge callstacks are nodes of a builder: of which segment. Node 0: none.
  std::uint16_t segment = 0;
  std::uint16_t waker_segment = 0;
  std::uint64_t order = 0;  ///< IntervalSort sets it
};

/// Intervals in the order in which a file has them, in bounded memory.
///
/// Memory: twice kRows of them, and once while they are merged.
class IntervalSort {
 public:
  explicit IntervalSort(std::string scratch_directory);

  Status add(const IntervalRow& interval);

  [[nodiscard]] bool empty() const { return count_ == 0; }

  /// By source, thread, time. Once, after the last add().
  Status visit(const std::function<Status(const IntervalRow&)>& visit);

 private:
  static constexpr std::size_t kRows = std::size_t{1} << 16;
  static constexpr std::uint64_t kMergeBytes = std::uint64_t{4} << 20;

  // What rows are sorted by nearly always, and where they are: a row takes longer to move.
  struct PlacedKey {
    std::uint64_t thread = 0;
    std::uint64_t from_ns = 0;
    std::size_t row = 0;
  };
  void sort_rows();

  std::vector<IntervalRow> rows_;
  std::vector<PlacedKey> keys_;      // room for sort_rows()
  std::vector<IntervalRow> sorted_;  // the same
  scratch::SortedRuns<IntervalRow> runs_;
  std::uint64_t count_ = 0;
};

}  // namespace stackpack::app
