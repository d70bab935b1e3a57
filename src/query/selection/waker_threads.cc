#include "query/selection/waker_threads.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "capture/life_index.h"
#include "core/sort_rows.h"

namespace stackpack::query {

WakerThreads::WakerThreads(const CaptureView& view) : source_firsts_(view.source_firsts) {
  const capture::ProcessLives lives(view.processes);
  for (const Thread& thread : view.threads) {
    const std::uint64_t start = thread.start_ns == kUnknownTime ? 0 : thread.start_ns;
    std::string name = thread.name;
    const std::uint32_t process = lives.find(thread.pid, start).row;
    if (name.empty() && process != capture::kNoRow) {
      name = view.processes[process].name;
    }
    rows_.push_back({source_of(thread.pid), thread.tid, start, thread.pid, std::move(name)});
  }
  core::sort_rows(rows_, [](const Row& a, const Row& b) {
    return std::tuple(a.source, a.tid, a.start_ns) < std::tuple(b.source, b.tid, b.start_ns);
  });
}

std::uint32_t WakerThreads::source_of(std::uint32_t pid) const {
  const auto after =
      std::upper_bound(source_firsts_.begin(), source_firsts_.end(), std::uint64_t{pid});
  return static_cast<std::uint32_t>(after - source_firsts_.begin());
}

std::uint32_t WakerThreads::find(std::uint32_t pid, std::uint32_t tid,
                                 std::uint64_t time_ns) const {
  const std::tuple wanted(source_of(pid), tid, time_ns);
  const auto after =
      std::upper_bound(rows_.begin(), rows_.end(), wanted, [](const auto& place, const Row& row) {
        return place < std::tuple(row.source, row.tid, row.start_ns);
      });
  const auto is_it = [&wanted](const Row& row) {
    return row.source == std::get<0>(wanted) && row.tid == std::get<1>(wanted);
  };
  if (after != rows_.begin() && is_it(*std::prev(after))) {
    return static_cast<std::uint32_t>(std::prev(after) - rows_.begin());
  }
  // Its first life, which was seen later.
  return after != rows_.end() && is_it(*after) ? static_cast<std::uint32_t>(after - rows_.begin())
                                               : kNone;
}

}  // namespace stackpack::query
