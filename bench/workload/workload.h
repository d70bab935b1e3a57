// The reference workload: a seeded stream of callstacks with the statistics of the published
// capture that stackpack measures itself by.
//
// 368 threads of one program run on 16 processors. A clock samples each processor 8,192 times a
// second; between two observations a thread returns from some functions and enters others.
// Context switches and wake-ups record a callstack, too, and outnumber the clock's. At scale 1 it
// has 21.1 million callstacks of 26.3 frames (as published: 26.5), 575,188 unique ones (570,866) of
// 41.1 frames (37.6) and 2.05 million nodes (2.10 to 2.16). Times and the choice of threads are
// random, so its sample stream says little about real ones.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace stackpack::bench {

inline constexpr std::uint64_t kReferenceStacks = 21'096'952;
inline constexpr std::uint32_t kWorkloadPid = 4000;
inline constexpr std::uint32_t kWorkloadCpus = 16;

enum class Cause : std::uint8_t { kClock, kSwitch, kWakeUp };

/// One recorded callstack. The span is valid during the call.
struct Observation {
  std::uint64_t time_ns = 0;  ///< strictly ascending on each processor
  std::uint32_t tid = 0;
  std::uint32_t cpu = 0;
  Cause cause = Cause::kClock;
  std::span<const std::uint64_t> addresses;  ///< leaf first
  std::uint32_t kernel_frames = 0;           ///< how many of them, from the leaf, are kernel's
};

struct WorkloadOptions {
  double scale = 1;  ///< 1 = kReferenceStacks
  std::uint64_t seed = 1;
  double wander = 0;  ///< chance that a function is in any of its calls, whatever its habit
  std::uint32_t thread_life = 0;  ///< observations until a thread ends and another follows; 0: none
};

[[nodiscard]] std::uint64_t workload_stacks(const WorkloadOptions& options);

/// Thread ids that the workload uses.
[[nodiscard]] std::vector<std::uint32_t> workload_threads();

/// Calls `visit` workload_stacks(options) times, in nearly ascending time (within a tick of 122
/// us).
void generate_workload(const WorkloadOptions& options,
                       const std::function<void(const Observation&)>& visit);

}  // namespace stackpack::bench
