#include "waits/wait_engine.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "capture/wait_facts.h"

namespace stackpack::waits {

namespace {

using capture::SchedKind;
using capture::WaitFacts;

constexpr std::uint32_t kSleeping = 3;  // a reason of the capture

SchedEvent at(std::uint64_t time_ns, SchedKind kind, std::uint32_t tid, std::uint32_t other = 0) {
  SchedEvent event;
  event.time_ns = time_ns;
  event.kind = kind;
  event.cpu = 0;
  event.tid = tid;
  event.other = other;
  return event;
}

SchedEvent leaves(std::uint64_t time_ns, std::uint32_t tid, std::uint32_t next, StackId stack) {
  SchedEvent event = at(time_ns, SchedKind::kSwitch, tid, next);
  event.reason = kSleeping;
  event.stack = stack;
  return event;
}

// One interval as a line: tid from to state reason flags stack waker waker's stack.
std::string line_of(const WaitInterval& row) {
  constexpr const char* kStates[] = {"running",   "blocked", "woken",
                                     "preempted", "awake",   "unknown"};
  const auto id = [](StackId stack) {
    return stack == kNoStack ? std::string("-") : std::to_string(stack);
  };
  return std::to_string(row.tid) + " " + std::to_string(row.from_ns) + " " +
         std::to_string(row.to_ns) + " " + kStates[static_cast<unsigned>(row.state)] + " r" +
         std::to_string(row.reason) + " f" + std::to_string(row.flags) + " " + id(row.stack) +
         " w" + std::to_string(static_cast<unsigned>(row.waker_kind)) + ":" +
         std::to_string(row.waker) + " " + id(row.waker_stack);
}

struct Run {
  std::vector<std::string> lines;
  WaitCounters counters;
};

Run run(const WaitPlan& plan, const std::vector<SchedEvent>& events) {
  Run result;
  WaitEngine engine(plan, [&](const WaitInterval& row) { result.lines.push_back(line_of(row)); });
  for (const SchedEvent& event : events) {
    engine.take(event);
  }
  engine.finish();
  result.counters = engine.counters();
  return result;
}

WaitPlan wide(std::uint64_t start_ns, std::uint64_t end_ns) {
  WaitPlan plan;
  plan.system_wide = true;
  plan.has_switches = true;
  plan.has_wakings = true;
  plan.start_ns = start_ns;
  plan.end_ns = end_ns;
  return plan;
}

}  // namespace

TEST_CASE("waits: a block has the callstack of its switch-out and ends with the waking") {
  SchedEvent waking = at(20, SchedKind::kWaking, 7, 8);
  waking.stack = 5;
  const Run found = run(wide(10, 30), {leaves(10, 7, 8, 4), waking, leaves(30, 8, 7, 6)});
  CHECK(found.lines == std::vector<std::string>{"7 10 20 blocked r3 f0 4 w1:8 5",
                                                "8 10 30 running r0 f0 - w0:0 -",
                                                "7 20 30 woken r3 f0 4 w1:8 5"});
}

TEST_CASE("waits: an interrupted thread is not the waker") {
  SchedEvent waking = at(20, SchedKind::kWaking, 7, 8);
  waking.flags = capture::kSchedInterrupt;
  const Run found = run(wide(10, 20), {leaves(10, 7, 8, 4), waking});
  REQUIRE(!found.lines.empty());
  CHECK(found.lines.front() == "7 10 20 blocked r3 f0 4 w2:8 -");
}

TEST_CASE("waits: woken before it had left, a thread blocks for no time") {
  const Run found = run(wide(10, 40), {leaves(10, 8, 7, 1), at(15, SchedKind::kWaking, 7, 9),
                                       leaves(20, 7, 9, 4), leaves(40, 9, 7, 6)});
  CHECK(std::find(found.lines.begin(), found.lines.end(), "7 20 20 blocked r3 f0 4 w1:9 -") !=
        found.lines.end());
  CHECK(std::find(found.lines.begin(), found.lines.end(), "7 20 40 woken r3 f0 4 w1:9 -") !=
        found.lines.end());
}

TEST_CASE("waits: without a waking the switch-in ends the block, and is counted") {
  const Run found = run(wide(10, 30), {leaves(10, 7, 8, 4), leaves(30, 8, 7, 6)});
  CHECK(found.lines.back() == "7 10 30 blocked r3 f8 4 w0:0 -");
  CHECK(found.counters.without_waking == 1);
}

TEST_CASE("waits: a switch-in that is missing leaves the block's end unknown") {
  const Run found =
      run(wide(10, 50), {leaves(10, 7, 8, 4), leaves(30, 8, 9, 6), leaves(50, 7, 9, 5)});
  CHECK(std::find(found.lines.begin(), found.lines.end(), "7 10 50 unknown r3 f4 4 w0:0 -") !=
        found.lines.end());
  CHECK(found.counters.switch_ins_missing == 1);
  CHECK(found.counters.broken_runs == 1);  // of 9
}

TEST_CASE("waits: where records were lost, every interval is cut and nothing is claimed") {
  SchedEvent gap = at(20, SchedKind::kGap, 0);
  gap.until_ns = 40;
  const Run found = run(wide(10, 60), {leaves(10, 7, 8, 4), gap, at(30, SchedKind::kWaking, 7, 8),
                                       at(50, SchedKind::kWaking, 7, 8), leaves(60, 8, 7, 6)});
  CHECK(found.lines[0] == "7 10 20 blocked r3 f4 4 w0:0 -");
  CHECK(found.lines[1] == "8 10 20 running r0 f4 - w0:0 -");
  CHECK(std::find(found.lines.begin(), found.lines.end(), "7 20 50 unknown r0 f0 - w0:0 -") !=
        found.lines.end());
  CHECK(found.counters.events_in_gaps == 1);
  CHECK(found.counters.cut_by_lost == 2);
}

TEST_CASE("waits: with handovers the callstack comes when the thread runs again") {
  WaitPlan plan;
  plan.system_wide = true;
  plan.has_handovers = true;
  plan.start_ns = 10;
  plan.end_ns = 40;
  SchedEvent out = at(10, SchedKind::kHandover, 7, 8);
  out.reason = kSleeping;
  SchedEvent waker_stack = at(20, SchedKind::kStackOf, 8);
  waker_stack.stack = 5;
  SchedEvent stack = at(40, SchedKind::kStackOf, 7);
  stack.stack = 4;
  SchedEvent in = at(40, SchedKind::kHandover, 8, 7);
  in.reason = kSleeping;
  const Run found =
      run(plan, {out, waker_stack, at(20, SchedKind::kReady, 7, kUnknownId), stack, in});
  CHECK(std::find(found.lines.begin(), found.lines.end(), "7 10 20 blocked r3 f0 4 w1:8 5") !=
        found.lines.end());
  CHECK(std::find(found.lines.begin(), found.lines.end(), "7 20 40 woken r3 f0 4 w1:8 5") !=
        found.lines.end());
}

TEST_CASE("waits: the table of threads is bounded, and says what it left out") {
  std::vector<SchedEvent> events;
  for (std::uint32_t tid = 1; tid <= ThreadTable::kMostThreads + 3; ++tid) {
    events.push_back(at(10, SchedKind::kWaking, tid, 1));
  }
  CHECK(run(wide(10, 10), events).counters.threads_over_limit == 3);
}

}  // namespace stackpack::waits
