// Rules of the event stream that decide quietly: which thread, which weight, which event a stack
// may belong to, what is counted and is no loss.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "formats/etl/event/event_header.h"
#include "formats/etl/event/provider_names.h"
#include "formats/etl/file/buffer_header.h"
#include "support/etl_reading.h"

namespace stackpack::test {
namespace {

constexpr std::uint32_t kMarker64 = 0xC0110000;  // PERFINFO, 64-bit

// A profile event byte by byte: `marker_bits` announce what stands before the payload.
std::vector<std::byte> profile_event(std::uint32_t marker_bits, std::size_t extra_words,
                                     std::uint64_t clock, std::uint64_t ip, std::uint16_t count) {
  TestBytes event;
  event.u32(kMarker64 | marker_bits | 2);
  event.u16(static_cast<std::uint16_t>(0x10 + 8 * extra_words + 16)).u8(46).u8(15).u64(clock);
  for (std::size_t i = 0; i < extra_words; ++i) {
    event.u64(0xAAAA'0000 + i);
  }
  return event.u64(ip).u32(7).u16(count).u16(0).bytes;
}

std::unique_ptr<EtlReading> read_events(const std::function<void(EtlWriter&)>& write) {
  auto reading = read_etl(make_etl({}, write));
  REQUIRE_FALSE(reading->failed);
  CHECK(reading->accounted());
  return reading;
}

std::string event_of(const EtlReading& reading, std::size_t row) {
  return reading.sink.events[reading.sink.rows.at(row).sample.event].name;
}

TEST_SUITE_BEGIN("etl rules");

TEST_CASE("counters between header and payload of a profile event are passed over") {
  struct Case {
    const char* name;
    std::uint32_t bits;
    std::size_t words;
  };
  for (const Case& c : {Case{"none", 0, 0}, Case{"one", 0x0100, 1}, Case{"seven", 0x0700, 7},
                        Case{"a PEBS index", 0x8000, 1}, Case{"an index and two", 0x8200, 3}}) {
    CAPTURE(c.name);
    const auto reading = read_events(
        [&](EtlWriter& out) { out.raw(0, profile_event(c.bits, c.words, 100, kK + 0x123, 1)); });
    REQUIRE(reading->sink.rows.size() == 1);
    CHECK(reading->sink.rows[0].stack == "kfffff80000000123");
    CHECK(reading->sink.rows[0].sample.tid == 7);
    CHECK_FALSE(reading->sink.counters.any_loss());
  }
}

TEST_CASE("the count of a profile event is its weight") {
  for (const auto& [count, weight] : {std::pair{0, 1}, {1, 1}, {2, 2}, {500, 500}}) {
    CAPTURE(count);
    const auto reading = read_events([&, n = count](EtlWriter& out) {
      out.raw(0, profile_event(0, 0, 100, kK + 1, static_cast<std::uint16_t>(n)));
    });
    REQUIRE(reading->sink.rows.size() == 1);
    CHECK(reading->sink.rows[0].sample.weight == static_cast<std::uint64_t>(weight));
  }
}

TEST_CASE("more buffers than the header declares are a notice, fewer are damage") {
  constexpr std::size_t kBuffersWritten = etl::kBufferHeaderBytes + 0x20 + 0x24;
  auto file = make_etl({}, [](EtlWriter& out) {
    out.sample(0, 100, 7, kK + 1);
    out.flush(0);
    out.sample(0, 200, 7, kK + 1);
  });
  put_u32(file, kBuffersWritten, 1);
  const auto more = read_etl(file);
  CHECK(more->loss("buffers_beyond_declared") == 2);
  CHECK_FALSE(more->sink.counters.any_loss());
  put_u32(file, kBuffersWritten, 5);
  const auto fewer = read_etl(file);
  CHECK(fewer->loss("buffers_beyond_declared") == 0);
  CHECK(fewer->loss("declared_buffers_not_found") == 2);
  CHECK(fewer->sink.counters.any_loss());
}

TEST_CASE("no stack belongs to an event of the rundown") {
  const TestBytes payload = TestBytes().u32(5).u32(7).zeros(64);
  for (const auto& [type, expected] :
       {std::pair{1, "Thread/Start"}, {2, "Thread/End"}, {3, "unknown"}, {4, "unknown"}}) {
    CAPTURE(type);
    const auto reading = read_events([&, t = type](EtlWriter& out) {
      out.system(0, 100, etl::kGroupThread, static_cast<std::uint8_t>(t), 3, 7, 5, payload);
      out.stack(0, 110, 100, 5, 7, {kU + 1, kU + 2});
    });
    REQUIRE(reading->sink.rows.size() == 1);
    CHECK(event_of(*reading, 0) == expected);
  }
}

TEST_CASE("thread 0 belongs to process 0, whatever a thread event says") {
  const auto reading = read_events([](EtlWriter& out) {
    out.thread(0, 50, 1, 9, 0);
    out.thread(0, 60, 1, 9, 7);
    out.sample(0, 100, 0, kK + 1);
    out.sample(0, 200, 7, kK + 2);
  });
  REQUIRE(reading->sink.rows.size() == 2);
  CHECK(reading->sink.rows[0].sample.pid == 0);
  CHECK((reading->sink.rows[0].sample.flags & kSampleIdle) != 0);
  CHECK(reading->sink.rows[1].sample.pid == 9);
  CHECK(reading->sink.rows[1].sample.flags == 0);
}

TEST_CASE("a kernel half of the idle process or of System waits for no user half") {
  for (const std::uint32_t pid : {0U, 4U, 5U}) {
    for (const bool keyed : {false, true}) {
      CAPTURE(pid);
      CAPTURE(keyed);
      const auto reading = read_events([&](EtlWriter& out) {
        out.sample(0, 100, 7, kK + 1);
        if (keyed) {
          out.key_reference(0, 110, 100, pid, 7, 0x111, true);
          out.key_definition(0, 115, 0x111, {kK + 1, kK + 2});
        } else {
          out.stack(0, 110, 100, pid, 7, {kK + 1, kK + 2});
        }
        out.stack(0, 120, 100, pid, 7, {kU + 1});
      });
      const bool joined = pid == 5;
      CHECK(reading->summary.kernel_and_user == (joined ? 1 : 0));
      CHECK(reading->summary.kernel_only == (joined ? 0 : 1));
    }
  }
}

TEST_CASE("a definition that no stack refers to is a notice") {
  for (const bool used : {false, true}) {
    CAPTURE(used);
    const auto reading = read_events([&](EtlWriter& out) {
      out.sample(0, 100, 7, kK + 1);
      if (used) {
        out.key_reference(0, 110, 100, 5, 7, 0x111, true);
      }
      out.key_definition(0, 120, 0x111, {kK + 1, kK + 2});
    });
    CHECK(reading->loss("unused_stack_definitions") == (used ? 0 : 1));
    CHECK_FALSE(reading->sink.counters.any_loss());
  }
}

TEST_CASE("a kernel event that is most likely another one is damage") {
  const TestBytes profile = TestBytes().u64(kK + 1).u32(7).u32(1);
  const TestBytes other_words = TestBytes().u64(kK + 1).u32(7).u32(0x2000'0002);
  const TestBytes no_thread = TestBytes().u64(kK + 1).u32(8).u32(1);
  const TestBytes idle = TestBytes().u64(kK + 1).u32(0).u32(1);
  const TestBytes stack = TestBytes().u64(1'000'000).u32(5).u32(7).u64(kK + 1);
  const TestBytes of_no_event = TestBytes().u64(1'000'001).u32(5).u32(7).u64(kK + 1);
  const TestBytes of_no_thread = TestBytes().u64(1'000'000).u32(5).u32(8).u64(kK + 1);
  struct Case {
    const char* name;
    std::uint8_t group;
    std::uint8_t type;
    const TestBytes& payload;
    std::uint64_t doubts;
  };
  for (const Case& c :
       {Case{"a profile event", 15, 46, profile, 0}, Case{"of no known type", 15, 62, profile, 1},
        Case{"of no known group", 31, 46, profile, 1},
        Case{"of no known type, with other words", 15, 62, other_words, 0},
        Case{"of no known type, of a thread that nobody saw", 15, 62, no_thread, 0},
        Case{"of no known type, in the idle thread", 15, 62, idle, 1},
        Case{"of no known type, with another payload", 15, 62, of_no_event, 0},
        Case{"a stack", 24, 32, stack, 0}, Case{"of stacks, unknown", 24, 33, stack, 1},
        Case{"a stack in a definition's clothes", 24, 34, stack, 1},
        Case{"a stack among the heaps", 16, 32, stack, 1},
        Case{"a stack of no event among the heaps", 16, 32, of_no_event, 0},
        Case{"a stack of no thread among the heaps", 16, 32, of_no_thread, 0}}) {
    CAPTURE(c.name);
    const auto reading = read_events([&](EtlWriter& out) {
      out.sample(0, 1'000'000, 7, kK + 2);
      out.perf_info(0, 1'000'100, c.group, c.type, 2, c.payload);
    });
    CHECK(reading->loss("doubtful_kernel_events") == c.doubts);
    CHECK(reading->sink.counters.any_loss() == (c.doubts != 0));
  }
}

TEST_CASE("kernel events whose payload begins with a time of their own are sound") {
  // Memory/32 begins with when the fault began, Registry with when the call did; both belong to a
  // thread that has samples, and were logged a moment later.
  constexpr std::uint64_t kBegan = 2'000'003;
  const TestBytes hard_fault =
      TestBytes().u64(kBegan).u64(0x7'0000'1000).u64(kU).u64(kK + 9).u32(7).u32(4096);
  const TestBytes registry = TestBytes().u64(kBegan).u32(0).u32(7).u64(kK + 5).zeros(8);
  const TestBytes isr = TestBytes().u64(kBegan).u64(kK + 1).u32(1).u32(7);
  struct Case {
    std::uint8_t group;
    std::uint8_t type;
    const TestBytes& payload;
  };
  for (const Case& c : {Case{2, 32, hard_fault}, Case{9, 11, registry}, Case{9, 16, registry},
                        Case{15, 67, isr}, Case{15, 68, isr}}) {
    CAPTURE(c.group);
    CAPTURE(c.type);
    const auto reading = read_events([&](EtlWriter& out) {
      out.thread(0, 1'000'002, 3, 5, 7);
      for (std::uint64_t i = 0; i < 50; ++i) {
        out.sample(0, 2'000'000 + 10 * i, 7, kK + 2);
        out.perf_info(0, 2'000'005 + 10 * i, c.group, c.type, 2, c.payload);
      }
    });
    CHECK(reading->loss("doubtful_kernel_events") == 0);
    CHECK_FALSE(reading->sink.counters.any_loss());
  }
}

TEST_CASE("an event that has taken in those after it is damage") {
  TestBytes first;
  first.append(profile_event(0, 0, 100, kK + 1, 1));
  const auto second = profile_event(0, 0, 200, kK + 2, 1);
  first.append(second);
  first.bytes[4] = static_cast<std::byte>(first.bytes.size());
  const auto reading = read_events([&](EtlWriter& out) { out.raw(0, first.bytes); });
  CHECK(reading->loss("overlong_events") == 1);
  CHECK(reading->loss("bad_profile_events") == 1);
  CHECK(reading->sink.rows.size() == 1);
}

TEST_CASE("the text of a GUID has all its digits") {
  CHECK(etl::text_of(etl::make_guid(0x01234567, 0x89ab, 0xcdef, 0x0123, 0x456789abcdef)) ==
        "01234567-89ab-cdef-0123-456789abcdef");
}

TEST_CASE("a sample is of the processor whose buffer it lies in") {
  const auto reading = read_events([](EtlWriter& out) {
    out.sample(0, 100, 7, kK + 1);
    out.sample(3, 200, 7, kK + 1);
    out.sample(1, 300, 7, kK + 1);
  });
  REQUIRE(reading->sink.rows.size() == 3);
  CHECK(reading->sink.rows[0].sample.cpu == 0);
  CHECK(reading->sink.rows[1].sample.cpu == 3);
  CHECK(reading->sink.rows[2].sample.cpu == 1);
}

TEST_CASE("a trace says when it began, and how fast its clock goes") {
  const auto reading = read_events([](EtlWriter& out) { out.sample(0, 100, 7, kK + 1); });
  std::vector<std::string> keys;
  for (const MetadataEntry& entry : reading->sink.system_facts.finish().metadata) {
    CHECK_FALSE(entry.value.empty());
    keys.push_back(entry.key);
  }
  for (const char* key : {"etl.clock_frequency", "etl.start_unix_ns"}) {
    CAPTURE(key);
    CHECK(std::count(keys.begin(), keys.end(), key) == 1);
  }
}

TEST_CASE("well-known providers have names") {
  constexpr etl::Guid known = etl::make_guid(0xe13c0d23, 0xccbc, 0x4e12, 0x931b, 0xd9cc2eee27e4);
  constexpr etl::Guid unknown = etl::make_guid(0x11111111, 0x2222, 0x3333, 0x4444, 0x555555555555);
  CHECK(etl::provider_name(known) == "Microsoft-Windows-DotNETRuntime");
  CHECK(etl::provider_name(unknown).empty());
  const auto reading = read_events([&](EtlWriter& out) {
    for (const etl::Guid& guid : {known, unknown}) {
      out.provider(0, 100, guid, 10, 1, 0, 7, 5, TestBytes().u64(1), {out.stack_item(0, {kU + 1})});
    }
  });
  REQUIRE(reading->sink.rows.size() == 2);
  CHECK(event_of(*reading, 0) == "Microsoft-Windows-DotNETRuntime/GC/AllocationTick");
  CHECK(event_of(*reading, 1) == "11111111-2222-3333-4444-555555555555/id10");
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
