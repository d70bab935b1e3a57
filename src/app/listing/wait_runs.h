// Each time a thread ran, with the wait before it: lines as `perf sched timehist` has them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/listing/wait_filter.h"
#include "query/selection/waker_threads.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"

namespace stackpack::app {

/// A run of a thread, and what it did between the run before it and this one.
struct WaitRun {
  WaitInterval run;               ///< running, or another state where the switch-in is not recorded
  std::uint64_t wait_ns = 0;      ///< off the processor: blocked, woken and preempted
  std::uint64_t delay_ns = 0;     ///< of that woken: able to run, without a processor
  WaitInterval wait;              ///< the longest of its waits, with reason, waker and callstacks
  std::uint32_t next_reason = 0;  ///< why the thread left its processor after this run
};

/// Visits the runs that fit, up to 4,096 at a time, by thread and time: those that end within the
/// range, whose wait is at least as long as the filter says and has a state that fits.
/// Errors: kIo, kCorrupt, and of `visit`.
Status visit_wait_runs(const Reader& reader, const WaitFilter& filter, const WaitTables& tables,
                       const std::function<Status(std::span<const WaitRun>)>& visit);

/// Finds the names of those who ended blocks. Memory: a row a thread.
class WakerNames {
 public:
  explicit WakerNames(const WaitTables& tables);

  /// That of the thread, else of its process. Empty where there is none, and for interrupts: the
  /// thread that ran then did not wake anybody.
  [[nodiscard]] std::string_view name(const WaitInterval& row) const;

 private:
  query::WakerThreads threads_;
};

}  // namespace stackpack::app
