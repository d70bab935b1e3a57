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
  cycles.filter.events = {"cycles"};
  cycles.count = CountBy::kSamples;
  ExportOptions by_period = cycles;
  by_period.count = CountBy::kWeight;
  ExportOptions addresses = cycles;
  addresses.frames = FrameStyle::kAddress;
  ExportOptions annotated;
  annotated.filter.events = {"sched:sched_switch"};
  annotated.folded.annotate_kernel = true;
  ExportOptions of_thread = cycles;
  of_thread.filter.tid = 11;
  of_thread.folded.root = FoldedRoot::kThread;
  ExportOptions of_process = cycles;
  of_process.filter.comms = {"beta"};
  of_process.folded.root = FoldedRoot::kProcess;
  ExportOptions early = cycles;
  early.filter.from = CaptureTime{1000, true};
  early.filter.to = CaptureTime{2500, false};
  const std::vector<Case> cases = {
      {"module and offset, one library at two places",
       cycles,
       {"[no callstack] 1", "alpha+0x10 2", "alpha+0xf;libc.so.6+0x20 2",
        "alpha+0xf;libc.so.6+0x20;[kernel.kallsyms]+0x100 1", "beta+0x10 1",
        "beta+0xf;libc.so.6+0x20 1"}},
      {"periods",
       by_period,
       {"[no callstack] 11", "alpha+0x10 17", "alpha+0xf;libc.so.6+0x20 14",
        "alpha+0xf;libc.so.6+0x20;[kernel.kallsyms]+0x100 10", "beta+0x10 7",
        "beta+0xf;libc.so.6+0x20 9"}},
      {"addresses: processes do not matter",
       addresses,
       {"0x1010 3", "0x1010;0x10020 2", "0x1010;0x10020;0xffff0100 1", "0x1010;0x20020 1",
        "[no callstack] 1"}},
      {"kernel frames marked",
       annotated,
       {"alpha+0xf;libc.so.6+0x20;[kernel.kallsyms]+0x100_[k] 1"}},
      {"a thread, under its process", of_thread, {"alpha-10;worker-11;alpha+0xf;libc.so.6+0x20 1"}},
      {"a name, under its process",
       of_process,
       {"beta-20;[no callstack] 1", "beta-20;beta+0x10 1", "beta-20;beta+0xf;libc.so.6+0x20 1"}},
      {"times: 1 us from the start to 2500", early, {"alpha+0xf;libc.so.6+0x20 1", "beta+0x10 1"}},
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
  ExportOptions options;
  options.keep_broken = true;  // what is next to the root is no code
  CHECK(folded(capture, options) == Lines{"0x6;[unknown]+0x0;odd:na?me.so+0x0 1"});
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
  no_event.filter.events = {"cycle"};
  ExportOptions backwards;
  backwards.filter.from = CaptureTime{100, false};
  backwards.filter.to = CaptureTime{50, false};
  ExportOptions mixed;
  mixed.count = CountBy::kWeight;
  mixed.all_events = true;
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
  CHECK(folded(capture, {}) == Lines{"[no callstack] 30", "alpha+0x10 400", "beta+0x10 100"});
  ExportOptions of_pid;
  of_pid.filter.pid = 20;
  of_pid.count = CountBy::kWeight;
  CHECK(folded(capture, of_pid) == Lines{"[no callstack] 30", "beta+0x10 100"});
  ExportOptions of_tid;
  of_tid.filter.tid = 20;
  CHECK_FALSE(export_with(exporting::write_folded, capture, of_tid).status.has_value());
}

TEST_CASE("folded: without a word one event is shown") {
  HandMadeCapture capture = test::small_capture();
  std::swap(capture.tables.events[0], capture.tables.events[1]);  // cycles is the second one
  CHECK(folded(capture, {}) == Lines{"alpha+0xf;libc.so.6+0x20;[kernel.kallsyms]+0x100 1"});
  ExportOptions all;
  all.all_events = true;
  CHECK(folded(capture, all).size() == 6);
}

TEST_CASE(
    "folded: callers are where they call, the leaf and the interrupted frame where they are") {
  HandMadeCapture capture;
  capture.tables.events = {{"cycles", true}};
  capture.add_module(10, 0x1000, 0x1000, "/a");
  capture.add_module(10, 0x2000, 0x1000, "/b");
  capture.add_module(kKernelPid, 0xf000, 0x1000, "k");
  // k: the leaf and its caller; a: interrupted at 2000, called by what ends at 2000, by an address
  // that begins an image which nothing precedes, and by one that is in no image.
  capture.add_sample(
      1, 10, 10,
      capture.add_stack({test::kernel(0xf100), test::kernel(0xf200), test::user(0x2000),
                         test::user(0x2000), test::user(0x1000), test::user(0x10)}));
  ExportOptions options;
  options.keep_broken = true;
  CHECK(folded(capture, options) == Lines{"0xf;a+0x0;a+0xfff;b+0x0;k+0x1ff;k+0x100 1"});
  ExportOptions as_recorded;
  as_recorded.frames = FrameStyle::kAddress;
  CHECK(folded(capture, as_recorded) == Lines{"0x10;0x1000;0x2000;0x2000;0xf200;0xf100 1"});
  capture.tables.metadata = {{"samples.aggregated", "1"}};  // what another profiler exported
  CHECK(folded(capture, options) == Lines{"0x10;a+0x0;b+0x0;b+0x0;k+0x200;k+0x100 1"});
}

TEST_CASE("folded: addresses of no code at the root are one frame") {
  const std::string box = "[broken callstack];";
  HandMadeCapture capture;
  capture.tables.events = {{"cycles", true}};
  capture.add_module(10, 0x1000, 0x1000, "/a");
  capture.add_module(10, 0x5000, 0x1000, "/main");
  capture.add_module(kKernelPid, 0xf000, 0x1000, "k");
  const auto stack_of = [&](const std::vector<Frame>& frames) {
    capture.tables.events = {{"cycles", true}};
    capture.add_sample(1, 10, 10, capture.add_stack(frames));
  };
  stack_of({test::user(0x1004), test::user(0xa727), test::user(0)});
  stack_of({test::user(0x1004), test::user(0xa728), test::user(1)});
  stack_of({test::kernel(0xf100), test::user(0x1004), test::user(2)});
  // Between code it is no end; callstacks of nothing else have none; the kernel's are not broken.
  stack_of({test::user(0x1004), test::user(0xa729), test::user(0x5008)});
  stack_of({test::user(0xa730), test::user(0xa731)});
  stack_of({test::kernel(0xf100), test::user(0xa732)});
  CHECK(folded(capture, {}) == Lines{"0xa730;0xa730 1", "0xa732;k+0x100 1", box + "a+0x4 2",
                                     box + "a+0x4;k+0x100 1", "main+0x7;0xa728;a+0x4 1"});
}

TEST_CASE("folded: a frame that is a leaf here and a caller there is two places") {
  HandMadeCapture capture;
  capture.tables.events = {{"cycles", true}};
  capture.add_module(10, 0x1000, 0x1000, "/a");
  capture.add_sample(1, 10, 10, capture.add_stack({test::user(0x1010)}));
  capture.add_sample(2, 10, 10, capture.add_stack({test::user(0x1500), test::user(0x1010)}));
  CHECK(folded(capture, {}) == Lines{"a+0x10 1", "a+0xf;a+0x500 1"});
}

TEST_CASE("folded: files of one name and different build ids are told apart") {
  HandMadeCapture capture;
  capture.tables.events = {{"cycles", true}};
  const auto add = [&](std::uint32_t pid, const std::string& path, std::vector<std::uint8_t> id) {
    capture.add_module(pid, 0x1000, 0x1000, path);
    capture.tables.modules.back().build_id_kind =
        id.empty() ? BuildIdKind::kNone : BuildIdKind::kGnu;
    capture.tables.modules.back().build_id = std::move(id);
    capture.add_sample(capture.samples.size(), pid, pid, 0);
  };
  capture.add_stack({test::user(0x1010)});
  add(1, "/v1/lib.so", {1, 2, 3, 4, 5});
  add(2, "/v2/lib.so", {9, 9, 9, 9, 9});
  add(3, "/v3/lib.so", {9, 9, 9, 9, 9});
  add(4, "/v4/lib.so", {});
  CHECK(folded(capture, {}) ==
        Lines{"lib.so+0x10 1", "lib.so[01020304]+0x10 1", "lib.so[09090909]+0x10 2"});
  capture.tables.modules[2].build_id = {9, 9, 9, 9, 8};  // begins like another: in full
  CHECK(folded(capture, {}) == Lines{"lib.so+0x10 1", "lib.so[01020304]+0x10 1",
                                     "lib.so[0909090908]+0x10 1", "lib.so[0909090909]+0x10 1"});
  capture.tables.modules[0].build_id.clear();
  capture.tables.modules[0].build_id_kind = BuildIdKind::kNone;
  capture.tables.modules[1].build_id = capture.tables.modules[2].build_id;
  CHECK(folded(capture, {}) == Lines{"lib.so+0x10 4"});
}

TEST_CASE("folded: functions by name, told apart where several images have one") {
  const HandMadeCapture capture = test::named_capture();
  ExportOptions options;
  options.filter.events = {"cycles"};
  options.count = CountBy::kSamples;
  CHECK(folded(capture, options) == Lines{"[no callstack] 1", "alpha!main 2", "alpha!main;read 2",
                                          "alpha!main;read;do_read 1", "beta!main 1",
                                          "beta!main;read 1"});
  options.folded.inlines = true;
  CHECK(folded(capture, options) ==
        Lines{"[no callstack] 1", "alpha!main 2", "alpha!main;helper;read 2",
              "alpha!main;helper;read;do_read 1", "beta!main 1", "beta!main;read 1"});
  options.frames = FrameStyle::kModule;
  CHECK(folded(capture, options) == folded(test::small_capture(), options));
}
