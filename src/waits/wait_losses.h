#pragma once

#include <cstdint>
#include <string_view>

namespace stackpack::waits {

/// What could not be said of waits. docs/waits.md explains each.
struct WaitCounters {
  std::uint64_t without_waking = 0;       ///< blocks that end with a switch-in
  std::uint64_t cut_by_lost = 0;          ///< intervals that end where records were lost
  std::uint64_t switch_ins_missing = 0;   ///< threads that left without having come in
  std::uint64_t broken_runs = 0;          ///< threads whose processor went on without them
  std::uint64_t wakings_of_runnable = 0;  ///< of threads that were able to run
  std::uint64_t events_in_gaps = 0;       ///< ignored, as records around them were lost
  std::uint64_t threads_over_limit = 0;   ///< events of threads beyond the table's bound
};

/// Names under which they are counted.
inline constexpr std::string_view kWithoutWaking = "waits_without_waking";
inline constexpr std::string_view kCutByLost = "waits_cut_by_lost";
inline constexpr std::string_view kSwitchInsMissing = "switch_ins_missing";
inline constexpr std::string_view kBrokenRuns = "switch_outs_missing";
inline constexpr std::string_view kWakingsOfRunnable = "wakings_of_runnable";
inline constexpr std::string_view kEventsInGaps = "wait_events_in_gaps";
inline constexpr std::string_view kThreadsOverLimit = "wait_threads_over_limit";

}  // namespace stackpack::waits
