#include "app/convert/wait_pass.h"

#include <algorithm>
#include <utility>

#include "core/sort_rows.h"
#include "waits/wait_engine.h"

namespace stackpack::app {

using capture::SchedKind;

namespace {

// A capture that does not say so is of the whole system when who runs next on a processor is who
// leaves it next, nearly always. Switch-outs of idle threads may be missing.
Result<bool> follows_processors(SchedSpool& sched) {
  constexpr std::uint64_t kGoodForEachBad = 4;
  constexpr std::size_t kMostProcessors = std::size_t{1} << 16;
  std::unordered_map<std::uint32_t, std::uint32_t> next;
  std::uint64_t good = 0;
  std::uint64_t bad = 0;
  const Status visited = sched.visit([&](const SchedRow& row) {
    if (row.kind == SchedKind::kSwitch) {
      if (const auto known = next.find(row.cpu); known != next.end()) {
        good += known->second == row.tid ? 1U : 0U;
        bad += known->second != row.tid && known->second != 0 ? 1U : 0U;
        known->second = row.other;
      } else if (next.size() < kMostProcessors) {
        next.emplace(row.cpu, row.other);
      }
    }
    return Status();
  });
  return visited ? Result<bool>(good > kGoodForEachBad * bad) : Result<bool>(visited.error());
}

Result<bool> is_system_wide(CaptureSpool& capture, const waits::WaitPlan& plan) {
  const capture::WaitFacts& facts = capture.facts_of_waits();
  if (plan.has_handovers || facts.system_wide) {
    return plan.has_handovers || *facts.system_wide;
  }
  return plan.has_switches ? follows_processors(capture.sched())
                           : Result<bool>(facts.has_wide_records);
}

Result<StackId> stack_of(const SchedRow& row, CaptureSpool& capture, PackedStacks& stacks) {
  NodeRef node{row.segment, 0, row.node};
  if (row.pending != SpooledSample::kNoPending) {
    const Result<NodeRef> resolved = capture.resolved(row.pending);
    if (!resolved) {
      return resolved.error();
    }
    node = *resolved;
  }
  return node.node == 0 ? Result<StackId>(kNoStack) : stacks.id_of(node);
}

void report(const waits::WaitCounters& counters, capture::LossCounters& losses) {
  const std::pair<std::string_view, std::uint64_t> notices[] = {
      {waits::kWithoutWaking, counters.without_waking},
      {waits::kCutByLost, counters.cut_by_lost},
      {waits::kSwitchInsMissing, counters.switch_ins_missing},
      {waits::kBrokenRuns, counters.broken_runs},
      {waits::kWakingsOfRunnable, counters.wakings_of_runnable},
      {waits::kEventsInGaps, counters.events_in_gaps},
  };
  for (const auto& [name, count] : notices) {
    if (count != 0) {
      losses.add(name, LossKind::kNotice, count);
    }
  }
  if (counters.threads_over_limit != 0) {
    losses.add(waits::kThreadsOverLimit, LossKind::kDamage, counters.threads_over_limit);
  }
}

}  // namespace

const std::vector<std::string_view>& wait_loss_names() {
  static const std::vector<std::string_view> names = {
      waits::kWithoutWaking,     waits::kCutByLost,    waits::kSwitchInsMissing, waits::kBrokenRuns,
      waits::kWakingsOfRunnable, waits::kEventsInGaps, waits::kThreadsOverLimit};
  return names;
}

ProcessOfThread::ProcessOfThread(const std::vector<Thread>& threads) {
  for (const Thread& thread : threads) {
    lives_[thread.tid].push_back(
        {thread.start_ns == kUnknownTime ? 0 : thread.start_ns, thread.pid});
  }
  for (auto& [tid, lives] : lives_) {
    core::sort_rows(lives, [](const Life& a, const Life& b) { return a.start_ns < b.start_ns; });
  }
}

std::uint32_t ProcessOfThread::find(std::uint32_t tid, std::uint64_t time_ns) {
  if (tid != last_tid_ || last_lives_ == nullptr) {
    const auto known = lives_.find(tid);
    last_tid_ = tid;
    last_lives_ = known == lives_.end() ? nullptr : &known->second;
  }
  if (last_lives_ == nullptr) {
    return kUnknownId;
  }
  const std::vector<Life>& lives = *last_lives_;
  const auto after =
      std::upper_bound(lives.begin(), lives.end(), time_ns,
                       [](std::uint64_t time, const Life& life) { return time < life.start_ns; });
  return after == lives.begin() ? lives.front().pid : std::prev(after)->pid;
}

Status find_waits(CaptureSpool& capture, PackedStacks& stacks, IntervalSort& intervals) {
  SchedSpool& sched = capture.sched();
  if (!sched.has_waits()) {
    return {};
  }
  waits::WaitPlan plan = sched.plan(false);
  const Result<bool> wide = is_system_wide(capture, plan);
  if (!wide) {
    return wide.error();
  }
  plan = sched.plan(*wide);
  Status status;
  waits::WaitEngine engine(plan, [&](const WaitInterval& interval) {
    if (status) {
      status = intervals.add(IntervalRow{interval});
    }
  });
  const Status visited = sched.visit([&](const SchedRow& row) -> Status {
    waits::SchedEvent event;
    const capture::SchedRecord& record = row;
    static_cast<capture::SchedRecord&>(event) = record;
    const Result<StackId> stack = stack_of(row, capture, stacks);
    if (!stack) {
      return stack.error();
    }
    event.stack = *stack;
    engine.take(event);
    return status;
  });
  if (!visited) {
    return visited;
  }
  engine.finish();
  report(engine.counters(), capture.losses());
  return status;
}

}  // namespace stackpack::app
