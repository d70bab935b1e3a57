#include "app/listing/wait_path.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::app {

namespace {

const std::vector<std::string> reason_names = {"", "S", "new"};

WaitInterval interval(std::uint32_t tid, std::uint64_t from, std::uint64_t to, WaitState state) {
  WaitInterval row;
  row.pid = 1;
  row.tid = tid;
  row.from_ns = from;
  row.to_ns = to;
  row.state = state;
  return row;
}

WaitInterval runs(std::uint32_t tid, std::uint64_t from, std::uint64_t to) {
  return interval(tid, from, to, WaitState::kRunning);
}

WaitInterval blocked(std::uint32_t tid, std::uint64_t from, std::uint64_t to, std::uint32_t waker,
                     WakerKind kind = WakerKind::kThread) {
  WaitInterval row = interval(tid, from, to, WaitState::kBlocked);
  row.reason = 1;
  row.waker = waker;
  row.waker_kind = kind;
  row.waker_stack = 70 + waker;
  return row;
}

WaitInterval born(std::uint32_t tid, std::uint64_t from, std::uint64_t to, std::uint32_t creator) {
  WaitInterval row = blocked(tid, from, to, creator);
  row.state = WaitState::kWoken;
  row.reason = 2;
  return row;
}

// `from-to tid state depth` and, of a run that woke the next one, where; of a block why it ends.
std::string text_of(const PathStep& step) {
  constexpr const char* kEnds[] = {"", " ?", " irq", " nothing", " circle", " deep"};
  std::string text = std::to_string(step.from_ns) + "-" + std::to_string(step.to_ns) + " " +
                     std::to_string(step.row.tid) + " " +
                     std::string(wait_state_name(step.row.state)) + " " +
                     std::to_string(step.depth) + kEnds[static_cast<std::size_t>(step.end)];
  return step.woke_stack == kNoStack ? text : text + " @" + std::to_string(step.woke_stack);
}

std::vector<std::string> path(const std::vector<WaitInterval>& rows, std::uint32_t tid,
                              WaitRange range = {}) {
  PathFinder finder(reason_names, {});
  for (const WaitInterval& row : rows) {
    finder.add(row);
  }
  const Result<WaitPath> found = finder.walk(tid, {}, range);
  if (!found) {
    return {std::string(found.error().what)};
  }
  std::vector<std::string> lines;
  std::uint64_t at = found->from_ns;
  for (const PathStep& step : found->steps) {
    CHECK(step.from_ns == at);
    CHECK(step.to_ns > step.from_ns);
    at = step.to_ns;
    lines.push_back(text_of(step));
  }
  CHECK(at == found->to_ns);
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("app.wait_path: a block is what its waker did meanwhile") {
  // Thread 2 waits for 3 while 1 waits for it.
  const std::vector<WaitInterval> rows = {
      runs(1, 0, 100),   blocked(1, 100, 470, 2), interval(1, 470, 475, WaitState::kWoken),
      runs(1, 475, 600), runs(2, 50, 200),        blocked(2, 200, 260, 9, WakerKind::kInterrupt),
      runs(2, 260, 310), blocked(2, 310, 380, 3), interval(2, 380, 400, WaitState::kWoken),
      runs(2, 400, 480), runs(3, 290, 400),
  };
  CHECK(path(rows, 1) ==
        Lines{"0-100 1 running 0", "100-200 2 running 1", "200-260 2 blocked 1 irq",
              "260-310 2 running 1", "310-380 3 running 2 @73", "380-400 2 woken 1",
              "400-470 2 running 1 @72", "470-475 1 woken 0", "475-600 1 running 0"});
  CHECK(path(rows, 1, {90, 330}) == Lines{"90-100 1 running 0", "100-200 2 running 1",
                                          "200-260 2 blocked 1 irq", "260-310 2 running 1",
                                          "310-330 3 running 2 @73"});
  CHECK(path(rows, 3) == Lines{"290-400 3 running 0"});
  CHECK(path(rows, 4) == Lines{"the thread has no intervals in the time range"});
  CHECK(path(rows, 3, {400, 500}) == Lines{"the thread has no intervals in the time range"});
}

TEST_CASE("app.wait_path: what is not recorded is said to be so") {
  WaitInterval hint = blocked(1, 30, 40, 2);
  hint.flags = kWaitHint;
  CHECK(path({blocked(1, 0, 10, 0, WakerKind::kNone), blocked(1, 10, 20, 5), hint, runs(1, 50, 60),
              runs(2, 0, 60)},
             1) == Lines{"0-10 1 blocked 0 ?", "10-20 1 blocked 0 nothing", "20-30 1 unknown 0",
                         "30-40 1 blocked 0 ?", "40-50 1 unknown 0", "50-60 1 running 0"});
  // Nothing of the waker at first and at last; a block of length 0 takes no time.
  CHECK(path({blocked(1, 0, 90, 2), runs(2, 20, 40), blocked(2, 40, 40, 3), runs(2, 40, 60),
              runs(3, 0, 90)},
             1) ==
        Lines{"0-20 2 unknown 1", "20-40 2 running 1", "40-60 2 running 1", "60-90 2 unknown 1"});
}

TEST_CASE("app.wait_path: before a thread was born, its creator") {
  CHECK(path({blocked(1, 0, 100, 2), born(2, 40, 50, 3), runs(2, 50, 100), runs(3, 0, 100)}, 1) ==
        Lines{"0-40 3 running 2 @73", "40-50 2 woken 1", "50-100 2 running 1 @72"});
  // Who waits cannot have created it meanwhile.
  CHECK(path({blocked(1, 0, 100, 2), born(2, 40, 50, 1), runs(2, 50, 100)}, 1) ==
        Lines{"0-40 2 unknown 1", "40-50 2 woken 1", "50-100 2 running 1 @72"});
}

TEST_CASE("app.wait_path: damage ends") {
  CHECK(path({blocked(1, 0, 100, 2), blocked(2, 0, 100, 1)}, 1) ==
        Lines{"0-100 2 blocked 1 circle"});
  CHECK(path({blocked(1, 0, 100, 1)}, 1) == Lines{"0-100 1 blocked 0 circle"});
  std::vector<WaitInterval> chain;
  for (std::uint32_t tid = 1; tid < 100; ++tid) {
    chain.push_back(blocked(tid, 0, 100, tid + 1));
  }
  CHECK(path(chain, 1) == Lines{"0-100 65 blocked 64 deep"});
  CHECK(path(chain, 36) == Lines{"0-100 99 blocked 63 nothing"});
  // Intervals that overlap.
  CHECK(path({runs(1, 0, 80), runs(1, 20, 60), runs(1, 40, 100)}, 1) ==
        Lines{"0-20 1 running 0", "20-40 1 running 0", "40-100 1 running 0"});
}

TEST_CASE("app.wait_path: threads of one source wake each other") {
  // Processes 1 and 2 are of the first source, 3 and up of the second one.
  std::vector<WaitInterval> rows = {blocked(7, 0, 100, 8), runs(8, 0, 100), blocked(7, 0, 50, 8),
                                    runs(8, 0, 50)};
  rows[1].pid = 2;
  rows[2].pid = 3;
  rows[3].pid = 4;
  rows[3].state = WaitState::kAwake;
  const auto walk = [&rows](std::optional<std::uint32_t> pid) {
    PathFinder finder(reason_names, {1, 3});
    for (const WaitInterval& row : rows) {
      finder.add(row);
    }
    return finder.walk(7, pid, {});
  };
  CHECK(walk({}).error().code == ErrorCode::kUsage);
  REQUIRE(walk(1));
  CHECK(text_of(walk(1)->steps.front()) == "0-100 8 running 1 @78");
  CHECK(text_of(walk(4)->steps.front()) == "0-50 8 awake 1");
  CHECK(walk(5));  // a number that the second source has, too
}

}  // namespace stackpack::app
