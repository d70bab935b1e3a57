#include "app/listing/thread_names.h"

#include <tuple>

namespace stackpack::app {

ThreadNames::ThreadNames(std::span<const Process> processes, std::span<const Thread> threads)
    : processes_(processes), threads_(threads), process_lives_(processes), thread_lives_(threads) {}

std::string_view ThreadNames::process_name(std::uint32_t pid, std::uint64_t time_ns) const {
  const std::uint32_t row = process_lives_.find(pid, time_ns).row;
  return row != capture::kNoRow ? std::string_view(processes_[row].name) : std::string_view();
}

std::string_view ThreadNames::name(std::uint32_t pid, std::uint32_t tid,
                                   std::uint64_t time_ns) const {
  const std::uint32_t row = thread_lives_.find(std::tuple(pid, tid), time_ns).row;
  if (row != capture::kNoRow && !threads_[row].name.empty()) {
    return threads_[row].name;
  }
  return process_name(pid, time_ns);
}

}  // namespace stackpack::app
