#include "app/merge/source_threads.h"

#include <algorithm>
#include <iterator>

#include "core/sort_rows.h"

namespace stackpack::app {

Result<SourceThreads> SourceThreads::of(const Reader& reader, InputProcesses& processes) {
  const auto rows = reader.threads();
  if (!rows) {
    return rows.error();
  }
  SourceThreads threads;
  for (const Thread& row : *rows) {
    const auto process = processes.find(row.pid);
    if (!process) {
      return process.error();
    }
    threads.lives_[{process->rank, row.tid}].push_back(
        {row.start_ns == kUnknownTime ? 0 : row.start_ns, row.pid});
  }
  for (auto& [thread, lives] : threads.lives_) {
    core::sort_rows(lives, [](const Life& a, const Life& b) { return a.start_ns < b.start_ns; });
  }
  return threads;
}

std::uint32_t SourceThreads::pid_of(std::uint32_t rank, std::uint32_t tid,
                                    std::uint64_t time_ns) const {
  const auto known = lives_.find({rank, tid});
  if (known == lives_.end()) {
    return kUnknownId;
  }
  const std::vector<Life>& lives = known->second;
  const auto after =
      std::upper_bound(lives.begin(), lives.end(), time_ns,
                       [](std::uint64_t time, const Life& life) { return time < life.start_ns; });
  return after == lives.begin() ? lives.front().pid : std::prev(after)->pid;
}

}  // namespace stackpack::app
