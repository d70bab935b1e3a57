#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/convert/capture_spool.h"
#include "app/convert/packed_stacks.h"
#include "capture/loss_counters.h"
#include "scratch/sorted_runs.h"
#include "stackpack/model.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"

namespace stackpack::app {

/// Intervals in the order in which a file has them, in bounded memory.
///
/// Memory: kRows of them, and as much while they are merged.
class IntervalSort {
 public:
  explicit IntervalSort(std::string scratch_directory);

  /// `source`: intervals of different sources are not mixed.
  Status add(const WaitInterval& interval, std::uint32_t source = 0);

  [[nodiscard]] bool empty() const { return count_ == 0; }

  /// By source, thread, time. Once, after the last add().
  Status visit(const std::function<Status(const WaitInterval&)>& visit);

 private:
  struct Row : WaitInterval {
    std::uint32_t source = 0;
    std::uint64_t order = 0;
  };
  static bool comes_before(const Row& a, const Row& b);
  static constexpr std::size_t kRows = std::size_t{1} << 16;
  static constexpr std::uint64_t kMergeBytes = std::uint64_t{4} << 20;

  std::vector<Row> rows_;
  scratch::SortedRuns<Row> runs_;
  std::uint64_t count_ = 0;
};

/// Which process a thread belonged to at a time.
class ProcessOfThread {
 public:
  explicit ProcessOfThread(const std::vector<Thread>& threads);

  [[nodiscard]] std::uint32_t find(std::uint32_t tid, std::uint64_t time_ns) const;

 private:
  struct Life {
    std::uint64_t start_ns = 0;
    std::uint32_t pid = kUnknownId;
  };
  std::unordered_map<std::uint32_t, std::vector<Life>> lives_;
};

/// Makes intervals of the switches that a CaptureSpool holds, when its callstacks have ids. What
/// could not be said is counted in its losses.
Status find_waits(CaptureSpool& capture, PackedStacks& stacks, const std::vector<Thread>& threads,
                  IntervalSort& intervals);

/// Names of the counters.
const std::vector<std::string_view>& wait_loss_names();

}  // namespace stackpack::app
