#include "waits/wait_engine.h"

#include <algorithm>
#include <utility>

#include "capture/wait_facts.h"

namespace stackpack::waits {

ThreadState* ThreadTable::find(std::uint32_t tid) {
  const std::uint32_t number = numbers_.find(tid);
  return number == core::NumberTable<std::uint32_t>::kNone ? nullptr : &threads_[number];
}

ThreadState* ThreadTable::get(std::uint32_t tid, std::uint64_t since) {
  std::uint32_t number = numbers_.find(tid);
  if (number == core::NumberTable<std::uint32_t>::kNone) {
    if (threads_.size() == kMostThreads) {
      return nullptr;
    }
    number = numbers_.number(tid);
    ThreadState& fresh = threads_.emplace_back();
    fresh.tid = tid;
    fresh.since = since;
  }
  ThreadState& thread = threads_[number];
  if (!thread.touched) {
    thread.touched = true;
    touched_.push_back(number);
  }
  return &thread;
}

void RunningThreads::set(std::uint32_t cpu, std::uint32_t tid) {
  std::uint32_t number = processors_.find(cpu);
  if (number == core::NumberTable<std::uint32_t>::kNone) {
    if (threads_.size() == kMost) {
      return;
    }
    number = processors_.number(cpu);
    threads_.emplace_back();
  }
  threads_[number] = tid;
}

void RunningThreads::clear() {
  processors_.clear();
  threads_.clear();
}

using capture::SchedKind;
using capture::WaitFacts;

namespace {

// A sample may still see a thread that leaves, so long after its switch-out.
constexpr std::uint64_t kLeavingNs = 20'000;

WaitState stored(ThreadState::State state) {
  using State = ThreadState::State;
  switch (state) {
    case State::kRunning:
      return WaitState::kRunning;
    case State::kBlocked:
      return WaitState::kBlocked;
    case State::kWoken:
      return WaitState::kWoken;
    case State::kPreempted:
      return WaitState::kPreempted;
    case State::kAwake:
      return WaitState::kAwake;
    case State::kExited:
      return WaitState::kExited;
    default:
      return WaitState::kUnknown;
  }
}

Waker waker_of(const SchedEvent& event, bool hint) {
  const bool interrupt = (event.flags & capture::kSchedInterrupt) != 0;
  return {interrupt ? WakerKind::kInterrupt : WakerKind::kThread, hint, event.other, event.stack};
}

}  // namespace

WaitEngine::WaitEngine(const WaitPlan& plan, Emit emit)
    : plan_(plan), emit_(std::move(emit)), known_from_(plan.start_ns) {}

ThreadState* WaitEngine::thread(std::uint32_t tid) {
  ThreadState* const found = threads_.get(tid, known_from_);
  counters_.threads_over_limit += found == nullptr ? 1 : 0;
  return found;
}

// The interval that the thread is in ends. One of no length is nothing, but for a block: the thread
// was woken before it had left.
void WaitEngine::close(ThreadState& thread, std::uint64_t to, std::uint8_t flag,
                       const Waker& waker) {
  if (thread.state == State::kNone || (thread.state == State::kExited && plan_.has_handovers)) {
    return;
  }
  const bool instant =
      to == thread.since && thread.state == State::kBlocked && (flag & kWaitOpenEnd) == 0;
  if (to <= thread.since && !instant) {
    return;
  }
  WaitInterval interval;
  interval.tid = thread.tid;
  interval.from_ns = thread.since;
  interval.to_ns = to;
  interval.state = stored(thread.state);
  interval.reason = thread.reason;
  interval.flags = static_cast<std::uint8_t>((thread.open ? kWaitOpenStart : 0) | flag |
                                             (waker.hint ? kWaitHint : 0));
  interval.stack = thread.state == State::kRunning ? kNoStack : thread.stack;
  interval.waker_kind = waker.kind;
  interval.waker = waker.kind == WakerKind::kNone ? 0 : waker.tid;
  interval.waker_stack = waker.stack;
  counters_.without_waking += (flag & kWaitNoWaking) != 0 ? 1 : 0;
  give(thread, interval);
}

// With callstacks at switch-ins, intervals wait for it.
void WaitEngine::give(ThreadState& thread, const WaitInterval& interval) {
  if (plan_.own_threads != nullptr &&
      plan_.own_threads->find(thread.tid) == core::NumberTable<std::uint32_t>::kNone) {
    return;
  }
  if (!plan_.has_handovers || interval.state == WaitState::kRunning) {
    emit_(interval);
    return;
  }
  if (thread.held_count == ThreadState::kMostHeld) {
    release(thread, kNoStack);
  }
  thread.held[thread.held_count++] = interval;
}

// What waits for a callstack goes on with it.
void WaitEngine::release(ThreadState& thread, StackId stack) {
  for (std::size_t i = 0; i < thread.held_count; ++i) {
    thread.held[i].stack = stack;
    emit_(thread.held[i]);
  }
  thread.held_count = 0;
}

void WaitEngine::go(ThreadState& thread, State state, std::uint64_t at, std::uint32_t reason,
                    StackId stack) {
  thread.state = state;
  thread.since = at;
  thread.reason = reason;
  thread.stack = stack;
  thread.open = false;
}

// A processor goes on without the thread that should run there.
void WaitEngine::break_run(std::uint32_t tid, std::uint64_t at) {
  ThreadState* const found = tid == 0 ? nullptr : threads_.find(tid);
  if (found != nullptr && found->state == State::kRunning) {
    ++counters_.broken_runs;
    ThreadState& broken = *thread(tid);
    broken.state = State::kUnknown;
    close(broken, at, kWaitCut);
    go(broken, State::kUnknown, at);
  }
}

void WaitEngine::gap(std::uint64_t from, std::uint64_t until) {
  in_gap_ = true;
  gap_until_ = std::max(gap_until_, until);
  known_from_ = std::max(plan_.start_ns, gap_until_);
  threads_.take_touched([&](ThreadState& thread) {
    if (thread.state != State::kNone && thread.state != State::kExited &&
        thread.state != State::kUnknown) {
      if (from > thread.since || plan_.has_handovers) {
        close(thread, from, kWaitCut);
      }
      go(thread, State::kUnknown, std::max(from, thread.since));
      ++counters_.cut_by_lost;
    }
    release(thread, kNoStack);
    thread.has_pend = false;
    thread.switch_seen = false;
    thread.out_stack = kNoStack;
  });
  running_.clear();
}

void WaitEngine::apply_first_gaps() {
  if (has_first_gap_) {
    has_first_gap_ = false;
    gap(plan_.start_ns, first_gap_until_);
  }
}

void WaitEngine::take(const SchedEvent& event) {
  if (event.kind == SchedKind::kGap && (event.flags & capture::kSchedFromStart) != 0) {
    has_first_gap_ = true;
    first_gap_until_ = std::max(first_gap_until_, event.until_ns);
    return;
  }
  if (event.time_ns > plan_.start_ns) {
    apply_first_gaps();
  }
  if (event.kind == SchedKind::kGap) {
    gap(event.time_ns, event.until_ns);
    return;
  }
  // Where callstacks come with switch-ins, a gap ends with the first event after it.
  if (in_gap_ &&
      (event.time_ns < gap_until_ || (event.time_ns == gap_until_ && !plan_.has_handovers))) {
    counters_.events_in_gaps += event.kind != SchedKind::kStackOf ? 1 : 0;
    return;
  }
  dispatch(event);
}

void WaitEngine::dispatch(const SchedEvent& event) {
  switch (event.kind) {
    case SchedKind::kSwitch:
      return on_switch(event);
    case SchedKind::kSwitchOut:
      return on_switch_out(event);
    case SchedKind::kSwitchIn:
      return on_switch_in(event);
    case SchedKind::kOutStack:
      return on_out_stack(event);
    case SchedKind::kWaking:
      return wake(event, waker_of(event, false), false);
    case SchedKind::kWakeup:
      return on_wakeup(event);
    case SchedKind::kNewThread:
      return wake(event, waker_of(event, false), true);
    case SchedKind::kFork:
      return on_fork(event);
    case SchedKind::kExit:
      return on_exit(event);
    case SchedKind::kSeen:
      return on_seen(event);
    case SchedKind::kHandover:
      return on_handover(event);
    case SchedKind::kReady:
      return on_ready(event);
    case SchedKind::kBorn:
      return on_born(event);
    case SchedKind::kStackOf:
      return keep_stack(event);
    case SchedKind::kWaitBegin:
      return on_wait_begin(event);
    case SchedKind::kWaitEnd:
      return on_wait_end(event);
    case SchedKind::kGap:
      return;
  }
}

void WaitEngine::on_out_stack(const SchedEvent& event) {
  if (ThreadState* const leaving =
          plan_.has_switches || event.tid == 0 ? nullptr : thread(event.tid)) {
    leaving->out_stack = event.stack;
  }
}

void WaitEngine::on_wakeup(const SchedEvent& event) {
  if (!plan_.has_wakings) {
    wake(event, waker_of(event, true), false);
  }
}

void WaitEngine::on_fork(const SchedEvent& event) {
  ThreadState* const born = plan_.has_births ? nullptr : thread(event.tid);
  if (born != nullptr && born->state == State::kNone && event.time_ns >= plan_.start_ns) {
    go(*born, State::kWoken, event.time_ns, WaitFacts::kNewReason);
  }
}

// What the thread does ends here: a recording of some threads has no switch-out after it.
void WaitEngine::on_exit(const SchedEvent& event) {
  const ThreadState* const known = threads_.find(event.tid);
  if (known == nullptr || known->state == State::kNone || known->state == State::kExited) {
    return;
  }
  ThreadState& ended = *thread(event.tid);
  if (ended.state == State::kPreempted || ended.state == State::kWoken) {
    ended.state = State::kAwake;
  } else if (ended.state == State::kBlocked) {
    ended.state = State::kUnknown;
  }
  close(ended, event.time_ns);
  ended.state = State::kExited;
  ended.since = event.time_ns;
}

// A thread that exits has no id any more when it leaves its processor.
bool WaitEngine::has_ended(std::uint32_t tid) {
  const ThreadState* const known = threads_.find(tid);
  return tid == kUnknownId || (known != nullptr && known->state == State::kExited);
}

void WaitEngine::on_switch(const SchedEvent& event) {
  if (plan_.system_wide) {
    if (const std::uint32_t* const expected = running_.find(event.cpu);
        expected != nullptr && *expected != event.tid) {
      // Others ran there before: when this one began is not recorded.
      if (event.tid != 0 && threads_.find(event.tid) == nullptr) {
        if (ThreadState* const first_seen = thread(event.tid)) {
          first_seen->state = State::kUnknown;
        }
      }
      break_run(*expected, event.time_ns);
    }
    running_.set(event.cpu, event.other);
  }
  if (event.tid != 0) {
    if (ThreadState* const leaving = thread(event.tid)) {
      leave(*leaving, event, event.stack);
      leaving->switch_seen = true;
    }
  }
  if (plan_.system_wide || (threads_.find(event.other) != nullptr && !has_ended(event.other))) {
    enter(event.other, event.time_ns);
  }
}

// A thread stops running.
void WaitEngine::leave(ThreadState& thread, const SchedEvent& event, StackId stack) {
  const std::uint64_t at = event.time_ns;
  if (thread.state == State::kNone) {
    thread.state = State::kRunning;
    thread.open = true;
  } else if (thread.state == State::kBlocked || thread.state == State::kPreempted ||
             thread.state == State::kWoken) {
    ++counters_.switch_ins_missing;
    close_awake(thread, at);
    thread.since = at;
    thread.state = State::kNone;
  }
  close(thread, at);
  if ((event.flags & capture::kSchedExit) != 0) {
    thread.state = State::kExited;
    thread.since = at;
  } else if ((event.flags & capture::kSchedRunnable) != 0) {
    go(thread, State::kPreempted, at, event.reason, stack);
    thread.has_pend = false;
  } else {
    go(thread, State::kBlocked, at, event.reason, stack);
  }
}

// Up to now its switch-in was not recorded. Able to run it waited and then ran, we do not know from
// when on; blocked it was woken, and ran.
void WaitEngine::close_awake(ThreadState& thread, std::uint64_t at) {
  const std::uint8_t flag = plan_.system_wide ? kWaitCut : 0;
  if (thread.state == State::kBlocked) {
    thread.state = State::kUnknown;
    close(thread, at, flag);
  } else {
    thread.state = State::kAwake;
    close(thread, at, flag, thread.waker);
  }
  go(thread, State::kUnknown, at);
}

// A thread begins to run.
void WaitEngine::enter(std::uint32_t tid, std::uint64_t at) {
  ThreadState* const found = tid == 0 ? nullptr : thread(tid);
  if (found == nullptr || found->state == State::kRunning) {
    return;
  }
  ThreadState& thread = *found;
  switch (thread.state) {
    case State::kBlocked:
      if (thread.has_pend) {  // woken before its switch-out was complete: it never blocked
        const StackId stack = thread.stack;
        const std::uint32_t reason = thread.reason;
        close(thread, thread.since, 0, thread.pend);
        go(thread, State::kWoken, thread.since, reason, stack);
        close(thread, at, 0, thread.pend);
      } else {
        close(thread, at, kWaitNoWaking);
      }
      break;
    case State::kWoken:
      close(thread, at, 0, thread.waker);
      break;
    case State::kNone:
      thread.state = State::kUnknown;
      thread.open = true;
      close(thread, at);
      break;
    case State::kExited:
      break;
    default:
      close(thread, at);
      break;
  }
  thread.has_pend = false;
  go(thread, State::kRunning, at);
}

// Somebody makes a thread able to run.
void WaitEngine::wake(const SchedEvent& event, const Waker& waker, bool is_new) {
  ThreadState* const found = event.tid == 0 ? nullptr : thread(event.tid);
  if (found == nullptr) {
    return;
  }
  ThreadState& thread = *found;
  const std::uint64_t at = event.time_ns;
  if (is_new || thread.state == State::kExited) {
    go(thread, State::kWoken, at, WaitFacts::kNewReason);
    thread.waker = waker;
    thread.has_pend = false;
    return;
  }
  switch (thread.state) {
    case State::kNone:  // blocked since before the recording
      thread.state = State::kBlocked;
      thread.reason = WaitFacts::kUnknownReason;
      thread.open = true;
      [[fallthrough]];
    case State::kBlocked: {
      const StackId stack = thread.stack;
      const std::uint32_t reason = thread.reason;
      close(thread, at, 0, waker);
      go(thread, State::kWoken, at, reason, stack);
      thread.waker = waker;
      thread.has_pend = false;
      break;
    }
    case State::kUnknown:
      close(thread, at);
      go(thread, State::kWoken, at, WaitFacts::kUnknownReason);
      thread.waker = waker;
      break;
    case State::kRunning:
      thread.pend = waker;
      thread.has_pend = true;
      break;
    default:
      ++counters_.wakings_of_runnable;
      break;
  }
}

void WaitEngine::on_switch_out(const SchedEvent& event) {
  ThreadState* const found = event.tid == 0 || has_ended(event.tid) ? nullptr : thread(event.tid);
  if (found == nullptr) {
    return;
  }
  ThreadState& thread = *found;
  const StackId stack = std::exchange(thread.out_stack, kNoStack);
  // The switch itself came just before.
  if (plan_.has_switches &&
      (std::exchange(thread.switch_seen, false) || thread.state == State::kBlocked ||
       thread.state == State::kPreempted)) {
    return;
  }
  leave(thread, event, stack);
}

void WaitEngine::on_switch_in(const SchedEvent& event) {
  if (!has_ended(event.tid)) {
    enter(event.tid, event.time_ns);
  }
}

// Only of use where nothing else says that a thread runs.
void WaitEngine::on_seen(const SchedEvent& event) {
  if (event.tid == 0 || plan_.system_wide || plan_.has_records) {
    return;
  }
  ThreadState* const found = threads_.find(event.tid);
  if (found == nullptr || (found->state != State::kWoken && found->state != State::kPreempted &&
                           found->state != State::kBlocked)) {
    return;
  }
  if (found->state == State::kBlocked && event.time_ns >= found->since &&
      event.time_ns <= found->since + kLeavingNs) {
    return;
  }
  ++counters_.switch_ins_missing;
  ThreadState& thread = *this->thread(event.tid);
  close_awake(thread, event.time_ns);
  go(thread, State::kRunning, event.time_ns);
}

// A thread that begins to wait once more had ended the wait before, unrecorded.
void WaitEngine::on_wait_begin(const SchedEvent& event) {
  if (knows_switches() || event.tid == 0) {
    return;
  }
  ThreadState* const found = thread(event.tid);
  if (found == nullptr) {
    return;
  }
  if (found->state == State::kNone || found->state == State::kBlocked) {
    found->open = found->state == State::kNone;
    found->state = State::kUnknown;
  }
  close(*found, event.time_ns);
  go(*found, State::kBlocked, event.time_ns, event.reason, event.stack);
}

void WaitEngine::on_wait_end(const SchedEvent& event) {
  ThreadState* const found = threads_.find(event.tid);
  if (!knows_switches() && found != nullptr && found->state == State::kBlocked) {
    ThreadState& waited = *thread(event.tid);
    close(waited, event.time_ns);
    go(waited, State::kUnknown, event.time_ns);
  }
}

void WaitEngine::finish() {
  apply_first_gaps();
  for (ThreadState& thread : threads_.threads()) {
    if (thread.state != State::kExited) {
      close(thread, plan_.end_ns, kWaitOpenEnd);
    }
    release(thread, kNoStack);
  }
}

}  // namespace stackpack::waits
