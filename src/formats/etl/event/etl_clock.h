#pragma once

#include <cstdint>

#include "formats/etl/file/log_file_header.h"

namespace stackpack::etl {

/// Turns clock values of a trace into nanoseconds since 1970 (rule: StartTime goes with the clock
/// of the log file header event).
class EtlClock {
 public:
  explicit EtlClock(const LogFileHeader& header);

  /// Nanoseconds since 1970; 0 for moments before that, the largest value for those beyond 2554.
  [[nodiscard]] std::uint64_t unix_ns(std::uint64_t clock) const;

  /// False when the header has no usable frequency; 10 MHz is assumed then.
  [[nodiscard]] bool frequency_known() const { return frequency_known_; }

  /// False when the header has no start time; times then count from the start of the trace.
  [[nodiscard]] bool wall_time_known() const { return wall_time_known_; }

  [[nodiscard]] std::uint64_t frequency() const { return frequency_; }

 private:
  std::uint64_t origin_;
  std::uint64_t frequency_;
  std::uint64_t start_ns_ = 0;
  bool is_filetime_;
  bool frequency_known_ = true;
  bool wall_time_known_ = true;
};

/// Nanoseconds since 1970 of a FILETIME (100 ns since 1601), kept within 64 unsigned bits.
std::uint64_t unix_ns_of_filetime(std::uint64_t filetime);

}  // namespace stackpack::etl
