#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "capture/life_index.h"
#include "stackpack/model.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/sources.h"

namespace stackpack::app {

/// Finds the name a thread had at a time: the thread's own, else that of its process.
/// The spans must outlive it.
class ThreadNames {
 public:
  ThreadNames(std::span<const Process> processes, std::span<const Thread> threads);

  /// Empty when there is none.
  [[nodiscard]] std::string_view name(std::uint32_t pid, std::uint32_t tid,
                                      std::uint64_t time_ns) const;

  /// The name of the process alone.
  [[nodiscard]] std::string_view process_name(std::uint32_t pid, std::uint64_t time_ns) const;

 private:
  std::span<const Process> processes_;
  std::span<const Thread> threads_;
  capture::ProcessLives process_lives_;
  capture::ThreadLives thread_lives_;
};

/// Which processes of which captures the pids of a merged file are.
class RecordedProcesses {
 public:
  /// Errors: those of the reader.
  static Result<RecordedProcesses> of(const Reader& reader);

  struct Process {
    std::uint32_t source = 0;  ///< row of Reader::sources()
    std::uint32_t pid = 0;     ///< as recorded; kUnknownId: not recorded
  };
  [[nodiscard]] std::optional<Process> find(std::uint32_t pid) const;

  /// Whether the file is a merged one.
  [[nodiscard]] bool merged() const { return !sources_.empty(); }

 private:
  std::vector<MergedSource> sources_;
  std::vector<std::uint64_t> ends_;  // by source: the first pid after it
};

}  // namespace stackpack::app
