#include <doctest/doctest.h>

#include "export/hand_made_capture.h"

using namespace stackpack;
using test::export_with;
using test::HandMadeCapture;
using test::sorted_lines;

namespace {

using Lines = std::vector<std::string>;

Lines folded(const HandMadeCapture& capture, const ExportOptions& options) {
  const test::Exported result = export_with(exporting::write_folded, capture, options);
  REQUIRE(result.status.has_value());
  return sorted_lines(result.content);
}

}  // namespace

TEST_CASE("folded: samples are added up by what their frames are called") {
  struct Case {
    const char* name;
    ExportOptions options;
    Lines lines;
  };
  ExportOptions cycles;
  cycles.event = "cycles";
  ExportOptions by_period = cycles;
  by_period.weight = ExportWeight::kPeriod;
  ExportOptions addresses = cycles;
  addresses.frames = FrameStyle::kAddress;
  ExportOptions annotated;
  annotated.event = "sched:sched_switch";
  annotated.annotate_kernel = true;
  ExportOptions of_thread = cycles;
  of_thread.tid = 11;
  of_thread.root = FoldedRoot::kThread;
  ExportOptions of_process = cycles;
  of_process.comm = "beta";
  of_process.root = FoldedRoot::kProcess;
  ExportOptions early = cycles;
  early.from = ExportTime{1000, true};
  early.to = ExportTime{2500, false};
  const std::vector<Case> cases = {
      {"module and offset, one library at two places",
       cycles,
       {"[no callstack] 1", "alpha+0x10 2", "alpha+0x10;libc.so.6+0x20 2",
        "alpha+0x10;libc.so.6+0x20;[kernel.kallsyms]+0x100 1", "beta+0x10 1",
        "beta+0x10;libc.so.6+0x20 1"}},
      {"periods",
       by_period,
       {"[no callstack] 11", "alpha+0x10 17", "alpha+0x10;libc.so.6+0x20 14",
        "alpha+0x10;libc.so.6+0x20;[kernel.kallsyms]+0x100 10", "beta+0x10 7",
        "beta+0x10;libc.so.6+0x20 9"}},
      {"addresses: processes do not matter",
       addresses,
       {"0x1010 3", "0x1010;0x10020 2", "0x1010;0x10020;0xffff0100 1", "0x1010;0x20020 1",
        "[no callstack] 1"}},
      {"kernel frames marked",
       annotated,
       {"alpha+0x10;libc.so.6+0x20;[kernel.kallsyms]+0x100_[k] 1"}},
      {"a thread, under its process",
       of_thread,
       {"alpha-10;worker-11;alpha+0x10;libc.so.6+0x20 1"}},
      {"a name, under its process",
       of_process,
       {"beta-20;[no callstack] 1", "beta-20;beta+0x10 1", "beta-20;beta+0x10;libc.so.6+0x20 1"}},
      {"times: 1 us from the start to 2500", early, {"alpha+0x10;libc.so.6+0x20 1", "beta+0x10 1"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(folded(test::small_capture(), c.options) == c.lines);
    ExportOptions tight = c.options;
    tight.memory_limit = 0;  // two groups at a time
    CHECK(folded(test::small_capture(), tight) == c.lines);
  }
}

TEST_CASE("folded: an address means what was mapped at the time of the sample") {
  HandMadeCapture capture;
  capture.tables.events = {{"cycles", true}};
  capture.add_thread(10, 10, "a");
  capture.add_module(10, 0x1000, 0x1000, "/old.so", kUnknownTime, 2000);
  capture.add_module(10, 0x1000, 0x1000, "/new.so", 2001);
  const StackId stack = capture.add_stack({test::user(0x1008)});
  for (const std::uint64_t time : {1000U, 2000U, 2001U, 3000U, 4000U}) {
    capture.add_sample(time, 10, 10, stack);
  }
  CHECK(folded(capture, {}) == Lines{"new.so+0x8 3", "old.so+0x8 2"});
}

TEST_CASE("folded: text that would break the line is replaced") {
  HandMadeCapture capture;
  capture.tables.events = {{"cycles", true}};
  capture.add_module(10, 0x1000, 0x1000, "/odd;na\nme.so");
  capture.add_module(10, 0x3000, 0x1000, "");
  capture.add_sample(1, 10, 10,
                     capture.add_stack({test::user(0x1000), test::user(0x3001), test::user(7)}));
  CHECK(folded(capture, {}) == Lines{"0x7;[unknown]+0x1;odd:na?me.so+0x0 1"});
}

TEST_CASE("folded: frames of an imported profile go by their names, and samples by their weights") {
  HandMadeCapture capture;
  capture.tables.events = {{"samples", true}};
  capture.tables.metadata = {{"frames.synthetic", "1"}, {"samples.aggregated", "1"}};
  capture.add_module(kKernelPid, 0x5000, 1, "std::pair<a/b, c>::f()");
  capture.add_sample(0, kUnknownId, kUnknownId, capture.add_stack({{FrameMode::kUnknown, 0x5000}}))
      .weight = 42;
  CHECK(folded(capture, {}) == Lines{"std::pair<a/b, c>::f() 42"});
}

TEST_CASE("folded: requests that make no sense are usage errors") {
  struct Case {
    const char* name;
    ExportOptions options;
  };
  ExportOptions no_event;
  no_event.event = "cycle";
  ExportOptions backwards;
  backwards.from = ExportTime{100, false};
  backwards.to = ExportTime{50, false};
  ExportOptions mixed;
  mixed.weight = ExportWeight::kPeriod;
  for (const Case& c :
       {Case{"an event which the file lacks", no_event}, Case{"weights of several events", mixed},
        Case{"a range that ends before it begins", backwards}}) {
    CAPTURE(c.name);
    const test::Exported result =
        export_with(exporting::write_folded, test::small_capture(), c.options);
    REQUIRE_FALSE(result.status.has_value());
    CHECK(result.status.error().code == ErrorCode::kUsage);
  }
}

TEST_CASE("folded: a sample that names what is not there is corrupt") {
  HandMadeCapture capture = test::small_capture();
  capture.samples[3].stack = 99;
  test::Exported result = export_with(exporting::write_folded, capture, {});
  REQUIRE_FALSE(result.status.has_value());
  CHECK(result.status.error().code == ErrorCode::kCorrupt);
  capture = test::small_capture();
  capture.samples[3].event = 2;
  result = export_with(exporting::write_folded, capture, {});
  REQUIRE_FALSE(result.status.has_value());
  CHECK(result.status.error().code == ErrorCode::kCorrupt);
}

TEST_CASE("folded: a file of counts is exported, but not by thread or time") {
  HandMadeCapture capture = test::small_capture();
  capture.tables.has_samples = false;
  capture.tables.stack_counts = {{0, 0, 10, StackOrigin::kRecorded, 4, 400},
                                 {0, 0, 20, StackOrigin::kRecorded, 1, 100},
                                 {kNoStack, 0, 20, StackOrigin::kNone, 3, 30}};
  CHECK(folded(capture, {}) == Lines{"[no callstack] 3", "alpha+0x10 4", "beta+0x10 1"});
  ExportOptions of_pid;
  of_pid.pid = 20;
  of_pid.weight = ExportWeight::kPeriod;
  CHECK(folded(capture, of_pid) == Lines{"[no callstack] 30", "beta+0x10 100"});
  ExportOptions of_tid;
  of_tid.tid = 20;
  CHECK_FALSE(export_with(exporting::write_folded, capture, of_tid).status.has_value());
}
