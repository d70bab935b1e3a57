#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "io/descriptor.h"
#include "io/open_requests.h"
#include "stackpack/result.h"

namespace stackpack::io {

/// What a confined process may use.
struct ProcessLimits {
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  ///< address space besides what there is
  unsigned cpu_seconds = 60;
  unsigned wall_seconds = 120;
  std::uint64_t answer_bytes = std::uint64_t{1} << 30;
  unsigned new_files = 0;  ///< that it may ask for besides those it gets
  /// Work all the same where the kernel has no filter of system calls, or refuses it: limits and
  /// closed files are all that confines the process then.
  bool without_filter = false;
};

/// How a confined process ended.
enum class ProcessEnd : std::uint8_t {
  kDone,         ///< its answer is whole
  kFailed,       ///< it gave up
  kOutOfMemory,  ///< the limit, or the machine's
  kOutOfTime,
  kCrashed,
  kKilled,  ///< by somebody else, or by the kernel for want of the machine's memory
  kAnswerTooLong,
  kNotConfined,  ///< it did not begin: the kernel refuses what confines it
};

/// Work on untrusted files in a process of its own: a copy of this one which has the given files
/// and nothing else open, may not make files, programs, processes or connections, nor signal or
/// limit another process, and ends when a limit is passed, or with this process. A file that it
/// opens is opened by this process, which decides (`open`).
///
/// The copy is made without running a program anew, so `work` runs in a process that has one
/// thread, whatever this one has: it must not wait for another thread. Locks of the C library's
/// allocator are free in the copy.
/// Threads: one at a time; any may start one.
class ConfinedProcess {
 public:
  using Bytes = std::vector<std::byte>;
  /// Returns the answer. An exception ends the process.
  using Work = std::function<Result<Bytes>()>;

  /// `files`: descriptors that stay open, under their numbers. `open`: opens what the process asks
  /// for, limits.new_files in all; called in proceed().
  /// Errors: kResource when there can be no further process.
  static Result<ConfinedProcess> start(std::span<const int> files, const ProcessLimits& limits,
                                       const Work& work, OpenFile open = {});

  ConfinedProcess(ConfinedProcess&&) noexcept;
  ConfinedProcess& operator=(ConfinedProcess&&) noexcept;
  ~ConfinedProcess();

  /// Takes in what there is of the answer, and opens what is asked for. True when the process has
  /// come to its end.
  bool proceed();

  /// Ends the process: end() is `end` then.
  void stop(ProcessEnd end);

  /// After proceed() gave true.
  [[nodiscard]] ProcessEnd end() const { return end_; }
  [[nodiscard]] const Bytes& answer() const { return answer_; }

  /// Waits until one of them can proceed, or for some time.
  static void wait_for_any(std::span<ConfinedProcess* const> processes, unsigned milliseconds);

 private:
  /// `start`: closed when the process may begin.
  ConfinedProcess(int pid, Descriptor pipe, Descriptor start, const ProcessLimits& limits,
                  OpenFile open);
  bool take_answer();
  void take_bytes(std::span<const std::byte> bytes);
  void answer_requests();
  void reap();

  int pid_ = -1;
  Descriptor pipe_;
  Descriptor start_;
  ProcessLimits limits_;
  std::int64_t deadline_ms_ = 0;
  ProcessEnd end_ = ProcessEnd::kFailed;
  bool stopped_ = false;  // end_ is settled although the process did not end by itself
  Bytes head_;            // what the process says of itself before it begins
  OpenRequests requests_;
  OpenFile open_;
  unsigned opened_ = 0;
  Bytes answer_;
};

}  // namespace stackpack::io
