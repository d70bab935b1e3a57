#include "export/formats/perfetto_sched.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "core/sort_rows.h"
#include "export/formats/perfetto_fields.h"
#include <protozero/pbf_writer.hpp>

namespace stackpack::exporting {

namespace {

constexpr std::size_t kLeastRows = 4096;
constexpr std::size_t kBundleRows = 512;
constexpr std::uint32_t kDead = 16;

// By TASK_STATE_TO_CHAR_STR of include/linux/sched.h, as sched_switch has them since Linux 4.14.
std::uint32_t kernel_state(char letter) {
  constexpr std::array<std::pair<char, std::uint32_t>, 8> kStates = {
      {{'S', 1}, {'D', 2}, {'T', 4}, {'t', 8}, {'X', 16}, {'Z', 32}, {'P', 64}, {'I', 128}}};
  const auto found = std::find_if(kStates.begin(), kStates.end(),
                                  [letter](const auto& state) { return state.first == letter; });
  return found == kStates.end() ? 1 : found->second;
}

// Only what happened between two times may be asked for: threads and processors alone would leave
// others without an end.
bool takes_all_threads(SampleFilter filter) {
  filter.from.reset();
  filter.to.reset();
  filter.idle = {};
  return filter.empty();
}

}  // namespace

PerfettoSched::PerfettoSched(ExportJob& job, std::span<const std::string> reasons,
                             std::function<void(std::string_view packet)> put)
    : job_(job),
      reasons_(reasons),
      put_(std::move(put)),
      most_rows_(std::max(kLeastRows,
                          static_cast<std::size_t>(job.options.memory_limit / 4 / sizeof(Row)))),
      samples_are_of_next_(job.view().source_kind == "etl") {
  for (const Event& event : job.view().events) {
    const std::string_view name = event.name;
    const bool switches = name.ends_with("sched:sched_switch") || name == "Thread/CSwitch";
    const bool wakes = name.ends_with("sched:sched_waking") || name == "Thread/ReadyThread";
    kinds_.push_back(switches ? Kind::kSwitch : wakes ? Kind::kWaking : Kind::kNone);
  }
}

Status PerfettoSched::write() {
  const bool any = std::find(kinds_.begin(), kinds_.end(), Kind::kSwitch) != kinds_.end();
  if (!any || job_.view().source_count != 0 || !takes_all_threads(job_.options.filter)) {
    return {};
  }
  for (const Thread& thread : job_.view().threads) {
    names_.try_emplace({thread.pid, thread.tid}, thread.name);
  }
  for (std::optional<std::uint64_t> from = 0; from;) {
    std::optional<std::uint64_t> next;
    if (const Status read = collect(*from, next); !read) {
      return read;
    }
    drop_ties();
    if (const Status found = find_others(); !found) {
      return found;
    }
    follow_processors();
    write_bundles();
    from = next;
  }
  return {};
}

// The rows from a time on that fit; `next_ns`: the time of the first that did not.
Status PerfettoSched::collect(std::uint64_t from_ns, std::optional<std::uint64_t>& next_ns) {
  rows_.clear();
  return job_.selection.for_each([&](std::span<const query::SelectedSample> block) -> Status {
    for (const query::SelectedSample& sample : block) {
      const Kind kind = kinds_[sample.event];
      if (kind == Kind::kNone || next_ns || sample.time_ns < from_ns || sample.cpu == kUnknownId ||
          (sample.tid == kUnknownId && (kind == Kind::kWaking || samples_are_of_next_))) {
        continue;
      }
      if (rows_.size() >= most_rows_ && rows_.back().time_ns != sample.time_ns) {
        next_ns = sample.time_ns;
        continue;
      }
      Row row{.time_ns = sample.time_ns, .cpu = sample.cpu, .is_waking = kind == Kind::kWaking};
      const bool is_next = !row.is_waking && samples_are_of_next_;
      (is_next ? row.other_pid : row.pid) = sample.pid;
      (is_next ? row.other : row.tid) = sample.tid;
      row.is_known = !row.is_waking;
      rows_.push_back(row);
    }
    return {};
  });
}

void PerfettoSched::drop_ties() {
  Row* last = nullptr;
  for (Row& row : rows_) {
    if (row.is_waking) {
      continue;
    }
    if (last != nullptr && last->time_ns == row.time_ns) {
      row.is_known = false;
      last->is_known = false;
    }
    last = &row;
  }
}

Status PerfettoSched::find_others() {
  if (rows_.empty()) {
    return {};
  }
  WaitQuery query;
  query.from_ns = rows_.front().time_ns;
  query.to_ns = rows_.back().time_ns;
  return job_.reader->intervals(query, [this](std::span<const WaitInterval> intervals) {
    for (const WaitInterval& interval : intervals) {
      take(interval);
      take_woken(interval);
    }
    return true;
  });
}

// The begin of a run, and that of what comes after one, are a switch.
void PerfettoSched::take(const WaitInterval& interval) {
  const bool runs = interval.state == WaitState::kRunning;
  const bool left =
      interval.state == WaitState::kBlocked || interval.state == WaitState::kPreempted;
  if ((!runs && !left) || (interval.flags & kWaitOpenStart) != 0) {
    return;
  }
  const auto [begin, end] =
      std::equal_range(rows_.begin(), rows_.end(), Row{.time_ns = interval.from_ns},
                       [](const Row& a, const Row& b) { return a.time_ns < b.time_ns; });
  for (auto row = begin; row != end; ++row) {
    if (row->is_waking) {
      continue;
    }
    if (runs && !samples_are_of_next_) {
      row->other_pid = interval.pid;
      row->other = interval.tid;
    } else if (left && (samples_are_of_next_ || interval.tid == row->tid)) {
      row->pid = interval.pid;
      row->tid = interval.tid;
      row->state = state_of(interval);
    }
  }
}

void PerfettoSched::take_woken(const WaitInterval& interval) {
  if (interval.state != WaitState::kBlocked || interval.waker_kind == WakerKind::kNone) {
    return;
  }
  const auto [begin, end] =
      std::equal_range(rows_.begin(), rows_.end(), Row{.time_ns = interval.to_ns},
                       [](const Row& a, const Row& b) { return a.time_ns < b.time_ns; });
  for (auto row = begin; row != end; ++row) {
    if (row->is_waking && row->tid == interval.waker) {
      row->other_pid = interval.pid;
      row->other = interval.tid;
      row->is_known = true;
    }
  }
}

std::uint32_t PerfettoSched::state_of(const WaitInterval& interval) const {
  if (interval.state == WaitState::kPreempted) {
    return 0;
  }
  const std::string_view reason =
      interval.reason < reasons_.size() ? std::string_view(reasons_[interval.reason]) : "";
  return reason.size() == 1 ? kernel_state(reason.front()) : 1;
}

std::string_view PerfettoSched::name_of(std::uint32_t pid, std::uint32_t tid) const {
  if (tid == 0) {
    return "swapper";
  }
  const auto found = names_.find({pid, tid});
  return found == names_.end() ? std::string_view() : found->second;
}

// By processor. A thread that has ended is none when its last switch is recorded.
void PerfettoSched::follow_processors() {
  core::sort_rows(rows_, [](const Row& a, const Row& b) {
    return std::tie(a.cpu, a.time_ns, a.is_waking) < std::tie(b.cpu, b.time_ns, b.is_waking);
  });
  const Row* last = nullptr;
  for (Row& row : rows_) {
    if (row.is_waking) {
      continue;
    }
    if (row.tid == kUnknownId && last != nullptr && last->is_known && last->cpu == row.cpu) {
      row.pid = last->other_pid;
      row.tid = last->other;
      row.state = samples_are_of_next_ ? 0 : kDead;
    }
    last = &row;
  }
}

void PerfettoSched::write_bundles() {
  std::erase_if(rows_, [](const Row& row) { return !row.is_known; });
  for (std::size_t begin = 0; begin < rows_.size();) {
    std::string packet;
    {
      protozero::pbf_writer writer(packet);
      std::string bundle;
      protozero::pbf_writer(bundle).add_uint32(perfetto::ftrace_bundle::kCpu, rows_[begin].cpu);
      std::size_t end = begin;
      while (end < rows_.size() && end - begin < kBundleRows &&
             rows_[end].cpu == rows_[begin].cpu) {
        write_row(bundle, rows_[end++]);
      }
      begin = end;
      writer.add_message(perfetto::packet::kFtraceEvents, bundle);
    }
    put_(packet);
  }
}

void PerfettoSched::write_row(std::string& bundle, const Row& row) const {
  namespace sched = perfetto::sched;
  const auto add_name = [](protozero::pbf_writer& event, std::uint32_t field,
                           std::string_view name) {
    if (!name.empty()) {
      event.add_string(field, name.data(), name.size());
    }
  };
  protozero::pbf_writer bundled(bundle);
  protozero::pbf_writer outer(bundled, perfetto::ftrace_bundle::kEvent);
  outer.add_uint64(perfetto::ftrace_event::kTimestamp, row.time_ns);
  const bool knows_previous = row.tid != kUnknownId;
  if (knows_previous) {
    outer.add_uint32(perfetto::ftrace_event::kPid, row.tid);
  }
  if (row.is_waking) {
    protozero::pbf_writer waking(outer, perfetto::ftrace_event::kSchedWaking);
    add_name(waking, sched::kWakingName, name_of(row.other_pid, row.other));
    waking.add_int32(sched::kWakingPid, static_cast<std::int32_t>(row.other));
    return;
  }
  protozero::pbf_writer switched(outer, perfetto::ftrace_event::kSchedSwitch);
  if (knows_previous) {
    add_name(switched, sched::kPreviousName, name_of(row.pid, row.tid));
    switched.add_int32(sched::kPreviousPid, static_cast<std::int32_t>(row.tid));
    switched.add_int64(sched::kPreviousState, row.state);
  }
  add_name(switched, sched::kNextName, name_of(row.other_pid, row.other));
  switched.add_int32(sched::kNextPid, static_cast<std::int32_t>(row.other));
}

}  // namespace stackpack::exporting
