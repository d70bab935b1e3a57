// Which callstacks come out of which fragments.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "formats/etl/stacks/stack_pairs.h"
#include "support/etl_reading.h"

namespace stackpack::test {
namespace {

using Frames = EtlWriter::Frames;

constexpr etl::Guid kRuntime = etl::make_guid(0xe13c0d23, 0xccbc, 0x4e12, 0x931b, 0xd9cc2eee27e4);
constexpr etl::Guid kOther = etl::make_guid(0x11111111, 0x2222, 0x3333, 0x4444, 0x555555555555);

// Samples in the order of time: "event flags: stack", with short names for addresses.
std::vector<std::string> listing_of(const EtlReading& reading) {
  std::vector<CollectingSink::Row> rows = reading.sink.settled();
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.sample.time_ns < b.sample.time_ns;
  });
  std::vector<std::string> lines;
  for (const CollectingSink::Row& row : rows) {
    std::string stack = row.stack;
    const auto replace = [&stack](std::string_view from, std::string_view to) {
      for (std::size_t at = 0; (at = stack.find(from, at)) != std::string::npos;) {
        stack.replace(at, from.size(), to);
      }
    };
    replace("kfffff80000000", "k");
    replace("u7ff600000", "u");
    std::string line = reading.sink.events[row.sample.event].name;
    line = line.substr(line.find('/') + 1) + " t" + std::to_string(row.sample.tid);
    line += (row.sample.flags & kSampleOrphanStack) != 0 ? " orphan" : "";
    line += (row.sample.flags & kSampleIdle) != 0 ? " idle" : "";
    line += row.sample.origin == StackOrigin::kIpOnly ? " ip " : ": ";
    lines.push_back(line + stack);
  }
  return lines;
}

struct JoinCase {
  std::string_view name;
  std::function<void(EtlWriter&)> write;
  std::vector<std::string> expected;
};

void check(const std::vector<JoinCase>& cases) {
  for (const JoinCase& example : cases) {
    CAPTURE(example.name);
    const auto reading = read_etl(make_etl({}, example.write));
    REQUIRE_FALSE(reading->failed);
    CHECK(reading->accounted());
    CHECK(listing_of(*reading) == example.expected);
  }
}

TEST_SUITE_BEGIN("etl join");

TEST_CASE("halves of callstacks find each other") {
  check({
      {"kernel and user half of one event",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kK + 1);
         out.stack(0, 110, 100, 5, 7, {kK + 1, kK + 2});
         out.stack(0, 120, 100, 5, 7, {kU + 1, kU + 2});
       },
       {"SampledProfile t7: k001 k002 u001 u002"}},
      {"the user half comes on another processor",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kK + 1);
         out.stack(0, 110, 100, 5, 7, {kK + 1});
         out.stack(1, 120, 100, 5, 7, {kU + 1});
       },
       {"SampledProfile t7: k001 u001"}},
      {"one user half serves all events of a stay in the kernel",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kK + 1);
         out.stack(0, 110, 100, 5, 7, {kK + 1});
         out.context_switch(0, 120, 7, 3);
         out.stack(0, 130, 120, 5, 7, {kK + 2});
         out.stack(0, 140, 100, 5, 7, {kU + 1});
       },
       {"SampledProfile t7: k001 u001", "CSwitch t7: k002 u001"}},
      {"a kernel half older than the user half's event stays alone",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kK + 1);
         out.stack(0, 110, 100, 5, 7, {kK + 1});
         out.sample(0, 120, 7, kU + 1);
         out.stack(0, 130, 120, 5, 7, {kU + 1});
       },
       {"SampledProfile t7: k001", "SampledProfile t7: u001"}},
      {"threads do not mix",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kK + 1);
         out.sample(1, 100, 8, kK + 2);
         out.stack(0, 110, 100, 5, 7, {kK + 1});
         out.stack(1, 110, 100, 5, 8, {kK + 2});
         out.stack(1, 120, 100, 5, 8, {kU + 2});
         out.stack(0, 120, 100, 5, 7, {kU + 1});
       },
       {"SampledProfile t7: k001 u001", "SampledProfile t8: k002 u002"}},
      {"a fragment from kernel to user is complete, and others keep waiting",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kK + 1);
         out.stack(0, 110, 100, 5, 7, {kK + 1});
         out.sample(0, 120, 7, kK + 2);
         out.stack(0, 130, 120, 5, 7, {kK + 2, kU + 2});
         out.stack(0, 140, 100, 5, 7, {kU + 1});
       },
       {"SampledProfile t7: k001 u001", "SampledProfile t7: k002 u002"}},
      {"idle threads of two processors are two threads",
       [](EtlWriter& out) {
         out.sample(0, 100, 0, kK + 1);
         out.sample(1, 100, 0, kK + 2, 1);
         out.stack(1, 110, 100, 0, 0, {kK + 2});
         out.stack(0, 110, 100, 0, 0, {kK + 1});
       },
       {"SampledProfile t0 idle: k001", "SampledProfile t0: k002"}},
      {"what waits at the end is a kernel stack",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kK + 1);
         out.stack(0, 110, 100, 5, 7, {kK + 1});
       },
       {"SampledProfile t7: k001"}},
      {"two kernel halves of one clock are two callstacks",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kK + 1);
         out.context_switch(0, 100, 7, 3);
         out.stack(0, 110, 100, 5, 7, {kK + 1});
         out.stack(0, 111, 100, 5, 7, {kK + 2});
       },
       {"SampledProfile t7: k001", "CSwitch t7: k002"}},
      {"a late user half of a stay that is over is left out",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kK + 1);
         out.stack(0, 110, 100, 5, 7, {kK + 1});
         out.stack(0, 120, 100, 5, 7, {kU + 1});
         out.stack(0, 130, 90, 5, 7, {kU + 2});
       },
       {"SampledProfile t7: k001 u001"}},
      {"samples without a callstack keep their instruction pointer",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kU + 1);
         out.sample(0, 200, 0, kK + 1);
       },
       {"SampledProfile t7 ip u001", "SampledProfile t0 idle ip k001"}},
      {"a callstack without its event is kept",
       [](EtlWriter& out) { out.stack(0, 110, 100, 5, 7, {kU + 1}); },
       {"unknown t7 orphan: u001"}},
      {"an event whose header names no thread takes the thread of its callstack",
       [](EtlWriter& out) {
         out.perf_info(1, 100, 2, 10, 2, TestBytes().u64(1).u64(2));
         out.stack(1, 110, 100, 5, 7, {kU + 1});
       },
       {"TransitionFault t7: u001"}},
      {"any event can have a callstack, and without one it is no sample",
       [](EtlWriter& out) {
         out.system(0, 100, 9, 11, 2, 7, 5, TestBytes().u64(1));
         out.system(0, 105, 9, 11, 2, 7, 5, TestBytes().u64(1));
         out.stack(0, 110, 100, 5, 7, {kU + 1});
       },
       {"Open t7: u001"}},
  });
}

TEST_CASE("stack keys are listed after the callstacks that use them") {
  check({
      {"kernel and user keys of the same value",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kK + 1);
         out.key_reference(0, 110, 100, 5, 7, 0x99, true);
         out.key_reference(0, 120, 100, 5, 7, 0x99, false);
         out.key_definition(0, 200, 0x99, {kU + 1, kU + 2});
         out.key_definition(0, 210, 0x99, {kK + 1});
       },
       {"SampledProfile t7: k001 u001 u002"}},
      {"a key is used again after its definition",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kU + 1);
         out.key_reference(0, 110, 100, 5, 7, 0x99, false);
         out.key_definition(0, 120, 0x99, {kU + 1}, 35);
         out.sample(0, 200, 7, kU + 2);
         out.key_reference(0, 210, 200, 5, 7, 0x99, false);
         out.key_definition(0, 220, 0x99, {kU + 2}, 36);
       },
       {"SampledProfile t7: u001", "SampledProfile t7: u002"}},
      {"a kernel half is defined while it waits for the user half",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kK + 1);
         out.key_reference(0, 110, 100, 5, 7, 0x99, true);
         out.key_definition(0, 120, 0x99, {kK + 1}, 35);
         out.stack(0, 130, 100, 5, 7, {kU + 1});
       },
       {"SampledProfile t7: k001 u001"}},
      {"inline kernel half, keyed user half",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kK + 1);
         out.stack(0, 110, 100, 5, 7, {kK + 1});
         out.key_reference(0, 120, 100, 5, 7, 0x98, false);
         out.key_definition(0, 130, 0x98, {kU + 1});
       },
       {"SampledProfile t7: k001 u001"}},
      {"a user key that is never defined leaves the kernel stack",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kK + 1);
         out.stack(0, 110, 100, 5, 7, {kK + 1});
         out.key_reference(0, 120, 100, 5, 7, 0x98, false);
       },
       {"SampledProfile t7: k001"}},
      {"a kernel key that is never defined leaves the user stack to its own event only",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kK + 1);
         out.key_reference(0, 110, 100, 5, 7, 0x98, true);
         out.context_switch(0, 115, 7, 1);
         out.key_reference(0, 116, 115, 5, 7, 0x98, true);
         out.stack(0, 120, 100, 5, 7, {kU + 1});
       },
       {"SampledProfile t7: u001", "CSwitch t7: "}},
      {"nothing defined: the sample keeps its instruction pointer",
       [](EtlWriter& out) {
         out.sample(0, 100, 7, kU + 1);
         out.key_reference(0, 110, 100, 5, 7, 0x98, false);
       },
       {"SampledProfile t7 ip u001"}},
  });
}

TEST_CASE("events that bring their callstack along") {
  check({
      {"one item with both halves",
       [](EtlWriter& out) {
         out.provider(0, 100, kOther, 12, 1, 0, 7, 5, TestBytes().u64(1),
                      {{11, {std::byte{1}}}, out.stack_item(0, {kK + 1, kU + 1})});
       },
       {"id12 t7: k001 u001"}},
      {"two halves under one match id",
       [](EtlWriter& out) {
         out.provider(0, 100, kOther, 12, 1, 0, 7, 5, TestBytes(), {out.stack_item(77, {kK + 1})});
         out.provider(0, 105, kOther, 12, 1, 0, 8, 5, TestBytes(), {out.stack_item(77, {kK + 2})});
         out.provider(0, 110, kOther, 18, 24, 0, 7, 5, TestBytes(), {out.stack_item(77, {kU + 1})});
       },
       {"id12 t7: k001 u001", "id12 t8: k002"}},
      {"a key, and the halves of a callstack as keys",
       [](EtlWriter& out) {
         out.provider(0, 100, kOther, 12, 1, 0, 7, 5, TestBytes(), {out.key_item(0, 0x98)});
         out.provider(0, 110, kOther, 13, 1, 0, 7, 5, TestBytes(), {out.key_item(5, 0x99)});
         out.provider(0, 120, kOther, 18, 24, 0, 7, 5, TestBytes(), {out.key_item(5, 0x98)});
         out.key_definition(0, 200, 0x98, {kU + 1});
         out.key_definition(0, 210, 0x99, {kK + 1});
       },
       {"id12 t7: u001", "id13 t7: k001 u001"}},
      {"the walk of a .NET runtime belongs to the event before it",
       [](EtlWriter& out) {
         out.provider(0, 100, kRuntime, 10, 11, 2, 7, 5, TestBytes().u64(1));
         out.provider(0, 101, kOther, 10, 11, 2, 7, 5, TestBytes().u64(1));
         out.clr_stack(0, 102, kRuntime, 7, 5, {kU + 1, kK + 2});
         out.clr_stack(0, 103, kRuntime, 7, 5, {kU + 3});
       },
       {"GC/AllocationTick t7: u001 ufffff80000000002", "unknown t7 orphan: u003"}},
  });
}

TEST_CASE(
    "samples of performance counters are events of their own, named if the trace names them") {
  const auto sample = [](EtlWriter& out, std::uint64_t clock, std::uint16_t source) {
    out.perf_info(0, clock, 15, 47, 2, TestBytes().u64(kK + 1).u32(7).u16(source).u16(0));
  };
  const auto name = [](EtlWriter& out, std::uint32_t source, std::string_view text) {
    TestBytes payload;
    payload.u32(source).u32(65536).u32(65536);
    put_wide(payload, text);
    out.system(0, 50, 15, 73, 3, 1, 1, payload);
  };
  check({
      {"the name comes before, after, or never; a stack belongs to its counter",
       [&](EtlWriter& out) {
         name(out, 2, "TotalIssues");
         sample(out, 100, 2);
         sample(out, 110, 6);
         out.stack(0, 115, 110, 5, 7, {kK + 1, kK + 2});
         sample(out, 120, 2);
         sample(out, 130, 11);
         name(out, 6, "BranchMispredictions");
       },
       {"PMCSample/TotalIssues t7 ip k001", "PMCSample/BranchMispredictions t7: k001 k002",
        "PMCSample/TotalIssues t7 ip k001", "PMCSample/source 11 t7 ip k001"}},
  });
}

TEST_CASE("halves that wait by the thousand go to disk and come back") {
  constexpr std::uint32_t kEvents = (1U << 16) + 1000;
  constexpr std::uint32_t kFirstJoined = kEvents / 3 * 3 - 3000;
  const auto file = make_etl({}, [](EtlWriter& out) {
    for (std::uint32_t i = 0; i < kEvents; ++i) {
      const std::uint64_t clock = 100 + 10 * std::uint64_t{i};
      const std::uint32_t tid = 7 + i % 3;
      out.sample(0, clock, tid, kK + 1);
      if (i % 5 == 0) {
        out.key_reference(0, clock + 1, clock, 5, tid, 0x99, true);
      } else {
        out.stack(0, clock + 1, clock, 5, tid, {kK + 1 + i % 7, kK + 9});
      }
    }
    const std::uint64_t end = 100 + 10 * std::uint64_t{kEvents};
    out.key_definition(0, end, 0x99, {kK + 8});
    out.stack(0, end + 1, 100 + 10 * std::uint64_t{kFirstJoined}, 5, 7, {kU + 1});
  });
  etl::ReadOptions options;
  options.table_bytes = 0;
  const auto reading = read_etl(file, options);
  CHECK(reading->summary.joined_stacks == kEvents);
  CHECK(reading->loss("orphan_stacks") == 0);
  CHECK_FALSE(reading->sink.counters.any_loss());
  // Every third event is of thread 7.
  CHECK(reading->summary.kernel_and_user == (kEvents - kFirstJoined + 2) / 3);
  CHECK(reading->summary.user_only == 0);
  std::uint64_t keyed = 0;
  for (const auto& [line, count] : reading->listing()) {
    keyed += line.rfind("kfffff80000000008", 0) == 0 ? count : 0;
  }
  CHECK(keyed == (kEvents + 4) / 5);
}

TEST_CASE("a pair whose halves are the same key is kept once, and so are its uses") {
  const auto reading = read_etl(make_etl({}, [](EtlWriter& out) {
    out.provider(0, 100, kOther, 12, 1, 0, 7, 5, TestBytes(), {out.key_item(5, 0x98)});
    out.provider(0, 110, kOther, 13, 1, 0, 7, 5, TestBytes(), {out.key_item(5, 0x98)});
    out.key_definition(0, 200, 0x98, {kU + 1});
    for (std::uint32_t key = 0; key < 3; ++key) {  // what was free is used again
      out.provider(0, 300 + key, kOther, 12, 1, 0, 8, 5, TestBytes(), {out.key_item(0, key)});
    }
    for (std::uint32_t key = 0; key < 3; ++key) {
      out.key_definition(0, 400 + key, key, {kU + 2 + key});
    }
  }));
  CHECK(listing_of(*reading) == std::vector<std::string>{"id12 t7: u001 u001", "id12 t8: u002",
                                                         "id12 t8: u003", "id12 t8: u004"});
  CHECK(reading->summary.joined_stacks == 4);
}

TEST_CASE("pairs of a part are kept as soon as it is defined, and what they used is free") {
  for (const bool kernel_waits : {true, false}) {
    CAPTURE(kernel_waits);
    scratch::SpillSpace space(std::filesystem::temp_directory_path().string(), 1 << 20);
    etl::StackKeys keys(space);
    CollectingSink sink;
    etl::EventRows rows(sink);
    etl::EventKinds kinds;
    const etl::EtlClock clock{etl::LogFileHeader{}};
    capture::RecentChains recent;
    etl::SampleWriter samples(sink, rows, recent, kinds, clock, 8);
    etl::StackJoinCounters counts;
    etl::StackPairs pairs(space, keys, samples, counts);
    const auto space_of_key = kernel_waits ? etl::KeySpace::kKernel : etl::KeySpace::kUser;
    const auto add = [&](etl::StackPart waiting, etl::StackPart known) {
      const Status added = kernel_waits ? pairs.add({}, waiting, known, false)
                                        : pairs.add({}, known, waiting, false);
      REQUIRE(added.has_value());
    };
    constexpr std::uint64_t kHalves[] = {kK + 1, kK + 2, kU + 1, kU + 2};
    const std::size_t first_known = kernel_waits ? 2 : 0;
    const etl::StackPart waiting = keys.refer(space_of_key, 7);
    std::vector<etl::StackPart> known;
    for (std::size_t i = 0; i < 2; ++i) {
      known.push_back(keys.hold({&kHalves[first_known + i], 1}));
      add(waiting, known.back());
      keys.release(known.back());
    }
    keys.release(waiting);
    CHECK(sink.pending_stacks == std::vector<std::string>{"", ""});
    const std::uint64_t frame = kernel_waits ? kK + 9 : kU + 9;
    REQUIRE(keys.define(space_of_key, 7, {&frame, 1}) == waiting);
    REQUIRE(pairs.part_defined(waiting).has_value());
    CHECK(sink.pending_stacks ==
          (kernel_waits ? std::vector<std::string>{"kfffff80000000009 u7ff600000001",
                                                   "kfffff80000000009 u7ff600000002"}
                        : std::vector<std::string>{"kfffff80000000001 u7ff600000009",
                                                   "kfffff80000000002 u7ff600000009"}));
    CHECK(counts.kernel_and_user == 2);
    keys.release(waiting);
    // Numbers of parts that nothing uses are given again, the last one first.
    for (const etl::StackPart part : {waiting, known[1], known[0]}) {
      CHECK(keys.hold({&frame, 1}) == part);
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
