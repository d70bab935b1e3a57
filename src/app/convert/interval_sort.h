#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "scratch/external_sort.h"
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

/// Intervals in the order in which a file has them, in bounded memory: by source, thread, time.
///
/// Memory: that of an ExternalSort of kRows.
class IntervalSort {
 public:
  explicit IntervalSort(std::string scratch_directory)
      : rows_(std::move(scratch_directory), kRows) {}

  Status add(const IntervalRow& interval) {
    IntervalRow row = interval;
    row.order = count_++;
    return rows_.add(row);
  }

  [[nodiscard]] bool empty() const { return count_ == 0; }

  /// Once, after the last add().
  template <typename Visit>
  Status visit(const Visit& visit) {
    return rows_.visit(visit);
  }

 private:
  static constexpr std::size_t kRows = std::size_t{1} << 16;

  struct InFile {
    static std::uint64_t key(const IntervalRow& row) {
      return std::uint64_t{row.source} << 32 | row.tid;
    }
    static bool before(const IntervalRow& a, const IntervalRow& b) {
      return std::tie(a.source, a.tid, a.from_ns, a.to_ns, a.order) <
             std::tie(b.source, b.tid, b.from_ns, b.to_ns, b.order);
    }
  };

  scratch::ExternalSort<IntervalRow, InFile> rows_;
  std::uint64_t count_ = 0;
};

}  // namespace stackpack::app
