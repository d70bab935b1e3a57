#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stackpack::perf {

/// What prev_state of sched:sched_switch says. Its bits differ from kernel to kernel; the print
/// format of the recording one has them:
///
///   (REC->prev_state & MASK) ? __print_flags(REC->prev_state & MASK, "|", { 0x01, "S" }, ...) :
///   "R", REC->prev_state & PLUS ? "+" : ""
///
/// Without that, they are those of Linux 4.14 and later.
class TaskStates {
 public:
  TaskStates() = default;
  explicit TaskStates(std::string_view print_format);

  /// The states as letters, `S`, `D|T`, ...; `R`: able to run.
  [[nodiscard]] std::string letters(std::uint64_t state) const;

  /// Whether the thread was preempted, and would have run on.
  [[nodiscard]] bool preempted(std::uint64_t state) const { return (state & plus_) != 0; }

 private:
  std::vector<std::pair<std::uint64_t, std::string>> bits_{{0x01, "S"}, {0x02, "D"}, {0x04, "T"},
                                                           {0x08, "t"}, {0x10, "X"}, {0x20, "Z"},
                                                           {0x40, "P"}, {0x80, "I"}};
  std::uint64_t mask_ = 0xff;
  std::uint64_t plus_ = 0x100;
};

}  // namespace stackpack::perf
