#include "app/listing/wait_runs.h"

#include <optional>
#include <utility>

#include "app/listing/thread_names.h"
#include "query/name_pattern.h"

namespace stackpack::app {

namespace {

constexpr std::size_t kRunsAtOnce = 4096;

// Puts the intervals of one thread after the other into runs.
class RunFinder {
 public:
  RunFinder(const WaitFilter& filter, const WaitRange& range, const ThreadNames& names,
            const std::vector<std::string>& reasons,
            const std::function<Status(std::span<const WaitRun>)>& visit)
      : filter_(filter), range_(range), names_(names), reasons_(reasons), visit_(visit) {
    ready_.reserve(kRunsAtOnce);
  }

  Status add(const WaitInterval& row) {
    if (row.pid != pid_ || row.tid != tid_) {
      if (const Status given = give_open(); !given) {
        return given;
      }
      begin_wait();
      pid_ = row.pid;
      tid_ = row.tid;
    }
    if (open_) {
      open_->next_reason = row.reason;
      if (const Status given = give_open(); !given) {
        return given;
      }
      begin_wait();
    }
    if (row.state == WaitState::kRunning) {
      next_.run = row;
      open_ = next_;
      fits_open_ = fits_;
    } else {
      add_wait(row);
    }
    return {};
  }

  Status end() {
    const Status given = give_open();
    return !given || ready_.empty() ? given : visit_(ready_);
  }

 private:
  void begin_wait() {
    next_ = {};
    fits_ = filter_.states.empty();
  }

  void add_wait(const WaitInterval& row) {
    const std::uint64_t length = row.to_ns - row.from_ns;
    if (row.state == WaitState::kUnknown || row.state == WaitState::kAwake ||
        row.state == WaitState::kExited) {
      return;
    }
    fits_ = fits_ || fits_state(filter_, row, reasons_);
    next_.wait_ns += length;
    next_.delay_ns += row.state == WaitState::kWoken ? length : 0;
    if (next_.wait.tid == kUnknownId || length > next_.wait.to_ns - next_.wait.from_ns ||
        (next_.wait.state != WaitState::kBlocked && row.state == WaitState::kBlocked)) {
      next_.wait = row;
    }
  }

  Status give_open() {
    if (!open_) {
      return {};
    }
    const WaitRun run = *std::exchange(open_, std::nullopt);
    const bool in_range = run.run.to_ns >= range_.from_ns && run.run.to_ns <= range_.to_ns;
    if (!in_range || !fits_open_ || run.wait_ns < filter_.longer_than_ns || !is_named(run.run)) {
      return {};
    }
    ready_.push_back(run);
    if (ready_.size() < kRunsAtOnce) {
      return {};
    }
    const Status visited = visit_(ready_);
    ready_.clear();
    return visited;
  }

  [[nodiscard]] bool is_named(const WaitInterval& row) const {
    return filter_.threads.empty() ||
           query::fits_any(names_.name(row.pid, row.tid, row.to_ns), filter_.threads) ||
           query::fits_any(names_.process_name(row.pid, row.to_ns), filter_.threads);
  }

  const WaitFilter& filter_;
  const WaitRange& range_;
  const ThreadNames& names_;
  const std::vector<std::string>& reasons_;
  const std::function<Status(std::span<const WaitRun>)>& visit_;
  std::vector<WaitRun> ready_;
  std::optional<WaitRun> open_;  // a run; what follows it says why it ended
  bool fits_open_ = false;
  WaitRun next_;  // the wait so far
  bool fits_ = false;
  std::uint32_t pid_ = kUnknownId;
  std::uint32_t tid_ = kUnknownId;
};

query::CaptureView view_of(const WaitTables& tables) {
  query::CaptureView view;
  view.processes = tables.processes;
  view.threads = tables.threads;
  view.source_firsts = tables.source_firsts;
  return view;
}

}  // namespace

Status visit_wait_runs(const Reader& reader, const WaitFilter& filter, const WaitTables& tables,
                       const std::function<Status(std::span<const WaitRun>)>& visit) {
  const ThreadNames names(tables.processes, tables.threads);
  RunFinder finder(filter, tables.range, names, tables.reasons, visit);
  Status status;
  // Waits before the range belong to runs in it.
  const Status read = reader.intervals({0, tables.range.to_ns, filter.pid, filter.tid},
                                       [&](std::span<const WaitInterval> rows) {
                                         for (std::size_t i = 0; i < rows.size() && status; ++i) {
                                           status = finder.add(rows[i]);
                                         }
                                         return status.has_value();
                                       });
  status = status ? read : status;
  return status ? finder.end() : status;
}

WakerNames::WakerNames(const WaitTables& tables) : threads_(view_of(tables)) {}

std::string_view WakerNames::name(const WaitInterval& row) const {
  if (row.waker_kind != WakerKind::kThread || row.waker == kUnknownId) {
    return {};
  }
  const std::uint32_t found = threads_.find(row.pid, row.waker, row.to_ns);
  return found == query::WakerThreads::kNone ? std::string_view() : threads_[found].name;
}

}  // namespace stackpack::app
