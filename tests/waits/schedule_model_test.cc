// Random schedules, told by each kind of records, against what a few rules say of them.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "capture/wait_facts.h"
#include "waits/wait_engine.h"

namespace stackpack::waits {

namespace {

using capture::SchedKind;
using capture::WaitFacts;

enum class Records { kSwitches, kOwnThreads, kHandovers };

constexpr std::uint64_t kStart = 100;
constexpr std::uint32_t kFirstTid = 11;

std::string text_of(const WaitInterval& row) {
  const auto id = [](StackId stack) {
    return stack == kNoStack ? std::string("-") : std::to_string(stack);
  };
  return std::to_string(row.tid) + ' ' + std::to_string(row.from_ns) + ".." +
         std::to_string(row.to_ns) + ' ' + std::string(wait_state_name(row.state)) + " r" +
         std::to_string(row.reason) + " f" + std::to_string(row.flags) + ' ' + id(row.stack) +
         " by " + std::to_string(static_cast<unsigned>(row.waker_kind)) + ':' +
         std::to_string(row.waker) + ' ' + id(row.waker_stack);
}

/// Threads on two processors, what a recorder tells of them, and the intervals that follow.
class Schedule {
 public:
  Schedule(Records records, std::uint32_t seed) : records_(records), random_(seed) {
    plan.system_wide = records != Records::kOwnThreads;
    plan.has_switches = records == Records::kSwitches;
    plan.has_records = records == Records::kOwnThreads;
    plan.has_wakings = true;
    plan.has_handovers = records == Records::kHandovers;
    plan.start_ns = kStart;
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
      threads_[i].belief.tid = kFirstTid + i;
    }
    for (std::size_t cpu = 0; cpu < on_.size(); ++cpu) {
      on_[cpu] = &threads_[cpu];
      threads_[cpu].actual = Actual::kRuns;
    }
    for (int step = 0; step < 60; ++step) {
      now_ += 1 + draw(4);
      draw(3) == 0 ? wake() : draw(25) == 0 ? lose() : change();
    }
    plan.end_ns = now_;
    for (Thread& thread : threads_) {
      release(thread, kNoStack);
      if (thread.known && !thread.ended && thread.belief.from_ns < now_) {
        no_waker(thread.belief);  // it is known with the end of the interval
        close(thread, now_, kWaitOpenEnd);
      }
    }
    std::sort(lines.begin(), lines.end());
  }

  WaitPlan plan;
  std::vector<SchedEvent> events;
  std::vector<std::string> lines;
  WaitCounters counters;

 private:
  enum class Actual { kBlocked, kAble, kRuns, kEnded };
  struct Thread {
    Actual actual = Actual::kBlocked;
    bool wakes_again = false;  // was woken while it ran
    bool known = false;        // to who sees the records, and what it takes it for
    bool ended = false;
    bool has_pend = false;
    WaitInterval belief, pend;  // `pend`: its waker
  };

  std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  StackId draw_stack() { return draw(4) == 0 ? kNoStack : StackId{draw(50)}; }
  [[nodiscard]] bool is_lost() const {
    return now_ < lost_until_ || (now_ == lost_until_ && !plan.has_handovers);
  }

  void tell(SchedKind kind, std::size_t cpu, std::uint32_t tid, std::uint32_t other, StackId stack,
            std::uint32_t reason = 0, unsigned flags = 0) {
    if (kind == SchedKind::kStackOf && stack == kNoStack) {
      return;
    }
    SchedEvent event;
    event.time_ns = now_;
    event.kind = kind;
    event.cpu = static_cast<std::uint32_t>(cpu);
    event.tid = tid;
    event.other = other;
    event.reason = reason;
    event.flags = static_cast<std::uint8_t>(flags);
    event.stack = stack;
    events.push_back(event);
    counters.events_in_gaps += is_lost() && kind != SchedKind::kStackOf ? 1U : 0U;
  }

  // The state that a thread is taken to be in ends, and is an interval.
  void close(Thread& thread, std::uint64_t to, unsigned flag) {
    WaitInterval row = thread.belief;
    row.to_ns = to;
    row.flags = static_cast<std::uint8_t>(row.flags | flag);
    counters.without_waking += (flag & kWaitNoWaking) != 0 ? 1 : 0;
    if (row.from_ns < to || (row.state == WaitState::kBlocked && (flag & kWaitCut) == 0)) {
      lines.push_back(text_of(row));
    }
  }
  void begin(Thread& thread, WaitState state, std::uint32_t reason, StackId stack,
             const WaitInterval& woken_by = {}) {
    WaitInterval& row = thread.belief;
    row.from_ns = now_;
    row.state = state;
    row.flags = 0;
    row.reason = reason;
    row.stack = stack;
    row.waker_kind = state == WaitState::kWoken ? woken_by.waker_kind : WakerKind::kNone;
    row.waker = row.waker_kind == WakerKind::kNone ? 0 : woken_by.waker;
    row.waker_stack = row.waker_kind == WakerKind::kNone ? kNoStack : woken_by.waker_stack;
  }
  // What a first record of a thread says of the time before it.
  void meet(Thread& thread, WaitState before, std::uint32_t reason) {
    if (!thread.known) {
      thread.known = true;
      begin(thread, before, reason, kNoStack);
      thread.belief.from_ns = std::max(kStart, lost_until_);
      thread.belief.flags = kWaitOpenStart;
    }
  }

  void wake() {
    Thread& woken = threads_[draw(kThreads)];
    const std::size_t cpu = draw(kProcessors);
    if (woken.actual == Actual::kEnded) {
      return;
    }
    woken.wakes_again = woken.actual == Actual::kRuns;
    woken.actual = woken.actual == Actual::kBlocked ? Actual::kAble : woken.actual;
    const bool nobody = draw(5) == 0;
    const unsigned flags = !nobody              ? 0U
                           : plan.has_handovers ? unsigned{capture::kSchedDeferred}
                                                : unsigned{capture::kSchedInterrupt};
    WaitInterval by;
    by.waker_kind = !nobody              ? WakerKind::kThread
                    : plan.has_handovers ? WakerKind::kDeferred
                                         : WakerKind::kInterrupt;
    by.waker = on_[cpu] == nullptr ? 0 : on_[cpu]->belief.tid;
    by.waker_stack = draw_stack();
    if (plan.has_handovers) {
      tell(SchedKind::kStackOf, cpu, by.waker, 0, by.waker_stack);
    }
    tell(plan.has_handovers ? SchedKind::kReady : SchedKind::kWaking, cpu, woken.belief.tid,
         by.waker, plan.has_handovers ? kNoStack : by.waker_stack, 0, flags);
    if (!is_lost()) {
      take_waking(woken, by);
    }
  }
  void take_waking(Thread& woken, const WaitInterval& by) {
    meet(woken, WaitState::kBlocked, WaitFacts::kUnknownReason);
    WaitInterval& row = woken.belief;
    if (row.state == WaitState::kRunning) {
      woken.has_pend = true;
      woken.pend = by;
    } else if (row.state == WaitState::kBlocked) {
      row.waker_kind = by.waker_kind;
      row.waker = by.waker;
      row.waker_stack = by.waker_stack;
      hold_or_close(woken);
      begin(woken, WaitState::kWoken, row.reason, row.stack, by);
      woken.has_pend = false;
    } else if (row.state == WaitState::kUnknown) {
      hold_or_close(woken);
      begin(woken, WaitState::kWoken, WaitFacts::kUnknownReason, kNoStack, by);
    } else {
      ++counters.wakings_of_runnable;
    }
  }

  // Where callstacks come with switch-ins, lines of a thread wait for one.
  void hold_or_close(Thread& thread) {
    if (plan.has_handovers) {
      thread.belief.to_ns = now_;
      if (thread.belief.from_ns < now_ || thread.belief.state == WaitState::kBlocked) {
        held_.push_back(thread.belief);
      }
      return;
    }
    close(thread, now_, 0);
  }
  void release(const Thread& thread, StackId stack) {
    for (WaitInterval& row : held_) {
      if (row.tid == thread.belief.tid) {
        row.stack = stack;
        lines.push_back(text_of(row));
      }
    }
    std::erase_if(held_, [&](const WaitInterval& row) { return row.tid == thread.belief.tid; });
  }

  // Another thread runs on a processor, or none.
  void change() {
    const std::size_t cpu = draw(kProcessors);
    Thread* const leaving = on_[cpu];
    Thread* coming = &threads_[draw(kThreads)];
    coming = coming->actual == Actual::kAble ? coming : nullptr;
    if (leaving == nullptr && coming == nullptr) {
      return;
    }
    const bool ends = draw(20) == 0;
    const bool able = !ends && draw(3) == 0;
    const std::uint32_t reason = able ? 4 : 3;
    const unsigned flags = ends   ? unsigned{capture::kSchedExit}
                           : able ? unsigned{capture::kSchedRunnable}
                                  : 0U;
    const StackId stack = draw_stack();
    on_[cpu] = coming;
    tell_change(cpu, leaving, coming, stack, reason, flags);
    if (leaving != nullptr) {
      leaving->actual = ends                           ? Actual::kEnded
                        : able || leaving->wakes_again ? Actual::kAble
                                                       : Actual::kBlocked;
      leaving->wakes_again = false;
    }
    if (coming != nullptr) {
      coming->actual = Actual::kRuns;
    }
    if (is_lost()) {
      return;
    }
    if (leaving != nullptr) {
      take_leaving(*leaving, ends, able, reason, stack);
    }
    if (coming != nullptr) {
      take_coming(*coming, stack);
    }
  }
  void tell_change(std::size_t cpu, const Thread* leaving, const Thread* coming, StackId stack,
                   std::uint32_t reason, unsigned flags) {
    const std::uint32_t out = leaving == nullptr ? 0 : leaving->belief.tid;
    const std::uint32_t in = coming == nullptr ? 0 : coming->belief.tid;
    switch (records_) {
      case Records::kSwitches:
        return tell(SchedKind::kSwitch, cpu, out, in, stack, reason, flags);
      case Records::kHandovers:
        tell(SchedKind::kStackOf, cpu, in, 0, stack);
        return tell(SchedKind::kHandover, cpu, out, in, kNoStack, reason, flags);
      case Records::kOwnThreads:
        if (leaving != nullptr) {
          tell(SchedKind::kOutStack, cpu, out, 0, stack);
          tell(SchedKind::kSwitchOut, cpu, out, 0, kNoStack, reason, flags);
        }
        if (coming != nullptr) {
          tell(SchedKind::kSwitchIn, cpu, in, 0, kNoStack);
        }
    }
  }
  void take_leaving(Thread& thread, bool ends, bool able, std::uint32_t reason, StackId stack) {
    meet(thread, WaitState::kRunning, 0);
    if (thread.belief.state == WaitState::kWoken) {  // its switch-in was lost
      ++counters.switch_ins_missing;
      thread.belief.state = WaitState::kAwake;
      if (plan.has_handovers) {
        no_waker(thread.belief);
      }
      close(thread, now_, plan.system_wide ? unsigned{kWaitCut} : 0U);
    } else {
      close(thread, now_, 0);
    }
    release(thread, kNoStack);
    thread.ended = ends;
    thread.has_pend = thread.has_pend && !able;
    begin(thread, able ? WaitState::kPreempted : WaitState::kBlocked, reason,
          plan.has_handovers ? kNoStack : stack);
  }
  void take_coming(Thread& thread, StackId stack) {
    meet(thread, WaitState::kUnknown, 0);
    WaitInterval& row = thread.belief;
    if (row.state == WaitState::kBlocked && thread.has_pend) {
      const std::uint64_t from = row.from_ns;
      const WaitInterval by = thread.pend;
      row.stack = plan.has_handovers ? stack : row.stack;
      row.waker_kind = by.waker_kind;
      row.waker = by.waker;
      row.waker_stack = by.waker_stack;
      close(thread, from, 0);
      begin(thread, WaitState::kWoken, row.reason, row.stack, by);
      row.from_ns = from;
      close(thread, now_, 0);
    } else {
      row.stack = plan.has_handovers ? stack : row.stack;
      close(thread, now_, row.state == WaitState::kBlocked ? unsigned{kWaitNoWaking} : 0U);
    }
    release(thread, stack);
    thread.has_pend = false;
    begin(thread, WaitState::kRunning, 0, kNoStack);
  }

  static void no_waker(WaitInterval& row) {
    row.waker_kind = WakerKind::kNone;
    row.waker = 0;
    row.waker_stack = kNoStack;
  }

  // Nothing is recorded for a while, in which all goes on.
  void lose() {
    SchedEvent gap;
    gap.time_ns = now_;
    gap.kind = SchedKind::kGap;
    gap.until_ns = now_ + draw(20);
    events.push_back(gap);
    lost_until_ = std::max(lost_until_, gap.until_ns);
    for (Thread& thread : threads_) {
      release(thread, kNoStack);
      thread.has_pend = false;
      if (thread.known && !thread.ended && thread.belief.state != WaitState::kUnknown) {
        no_waker(thread.belief);
        close(thread, now_, kWaitCut);
        begin(thread, WaitState::kUnknown, 0, kNoStack);
        ++counters.cut_by_lost;
      }
    }
  }

  static constexpr std::uint32_t kThreads = 6;
  static constexpr std::uint32_t kProcessors = 2;

  Records records_;
  std::mt19937 random_;
  std::uint64_t now_ = kStart;
  std::uint64_t lost_until_ = 0;
  std::array<Thread, kThreads> threads_;
  std::array<Thread*, kProcessors> on_{};  // null: idle
  std::vector<WaitInterval> held_;
};

// Lines that only one side has.
std::string difference(const std::vector<std::string>& found,
                       const std::vector<std::string>& expected) {
  std::vector<std::string> lines;
  std::set_symmetric_difference(found.begin(), found.end(), expected.begin(), expected.end(),
                                std::back_inserter(lines));
  std::string text;
  for (const std::string& line : lines) {
    text += line + '\n';
  }
  return text;
}

SchedEvent stack_of_thread(std::uint64_t time_ns, std::uint32_t tid, StackId stack) {
  SchedEvent event;
  event.time_ns = time_ns;
  event.kind = SchedKind::kStackOf;
  event.cpu = 0;
  event.tid = tid;
  event.stack = stack;
  return event;
}

}  // namespace

TEST_CASE("waits: intervals of random schedules are those of a few rules") {
  for (const Records records : {Records::kSwitches, Records::kOwnThreads, Records::kHandovers}) {
    for (std::uint32_t seed = 1; seed <= 400; ++seed) {
      const Schedule schedule(records, seed);
      std::vector<std::string> lines;
      WaitEngine engine(schedule.plan,
                        [&](const WaitInterval& row) { lines.push_back(text_of(row)); });
      for (const SchedEvent& event : schedule.events) {
        engine.take(event);
      }
      engine.finish();
      std::sort(lines.begin(), lines.end());
      INFO("records " << static_cast<int>(records) << ", seed " << seed);
      REQUIRE(difference(lines, schedule.lines).empty());
      const WaitCounters& counters = engine.counters();
      REQUIRE(counters.without_waking == schedule.counters.without_waking);
      REQUIRE(counters.wakings_of_runnable == schedule.counters.wakings_of_runnable);
      REQUIRE(counters.events_in_gaps == schedule.counters.events_in_gaps);
      REQUIRE(counters.cut_by_lost == schedule.counters.cut_by_lost);
      REQUIRE(counters.switch_ins_missing == schedule.counters.switch_ins_missing);
      REQUIRE(counters.broken_runs == 0);
    }
  }
}

TEST_CASE("waits: so many callstacks of one time are kept, and only those that are there") {
  for (const std::uint32_t others : {254U, 255U, 256U}) {
    WaitPlan plan;
    plan.system_wide = true;
    plan.has_handovers = true;
    plan.start_ns = 10;
    plan.end_ns = 20;
    std::vector<WaitInterval> found;
    WaitEngine engine(plan, [&](const WaitInterval& row) { found.push_back(row); });
    for (std::uint32_t i = 0; i < others; ++i) {
      engine.take(stack_of_thread(20, 100 + i, StackId{i}));
      engine.take(stack_of_thread(20, 1000 + i, kNoStack));
    }
    engine.take(stack_of_thread(20, 7, 9999));
    SchedEvent handover = stack_of_thread(20, 8, kNoStack);
    handover.kind = SchedKind::kHandover;
    handover.other = 7;
    engine.take(handover);
    engine.finish();
    const auto before = std::find_if(found.begin(), found.end(), [](const auto& row) {
      return row.tid == 7 && row.state == WaitState::kUnknown;
    });
    REQUIRE(before != found.end());
    CHECK(before->stack == (others < 256 ? StackId{9999} : kNoStack));
  }
}

TEST_CASE("waits: a gap within another one does not end it") {
  WaitPlan plan;
  plan.system_wide = true;
  plan.has_switches = true;
  plan.has_wakings = true;
  plan.start_ns = 10;
  plan.end_ns = 80;
  WaitEngine engine(plan, [](const WaitInterval&) {});
  for (const auto& [from, until] : {std::pair{20U, 60U}, std::pair{30U, 40U}}) {
    SchedEvent gap;
    gap.time_ns = from;
    gap.until_ns = until;
    gap.kind = SchedKind::kGap;
    engine.take(gap);
  }
  for (const std::uint64_t time : {50U, 60U, 61U}) {
    SchedEvent waking = stack_of_thread(time, 7, 1);
    waking.kind = SchedKind::kWaking;
    engine.take(waking);
  }
  CHECK(engine.counters().events_in_gaps == 2);
}

}  // namespace stackpack::waits
