#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "capture/system_tables.h"

namespace stackpack::app {

/// Rounds the times of samples down to multiples of a resolution, such that no answer but times
/// becomes another: who reads the file finds the process, thread, mapping and function of a sample
/// by its time.
///
/// What changes which one that is, a *boundary*, is the start of a process or thread, the start or
/// end of a mapping, and the birth of a function. A time is rounded down as far as no boundary of
/// its process, or of all processes, lies between: to the resolution, else to a tenth of it, and
/// so on. It moves by less than the resolution, and samples stay in their order.
/// Memory: 16 bytes per boundary, those of functions up to kMostFunctionTimes.
class TimeRounding {
 public:
  /// Beyond, samples between the first and the last birth keep their times.
  static constexpr std::size_t kMostFunctionTimes = std::size_t{1} << 19;

  /// `resolution_ns`: above 0.
  TimeRounding(std::uint64_t resolution_ns, const capture::SystemTables& tables);

  /// Something happened to a function of a process (kKernelPid: of all) that may be seen in its
  /// life. `most`: for tests. Before begin().
  void add_function_time(std::uint32_t pid, std::uint64_t time_ns,
                         std::size_t most = kMostFunctionTimes);

  /// After the last boundary.
  void begin();

  /// The time for a sample. Samples come in the order of time. kUnknownTime stays.
  std::uint64_t round(std::uint32_t pid, std::uint64_t time_ns);

 private:
  using Boundary = std::pair<std::uint32_t, std::uint64_t>;  // pid, time

  // The boundary of a process before a time, and the next one.
  struct Known {
    std::uint32_t pid = 0;
    std::uint64_t from_ns = 0;
    std::uint64_t until_ns = 0;
  };

  void add(std::uint32_t pid, std::uint64_t time_ns);
  void keep_all_between();
  [[nodiscard]] std::uint64_t latest(std::uint32_t pid, std::uint64_t time_ns);

  std::uint64_t resolution_ns_;
  std::vector<Boundary> boundaries_;
  std::vector<Boundary> function_times_;
  bool too_many_ = false;
  std::uint64_t kept_from_ns_ = ~std::uint64_t{0};  // when there were too many
  std::uint64_t kept_to_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  Known everywhere_;                // of kKernelPid
  std::array<Known, 256> known_{};  // by pid, for samples of few processes in turn
};

}  // namespace stackpack::app
