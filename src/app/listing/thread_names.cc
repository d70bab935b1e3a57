#include "app/listing/thread_names.h"

#include <algorithm>
#include <tuple>
#include <utility>

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

Result<RecordedProcesses> RecordedProcesses::of(const Reader& reader) {
  Result<std::vector<MergedSource>> sources = reader.sources();
  if (!sources) {
    return sources.error();
  }
  RecordedProcesses found;
  found.sources_ = std::move(*sources);
  std::uint64_t next = 1;
  for (const MergedSource& source : found.sources_) {
    next += source.pids.size();
    found.ends_.push_back(next);
  }
  return found;
}

std::optional<RecordedProcesses::Process> RecordedProcesses::find(std::uint32_t pid) const {
  const auto source = static_cast<std::size_t>(
      std::upper_bound(ends_.begin(), ends_.end(), std::uint64_t{pid}) - ends_.begin());
  if (pid == 0 || source == ends_.size()) {
    return std::nullopt;
  }
  const std::vector<std::uint32_t>& pids = sources_[source].pids;
  return Process{static_cast<std::uint32_t>(source),
                 pids[static_cast<std::size_t>(pid - (ends_[source] - pids.size()))]};
}

}  // namespace stackpack::app
