#pragma once

#include <algorithm>
#include <ctime>
#include <vector>

namespace stackpack::bench {

/// Nanoseconds of processor time that the calling thread took since construction. Not the time on
/// the wall: the benchmarks run on shared machines, and what others do should not count.
template <clockid_t kClock>
class StopwatchOf {
 public:
  [[nodiscard]] double nanoseconds() const { return now() - start_; }

 private:
  static double now() {
    timespec time{};
    ::clock_gettime(kClock, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  }
  double start_ = now();
};

using Stopwatch = StopwatchOf<CLOCK_THREAD_CPUTIME_ID>;
/// The same of all threads of the program, for what may use several.
using ProcessStopwatch = StopwatchOf<CLOCK_PROCESS_CPUTIME_ID>;
/// Time on the wall, for what waits for the disk.
using WallStopwatch = StopwatchOf<CLOCK_MONOTONIC>;

/// Times of one variant over the repetitions.
class Times {
 public:
  void add(double nanoseconds) { values_.push_back(nanoseconds); }
  [[nodiscard]] double least() const { return *std::min_element(values_.begin(), values_.end()); }
  [[nodiscard]] double median() const {
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }

 private:
  std::vector<double> values_;
};

}  // namespace stackpack::bench
