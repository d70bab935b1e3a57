// Waits for locks and handles, and exceptions, as the .NET runtime records them.
#include <bit>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "app/analysis/exception_report.h"
#include "app/analysis/lock_report.h"
#include "app/analysis/runtime_frames.h"
#include "stackpack/convert.h"
#include "stackpack/reader.h"
#include "support/nettrace_maker.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

// A trace of events of the runtime, one after the other; stacks are of the three methods below.
class RuntimeTrace {
 public:
  enum Stacks : std::uint32_t { kNone, kInHold, kInWait, kThrown };

  RuntimeTrace() : out_(4, 8, 1'000'000'000) {
    constexpr std::string_view kRuntime = "Microsoft-Windows-DotNETRuntime";
    std::uint32_t kind = 1;
    for (const auto& [event, version] :
         {std::pair(81U, 2U), std::pair(91U, 1U), std::pair(301U, 0U), std::pair(302U, 0U),
          std::pair(80U, 1U), std::pair(250U, 0U)}) {
      kinds_.emplace_back(event, kind);
      out_.metadata(kind++, kRuntime, event, "", version);
    }
    out_.metadata(kind, "Microsoft-Windows-DotNETRuntimeRundown", 144, "", 2);
    kinds_.emplace_back(144U, kind);
    out_.stacks(1, {{0x1010, 0x2010}, {0x1010, 0x3010}, {0x4010, 0x2010}});
  }

  void add(std::uint32_t event, std::uint64_t ticks, std::uint64_t thread, std::uint32_t stack,
           const TestBytes& payload) {
    NettraceEvent row;
    for (const auto& [id, kind] : kinds_) {
      row.metadata = id == event ? kind : row.metadata;
    }
    row.capture_thread = row.thread = thread;
    row.number = ++numbers_[thread % 16];
    row.ticks = ticks;
    row.stack = stack;
    row.payload = payload.bytes;
    rows_.push_back(std::move(row));
  }
  void begin_contention(std::uint64_t ticks, std::uint64_t thread, std::uint32_t stack,
                        std::uint64_t owner, std::uint64_t lock = 0xABC) {
    add(81, ticks, thread, stack, TestBytes().u8(0).u16(9).u64(lock).u64(0xDEF).u64(owner));
  }
  void end_contention(std::uint64_t ticks, std::uint64_t thread, double ns) {
    add(91, ticks, thread, kNone, TestBytes().u8(0).u16(9).u64(std::bit_cast<std::uint64_t>(ns)));
  }

  std::unique_ptr<Reader> convert_in(const ScratchDirectory& folder) {
    constexpr std::string_view kMethods[][2] = {{"System.Threading.Monitor", "Enter_Slowpath"},
                                                {"App.Lock", "Hold"},
                                                {"App.Lock", "Wait"},
                                                {"System.Runtime.EH", "DispatchEx"}};
    std::uint64_t start = 0x1000;
    for (const auto& [space, name] : kMethods) {
      TestBytes payload;
      payload.bytes = method_event(start, 5, start, space, name);
      add(144, 900'000, 7, kNone, payload);
      start += 0x1000;
    }
    out_.events(rows_);
    const std::vector<std::byte> bytes = out_.finish();
    std::ofstream(folder.file("in.nettrace"), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),  // NOLINT: as streams want it
               static_cast<std::streamsize>(bytes.size()));
    REQUIRE(convert(folder.file("in.nettrace"), folder.file("out.spk"), {}, nullptr));
    auto reader = Reader::open(folder.file("out.spk"));
    REQUIRE(reader);
    return std::move(*reader);
  }

 private:
  NettraceWriter out_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> kinds_;
  std::vector<NettraceEvent> rows_;
  std::uint32_t numbers_[16] = {};
};

std::string text_of(const std::vector<app::LockShare>& shares) {
  std::string text;
  for (const app::LockShare& share : shares) {
    text += (text.empty() ? "" : ", ") + share.name + ' ' + std::to_string(share.waits) + ' ' +
            std::to_string(share.ns);
  }
  return text;
}

TEST_SUITE("runtime waits") {
  TEST_CASE("lock report: a start and a stop of one thread are a wait, as long as the stop says") {
    RuntimeTrace trace;
    trace.begin_contention(10'000, 7, RuntimeTrace::kInHold, 8);
    trace.begin_contention(11'000, 9, RuntimeTrace::kInWait, 0);
    trace.end_contention(12'000, 7, 2'500.0);
    trace.end_contention(15'000, 9, 4'100.0);
    trace.begin_contention(16'000, 8, RuntimeTrace::kInWait, 7);
    trace.end_contention(16'500, 8, 600.0);
    trace.end_contention(20'000, 5, 700.0);                          // its start was lost
    trace.begin_contention(30'000, 7, RuntimeTrace::kInHold, 8, 1);  // it has no stop
    const ScratchDirectory folder;
    const auto reader = trace.convert_in(folder);
    const auto report = app::lock_report(*reader, {}, 0);
    REQUIRE(report);
    CHECK(report->waits == 4);
    CHECK(report->ns == 2'500 + 4'100 + 600 + 700);
    CHECK(report->between_ns == 2'000 + 4'000 + 500 + 700);
    CHECK(report->longest_ns == 4'100);
    CHECK(report->left.still_waiting == 1);
    REQUIRE(report->rows.size() == 2);
    const app::LockRow& row = report->rows.front();
    CHECK(row.name == "0xabc managed");
    CHECK(row.waits == 3);
    CHECK(text_of(row.places) == "App.Lock.Wait(int32) 2 4700, App.Lock.Hold(int32) 1 2500");
    // Thread 7 had waited for the lock in Hold before 8 found it there.
    CHECK(text_of(row.holders) ==
          "(not known) 1 4100, [8] 1 2500, [7] since App.Lock.Hold(int32) 1 600");
    CHECK(text_of(row.waiters) == "[9] 1 4100, [7] 1 2500, [8] 1 600");
    CHECK(report->rows[1].name == "- managed");
  }

  TEST_CASE("lock report: rows are locks, holders, waiters, functions or classes") {
    RuntimeTrace trace;
    for (std::uint64_t i = 0; i < 6; ++i) {
      trace.begin_contention(10'000 * (i + 1), 7 + i % 2, RuntimeTrace::kInHold, 9 + i % 3, 1 + i);
      trace.end_contention(10'000 * (i + 1) + 100, 7 + i % 2, 100.0);
    }
    const ScratchDirectory folder;
    const auto reader = trace.convert_in(folder);
    app::LockQuery query;
    const auto count = [&](app::LockGroup by) {
      query.by = by;
      const auto report = app::lock_report(*reader, query, 0);
      return report && report->ns == 600 ? report->all_rows : 0;
    };
    CHECK(count(app::LockGroup::kLock) == 6);
    CHECK(count(app::LockGroup::kHolder) == 3);
    CHECK(count(app::LockGroup::kWaiter) == 2);
    CHECK(count(app::LockGroup::kCallstack) == 1);
    CHECK(count(app::LockGroup::kClass) == 1);
    query = {};
    query.lock = "0x[3]";
    CHECK(app::lock_report(*reader, query, 0)->waits == 0);
    query.lock = "0x3";
    CHECK(app::lock_report(*reader, query, 0)->waits == 1);
    query = {};
    query.tid = 8;
    CHECK(app::lock_report(*reader, query, 0)->waits == 3);
    query.longer_than_ns = 101;
    CHECK(app::lock_report(*reader, query, 0)->waits == 0);
  }

  TEST_CASE("lock report: waits for handles are asked for, and are intervals of their threads") {
    RuntimeTrace trace;
    const TestBytes handle = TestBytes().u8(0).u64(0).u16(9);
    const TestBytes monitor = TestBytes().u8(1).u64(0x77).u16(9);
    const TestBytes stop = TestBytes().u16(9);
    trace.add(301, 10'000, 7, RuntimeTrace::kInWait, handle);
    trace.add(301, 12'000, 9, RuntimeTrace::kInHold, monitor);
    trace.add(302, 14'000, 7, RuntimeTrace::kNone, stop);
    trace.add(302, 20'000, 9, RuntimeTrace::kNone, stop);
    trace.add(302, 21'000, 9, RuntimeTrace::kNone, stop);  // of a start before the recording
    trace.add(301, 22'000, 7, RuntimeTrace::kInWait, handle);
    trace.add(302, 25'000, 7, RuntimeTrace::kNone, stop);
    const ScratchDirectory folder;
    const auto reader = trace.convert_in(folder);
    const auto locks = app::lock_report(*reader, {}, 0);
    REQUIRE(locks);
    CHECK(locks->waits == 0);
    CHECK(locks->not_locks == 3);
    CHECK(locks->not_locks_ns == 15'000);
    CHECK(locks->left.without_begin == 1);
    app::LockQuery query;
    query.all = true;
    const auto all = app::lock_report(*reader, query, 1);
    REQUIRE(all);
    CHECK(all->ns == 15'000);
    CHECK(all->all_rows == 2);
    CHECK(all->rows.at(0).name == "0x77 monitor wait");
    CHECK(text_of(all->rows.at(0).places) == "App.Lock.Hold(int32) 1 8000");

    std::vector<std::string> intervals;
    const auto reasons = reader->wait_reasons();
    REQUIRE(reasons);
    const Status read = reader->intervals({}, [&](std::span<const WaitInterval> rows) {
      for (const WaitInterval& row : rows) {
        const std::string state = row.state == WaitState::kBlocked   ? (*reasons)[row.reason]
                                  : row.state == WaitState::kUnknown ? "unknown"
                                                                     : "other";
        intervals.push_back(std::to_string(row.tid) + ' ' + state + ' ' +
                            std::to_string(row.to_ns - row.from_ns));
      }
      return true;
    });
    REQUIRE(read);
    CHECK(intervals == std::vector<std::string>{"7 WaitHandle 4000", "7 unknown 8000",
                                                "7 WaitHandle 3000", "9 unknown 2000",
                                                "9 Monitor.Wait 8000", "9 unknown 5000"});
  }

  TEST_CASE(
      "exception report: a site is below the dispatch, and a thread catches what it threw last") {
    RuntimeTrace trace;
    const auto thrown = [](std::string_view type, std::string_view message, std::uint16_t flags) {
      TestBytes payload;
      put_utf16(payload, type);
      put_utf16(payload, message).u64(0).u32(0x80131500).u16(flags).u16(9);
      return payload;
    };
    const auto caught = [](std::string_view method) {
      TestBytes payload;
      payload.u64(0x2020).u64(2);
      put_utf16(payload, method).u16(9);
      return payload;
    };
    trace.add(80, 10'000, 7, RuntimeTrace::kThrown, thrown("A", "one", 16));
    trace.add(80, 10'500, 9, RuntimeTrace::kThrown, thrown("B", "deep", 16));
    trace.add(250, 11'000, 7, RuntimeTrace::kNone, caught("int32 App::Try()"));
    trace.add(80, 12'000, 7, RuntimeTrace::kThrown, thrown("A", "one", 16 | 4));
    trace.add(250, 13'000, 7, RuntimeTrace::kNone, caught("void App::Main()"));
    trace.add(80, 14'000, 7, RuntimeTrace::kInWait, thrown("A", "two", 16));
    const ScratchDirectory folder;
    const auto reader = trace.convert_in(folder);
    const auto line = [](const app::ThrownException& row) {
      std::string text = row.type + '/' + row.function + '/' + row.message + ' ' +
                         std::to_string(row.count) + " caught " + std::to_string(row.caught);
      for (const auto& [method, count] : row.catchers) {
        text += ' ' + method + '=' + std::to_string(count);
      }
      return text;
    };
    const auto lines = [&](app::ExceptionGroup by) {
      const auto report = app::exception_report(*reader, by, 0);
      REQUIRE(report);
      CHECK(report->count == 4);
      CHECK(report->knows_catches);
      CHECK(report->caught == 2);
      CHECK(report->rethrown == 1);
      std::vector<std::string> result;
      for (const app::ThrownException& row : report->rows) {
        result.push_back(line(row));
      }
      return result;
    };
    using Lines = std::vector<std::string>;
    CHECK(lines(app::ExceptionGroup::kMessage) ==
          Lines{"A/App.Lock.Hold(int32)/one 2 caught 2 int32 App::Try()=1 void App::Main()=1",
                "A/System.Threading.Monitor.Enter_Slowpath(int32)/two 1 caught 0",
                "B/App.Lock.Hold(int32)/deep 1 caught 0"});
    CHECK(lines(app::ExceptionGroup::kType) ==
          Lines{"A/App.Lock.Hold(int32)/one 3 caught 2 int32 App::Try()=1 void App::Main()=1",
                "B/App.Lock.Hold(int32)/deep 1 caught 0"});
    CHECK(app::exception_report(*reader, app::ExceptionGroup::kSite, 1)->all_rows == 3);
  }

  TEST_CASE("runtime frames: of all versions, and no others") {
    using app::RuntimeFrames;
    for (const auto* const name :
         {"System.Runtime.EH.RhThrowEx(object)", "IL_Throw", "JIT_Rethrow", "RaiseException",
          "DispatchManagedException(Object*)", "RhpThrowEx"}) {
      CHECK(app::is_runtime_frame(RuntimeFrames::kDispatch, name));
      CHECK_FALSE(app::is_runtime_frame(RuntimeFrames::kWaiting, name));
      CHECK_FALSE(app::is_runtime_frame(RuntimeFrames::kNone, name));
    }
    CHECK_FALSE(app::is_runtime_frame(RuntimeFrames::kDispatch, "System.ThrowHelper.ThrowKey()"));
    CHECK(app::is_runtime_frame(RuntimeFrames::kWaiting, "System.Threading.Monitor.Wait(object)"));
    CHECK_FALSE(app::is_runtime_frame(RuntimeFrames::kWaiting, "App.Threading.Run()"));
  }
}

}  // namespace
}  // namespace stackpack::test
