// Records whose callstacks come when threads run again.
#include <algorithm>

#include "capture/wait_facts.h"
#include "waits/wait_engine.h"

namespace stackpack::waits {

using capture::WaitFacts;

namespace {

constexpr std::size_t kMostStacksOfATime = 256;

}  // namespace

void WaitEngine::keep_stack(const SchedEvent& event) {
  if (stacks_at_ != event.time_ns) {
    stacks_.clear();
    stacks_at_ = event.time_ns;
  }
  if (stacks_.size() < kMostStacksOfATime && event.stack != kNoStack) {
    stacks_.push_back({event.tid, event.cpu, event.stack});
  }
}

// All idle threads are thread 0, one on each processor.
StackId WaitEngine::stack_of(std::uint32_t tid, std::uint32_t cpu) const {
  const auto found = std::find_if(stacks_.begin(), stacks_.end(), [&](const Stack& known) {
    return known.tid == tid && (tid != 0 || known.cpu == cpu);
  });
  return found == stacks_.end() ? kNoStack : found->stack;
}

void WaitEngine::on_handover(const SchedEvent& event) {
  if (stacks_at_ != event.time_ns) {
    stacks_.clear();
  }
  if (const std::uint32_t* const expected = running_.find(event.cpu);
      expected != nullptr && *expected != event.tid) {
    break_run(*expected, event.time_ns);
  }
  running_.set(event.cpu, event.other);
  hand_out(event);
  hand_in(event, stack_of(event.other, event.cpu));
}

void WaitEngine::hand_out(const SchedEvent& event) {
  ThreadState* const found = event.tid == 0 ? nullptr : thread(event.tid);
  if (found == nullptr) {
    return;
  }
  ThreadState& leaving = *found;
  const std::uint64_t at = event.time_ns;
  if (leaving.state == State::kNone) {
    leaving.state = State::kRunning;
  } else if (leaving.state == State::kWoken || leaving.state == State::kPreempted ||
             leaving.state == State::kBlocked) {
    ++counters_.switch_ins_missing;
    leaving.state = leaving.state == State::kBlocked ? State::kUnknown : State::kAwake;
    close(leaving, at, kWaitCut);
    leaving.state = State::kNone;
    leaving.since = at;
  }
  close(leaving, at);
  release(leaving, kNoStack);
  if ((event.flags & capture::kSchedExit) != 0) {
    leaving.state = State::kExited;
    leaving.since = at;
  } else if ((event.flags & capture::kSchedOdd) != 0) {
    go(leaving, State::kUnknown, at, event.reason);
  } else if ((event.flags & capture::kSchedRunnable) != 0) {
    go(leaving, State::kPreempted, at, event.reason);
    leaving.has_pend = false;
  } else {
    go(leaving, State::kBlocked, at, event.reason);
  }
}

void WaitEngine::hand_in(const SchedEvent& event, StackId stack) {
  ThreadState* const found = event.other == 0 ? nullptr : thread(event.other);
  if (found == nullptr || found->state == State::kRunning) {
    return;
  }
  ThreadState& coming = *found;
  const std::uint64_t at = event.time_ns;
  if (coming.state == State::kBlocked && coming.has_pend) {  // readied before it had left
    const std::uint32_t reason = coming.reason;
    close(coming, coming.since, 0, coming.pend);
    go(coming, State::kWoken, coming.since, reason);
    close(coming, at, 0, coming.pend);
  } else if (coming.state == State::kBlocked) {
    close(coming, at, kWaitNoWaking);
  } else if (coming.state == State::kWoken) {
    close(coming, at, 0, coming.waker);
  } else {
    coming.state = coming.state == State::kNone ? State::kUnknown : coming.state;
    close(coming, at);
  }
  release(coming, stack);
  coming.has_pend = false;
  go(coming, State::kRunning, at);
}

// Who readied a thread: whoever runs on that processor, else the one whose callstack came with it.
Waker WaitEngine::readier_of(const SchedEvent& event) {
  const std::uint32_t* const expected = running_.find(event.cpu);
  Waker waker;
  waker.tid = expected != nullptr ? *expected : event.other;
  if (waker.tid != kUnknownId) {
    waker.stack = stack_of(waker.tid, event.cpu);
  } else if (stacks_.size() == 1) {
    waker.tid = stacks_.front().tid;
    waker.stack = stacks_.front().stack;
  }
  if (waker.tid != kUnknownId) {
    waker.kind =
        (event.flags & capture::kSchedDeferred) != 0 ? WakerKind::kDeferred : WakerKind::kThread;
  }
  return waker;
}

void WaitEngine::on_ready(const SchedEvent& event) {
  if (stacks_at_ != event.time_ns) {
    stacks_.clear();
  }
  const Waker waker = readier_of(event);
  ThreadState* const found = event.tid == 0 ? nullptr : thread(event.tid);
  if (found == nullptr) {
    return;
  }
  ThreadState& readied = *found;
  switch (readied.state) {
    case State::kNone:
      readied.state = State::kBlocked;
      readied.reason = WaitFacts::kUnknownReason;
      [[fallthrough]];
    case State::kBlocked: {
      const std::uint32_t reason = readied.reason;
      close(readied, event.time_ns, 0, waker);
      go(readied, State::kWoken, event.time_ns, reason);
      readied.waker = waker;
      readied.has_pend = false;
      break;
    }
    case State::kUnknown:
      close(readied, event.time_ns);
      go(readied, State::kWoken, event.time_ns, WaitFacts::kUnknownReason);
      readied.waker = waker;
      break;
    case State::kRunning:
      readied.pend = waker;
      readied.has_pend = true;
      break;
    default:
      if (readied.state == State::kWoken && readied.waker.kind == WakerKind::kNone) {
        readied.waker = waker;
      } else {
        ++counters_.wakings_of_runnable;
      }
      break;
  }
}

void WaitEngine::on_born(const SchedEvent& event) {
  ThreadState* const born = event.tid == 0 ? nullptr : thread(event.tid);
  if (born != nullptr && (born->state == State::kNone || born->state == State::kExited) &&
      event.time_ns >= plan_.start_ns) {
    release(*born, kNoStack);
    go(*born, State::kWoken, event.time_ns, WaitFacts::kNewReason);
    born->waker = {};
  }
}

}  // namespace stackpack::waits
