#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "capture/life_index.h"
#include "stackpack/model.h"

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

}  // namespace stackpack::app
