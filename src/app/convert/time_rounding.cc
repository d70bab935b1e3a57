#include "app/convert/time_rounding.h"

#include <algorithm>

namespace stackpack::app {

namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};

void put_in_order(std::vector<std::pair<std::uint32_t, std::uint64_t>>& boundaries) {
  std::sort(boundaries.begin(), boundaries.end());
  boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
}

}  // namespace

TimeRounding::TimeRounding(std::uint64_t resolution_ns, const capture::SystemTables& tables)
    : resolution_ns_(resolution_ns) {
  for (const Process& process : tables.processes) {
    add(process.pid, process.start_ns);
  }
  for (const Thread& thread : tables.threads) {
    add(thread.pid, thread.start_ns);
  }
  for (const Module& module : tables.modules) {
    add(module.pid, module.start_ns);
    if (module.end_ns < kUnknownTime - 1) {  // the last time at which it is there
      add(module.pid, module.end_ns + 1);
    }
  }
}

void TimeRounding::add(std::uint32_t pid, std::uint64_t time_ns) {
  if (time_ns != kUnknownTime) {
    boundaries_.emplace_back(pid, time_ns);
  }
}

void TimeRounding::add_function_time(std::uint32_t pid, std::uint64_t time_ns, std::size_t most) {
  if (time_ns == kUnknownTime) {
    return;
  }
  if (!too_many_) {
    function_times_.emplace_back(pid, time_ns);
    if (function_times_.size() < most) {
      return;
    }
    put_in_order(function_times_);
    if (function_times_.size() <= most / 2) {
      return;  // the same ones again and again
    }
    keep_all_between();
  }
  kept_from_ns_ = std::min(kept_from_ns_, time_ns);
  kept_to_ns_ = std::max(kept_to_ns_, time_ns);
}

void TimeRounding::keep_all_between() {
  too_many_ = true;
  for (const Boundary& boundary : function_times_) {
    kept_from_ns_ = std::min(kept_from_ns_, boundary.second);
    kept_to_ns_ = std::max(kept_to_ns_, boundary.second);
  }
  function_times_ = {};
}

void TimeRounding::begin() {
  boundaries_.insert(boundaries_.end(), function_times_.begin(), function_times_.end());
  function_times_ = {};
  put_in_order(boundaries_);
  everywhere_ = {kKernelPid, 0, 0};
  known_.fill({});
}

// The last boundary of a process at or before a time; 0: there is none.
std::uint64_t TimeRounding::latest(std::uint32_t pid, std::uint64_t time_ns) {
  Known& known = pid == kKernelPid ? everywhere_ : known_[pid % known_.size()];
  if (known.pid != pid || time_ns < known.from_ns || time_ns >= known.until_ns) {
    const auto after =
        std::upper_bound(boundaries_.begin(), boundaries_.end(), Boundary(pid, time_ns));
    const bool any = after != boundaries_.begin() && (after - 1)->first == pid;
    const bool more = after != boundaries_.end() && after->first == pid;
    known = {pid, any ? (after - 1)->second : 0, more ? after->second : kNever};
  }
  return known.from_ns;
}

std::uint64_t TimeRounding::round(std::uint32_t pid, std::uint64_t time_ns) {
  if (time_ns == kUnknownTime || time_ns < last_ns_) {
    return time_ns;
  }
  std::uint64_t from = std::max(latest(pid, time_ns), latest(kKernelPid, time_ns));
  if (too_many_ && time_ns >= kept_from_ns_) {
    from = time_ns <= kept_to_ns_ ? time_ns : std::max(from, kept_to_ns_);
  }
  // Not before the last sample, although nothing of this process is between.
  std::uint64_t rounded = std::max(time_ns - time_ns % resolution_ns_, last_ns_);
  for (std::uint64_t step = resolution_ns_; rounded < from;) {
    step = step % 10 == 0 ? step / 10 : 1;
    rounded = time_ns - time_ns % step;
  }
  last_ns_ = rounded;
  return rounded;
}

}  // namespace stackpack::app
