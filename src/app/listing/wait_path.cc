#include "app/listing/wait_path.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/sort_rows.h"
#include "stackpack/sources.h"

namespace stackpack::app {

namespace {

constexpr std::string_view kBirth = "new";

Error usage(std::string_view text) {
  return {ErrorCode::kUsage, kNoOffset, text};
}

}  // namespace

std::uint32_t PathFinder::source_of(std::uint32_t pid) const {
  const auto after = std::upper_bound(source_firsts_.begin(), source_firsts_.end(), pid);
  return static_cast<std::uint32_t>(after - source_firsts_.begin());
}

void PathFinder::make_lanes() {
  const auto place = [this](const WaitInterval& row) {
    return std::tuple(source_of(row.pid), row.tid, row.from_ns, row.to_ns);
  };
  const auto before = [&place](const auto& a, const auto& b) { return place(a) < place(b); };
  if (!std::is_sorted(rows_.begin(), rows_.end(), before)) {
    core::sort_rows(rows_, before);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::uint32_t source = source_of(rows_[i].pid);
    if (lanes_.empty() || lanes_.back().source != source || lanes_.back().tid != rows_[i].tid) {
      lanes_.push_back({source, rows_[i].tid, i, i});
    }
    lanes_.back().end = i + 1;
  }
}

const PathFinder::Lane* PathFinder::lane_of(std::uint32_t source, std::uint32_t tid) const {
  const auto found = std::lower_bound(lanes_.begin(), lanes_.end(), std::tuple(source, tid),
                                      [](const Lane& lane, const auto& wanted) {
                                        return std::tuple(lane.source, lane.tid) < wanted;
                                      });
  return found != lanes_.end() && found->source == source && found->tid == tid ? &*found : nullptr;
}

bool PathFinder::is_visited(const Lane* lane) const {
  return std::any_of(visits_.begin(), visits_.end(),
                     [lane](const Visit& visit) { return visit.lane == lane; });
}

bool PathFinder::is_birth(const WaitInterval& row) const {
  return row.state == WaitState::kWoken && row.reason < reasons_.size() &&
         reasons_[row.reason] == kBirth;
}

void PathFinder::visit(const Lane& lane, std::uint64_t from_ns, std::uint64_t to_ns,
                       StackId woke_stack) {
  const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(lane.begin);
  const auto end = rows_.begin() + static_cast<std::ptrdiff_t>(lane.end);
  const auto after = std::lower_bound(
      begin, end, to_ns,
      [](const WaitInterval& row, std::uint64_t time_ns) { return row.from_ns < time_ns; });
  visits_.push_back(
      {&lane, from_ns, to_ns, static_cast<std::size_t>(after - rows_.begin()), woke_stack});
}

// A step of the innermost thread, up to where it has come.
void PathFinder::give(const WaitInterval& row, std::uint64_t from_ns, PathEnd end) {
  Visit& at = visits_.back();
  PathStep step{from_ns, at.to_ns, row, end, static_cast<std::uint32_t>(visits_.size() - 1)};
  if (row.state == WaitState::kRunning) {
    step.woke_stack = at.woke_stack;
  }
  at.woke_stack = kNoStack;
  at.to_ns = from_ns;
  steps_.push_back(step);
}

// Goes on at the waker of an interval, if that can be done.
PathEnd PathFinder::follow(const WaitInterval& row, std::uint64_t from_ns, std::uint64_t to_ns) {
  if (row.waker_kind == WakerKind::kInterrupt || row.waker_kind == WakerKind::kDeferred) {
    return PathEnd::kInterrupt;
  }
  if (row.waker_kind == WakerKind::kNone || (row.flags & kWaitHint) != 0) {
    return PathEnd::kNoWaker;
  }
  const Lane* const lane = lane_of(visits_.back().lane->source, row.waker);
  if (lane == nullptr) {
    return PathEnd::kNoIntervals;
  }
  if (is_visited(lane)) {
    return PathEnd::kCircle;
  }
  if (visits_.size() > kMostWakers) {
    return PathEnd::kTooDeep;
  }
  visits_.back().to_ns = from_ns;
  visits_.back().woke_stack = kNoStack;
  visit(*lane, from_ns, to_ns, row.waker_stack);
  return PathEnd::kNone;
}

// One step of the innermost thread.
void PathFinder::go_back() {
  Visit& at = visits_.back();
  WaitInterval gap;
  gap.tid = at.lane->tid;
  gap.pid = rows_[at.lane->begin].pid;
  if (at.next == at.lane->begin) {
    return give(gap, at.from_ns, PathEnd::kNone);
  }
  const WaitInterval& row = rows_[at.next - 1];
  if (row.to_ns < at.to_ns) {
    gap.pid = row.pid;
    return give(gap, std::max(row.to_ns, at.from_ns), PathEnd::kNone);
  }
  --at.next;
  if (row.from_ns >= at.to_ns) {
    return;  // a block of length 0
  }
  const std::uint64_t from_ns = std::max(row.from_ns, at.from_ns);
  if (row.state == WaitState::kBlocked) {
    const PathEnd end = follow(row, from_ns, at.to_ns);
    return end == PathEnd::kNone ? void() : give(row, from_ns, end);
  }
  const bool born_here = is_birth(row) && row.from_ns > at.from_ns;
  const std::uint64_t first_ns = at.from_ns;
  give(row, from_ns, PathEnd::kNone);
  if (born_here && visits_.size() > 1) {
    follow(row, first_ns, from_ns);  // the thread itself is not there: its creator
  }
}

Result<const PathFinder::Lane*> PathFinder::lane_of_path(std::uint32_t tid,
                                                         std::optional<std::uint32_t> pid) const {
  const Lane* lane = nullptr;
  for (const Lane& one : lanes_) {
    if (one.tid != tid || (pid && one.source != source_of(*pid))) {
      continue;
    }
    if (lane != nullptr) {
      return usage("threads of several captures have this id: choose one with --pid");
    }
    lane = &one;
  }
  return lane != nullptr ? Result<const Lane*>(lane)
                         : usage("the thread has no intervals in the time range");
}

Result<WaitPath> PathFinder::walk(std::uint32_t tid, std::optional<std::uint32_t> pid,
                                  const WaitRange& range) {
  make_lanes();
  const Result<const Lane*> found = lane_of_path(tid, pid);
  if (!found) {
    return found.error();
  }
  const Lane* const lane = *found;
  WaitPath path;
  path.tid = tid;
  path.pid = rows_[lane->end - 1].pid;
  path.from_ns = std::max(range.from_ns, rows_[lane->begin].from_ns);
  path.to_ns = std::min(range.to_ns, rows_[lane->end - 1].to_ns);
  if (path.from_ns >= path.to_ns) {
    return usage("the thread has no intervals in the time range");
  }
  visit(*lane, path.from_ns, path.to_ns, kNoStack);
  while (!visits_.empty()) {
    if (visits_.back().to_ns <= visits_.back().from_ns) {
      visits_.pop_back();
    } else {
      go_back();
    }
  }
  std::reverse(steps_.begin(), steps_.end());
  path.steps = std::move(steps_);
  return path;
}

Result<WaitPath> find_wait_path(const Reader& reader, const WaitFilter& filter,
                                const WaitTables& tables) {
  PathFinder finder(tables.reasons, tables.source_firsts);
  const Status read = reader.intervals({tables.range.from_ns, tables.range.to_ns, {}, {}},
                                       [&finder](std::span<const WaitInterval> rows) {
                                         for (const WaitInterval& row : rows) {
                                           finder.add(row);
                                         }
                                         return true;
                                       });
  return read ? finder.walk(*filter.tid, filter.pid, tables.range) : Result<WaitPath>(read.error());
}

}  // namespace stackpack::app
