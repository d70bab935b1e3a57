// Reading .nettrace and .netperf: what becomes a sample, what is lost, what is damage.
#include "formats/nettrace/nettrace_source.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "io/byte_source.h"
#include "support/nettrace_maker.h"
#include "support/recorded_functions.h"
#include "support/silent_loss.h"
#include "support/source_folder.h"

namespace stackpack::test {
namespace {

constexpr std::string_view kRuntime = "Microsoft-Windows-DotNETRuntime";
constexpr std::string_view kSampler = "Microsoft-DotNETCore-SampleProfiler";
constexpr std::string_view kUniversal = "Universal.System";

struct NettraceReading {
  CollectingSink sink;
  bool failed = false;
  Error error{};
  capture::ByteAccount account;

  [[nodiscard]] std::uint64_t loss(std::string_view name) const {
    return sink.counters.count(name);
  }
  // Event, time, thread, processor, weight, callstack of each sample.
  [[nodiscard]] std::vector<std::string> samples() const {
    std::vector<std::string> lines;
    for (const CollectingSink::Row& row : sink.rows) {
      const Sample& sample = row.sample;
      const std::string cpu = sample.cpu == kUnknownId ? "-" : std::to_string(sample.cpu);
      lines.push_back(sink.events[sample.event].name + ' ' + std::to_string(sample.tid) + ' ' +
                      cpu + ' ' + std::to_string(sample.weight) + ' ' + row.stack);
    }
    return lines;
  }
};

std::unique_ptr<NettraceReading> read_nettrace(const std::vector<std::byte>& file) {
  auto reading = std::make_unique<NettraceReading>();
  const auto source = io::source_of_memory(file);
  const auto account = nettrace::read_capture(*source, reading->sink, {});
  reading->failed = !account;
  if (account) {
    reading->account = *account;
    CHECK(account->total == file.size());
    CHECK(account->balanced());
  } else {
    reading->error = account.error();
  }
  return reading;
}

std::vector<std::byte> sample_of_type(std::uint32_t type) {
  return TestBytes().u32(type).bytes;
}

NettraceEvent event_of(std::uint32_t number, std::uint64_t ticks, std::uint32_t stack,
                       std::vector<std::byte> payload = sample_of_type(2)) {
  NettraceEvent event;
  event.number = number;
  event.ticks = ticks;
  event.stack = stack;
  event.payload = std::move(payload);
  return event;
}

std::vector<std::byte> method_payload(std::uint64_t start, std::string_view space,
                                      std::string_view name, std::string_view signature) {
  TestBytes bytes;
  bytes.u64(1).u64(9).u64(start).u32(0x100).u32(0x06000001).u32(8);
  put_utf16(bytes, space);
  put_utf16(bytes, name);
  put_utf16(bytes, signature).u16(9).u64(0);
  return bytes.bytes;
}

TEST_SUITE_BEGIN("nettrace");

TEST_CASE("samples of threads: managed apart from external, and no processor of the sampler") {
  NettraceWriter out(4);
  out.metadata(1, kSampler, 0, "ThreadSample");
  out.stacks(1, {{0x1000, 0x2000}, {}});
  NettraceEvent by_sampler = event_of(1, 2000, 1);
  by_sampler.capture_thread = 99;
  by_sampler.processor = 3;
  NettraceEvent external = event_of(2, 2001, 1, sample_of_type(1));
  external.capture_thread = 99;
  NettraceEvent own = event_of(1, 2002, 2);
  own.processor = 2;
  out.events({by_sampler, external, own});
  const auto reading = read_nettrace(out.finish());
  REQUIRE_FALSE(reading->failed);
  CHECK(reading->samples() == std::vector<std::string>{"Managed 7 - 1 u1000 u2000",
                                                       "External 7 - 1 u1000 u2000",
                                                       "Managed 7 2 1 "});
  // 2024-02-29 12:30:15.250 is at 1000 ticks of a microsecond.
  CHECK(reading->sink.rows[0].sample.time_ns == 1'709'209'815'251'000'000U);
  CHECK(reading->sink.rows[0].sample.pid == 4321);
  CHECK(reading->sink.rows[2].sample.origin == StackOrigin::kNone);
  CHECK_FALSE(reading->sink.counters.any_loss());
}

TEST_CASE("ids of stacks die at a sequence point") {
  for (const std::uint32_t version : {4U, 6U}) {
    CAPTURE(version);
    NettraceWriter out(version);
    out.metadata(1, kSampler, 0, "");
    if (version == 6) {
      out.thread(7, 10, 11);
    }
    out.stacks(1, {{0x1000}, {0x2000}});
    out.events({event_of(1, 2000, 1), event_of(2, 2001, 2)});
    out.sequence_point({{7, 2}});
    out.stacks(1, {{0x3000}});
    out.events({event_of(3, 2002, 1), event_of(4, 2003, 2)});
    const auto reading = read_nettrace(out.finish());
    REQUIRE(reading->sink.rows.size() == 4);
    CHECK(reading->sink.rows[2].stack == "u3000");
    CHECK(reading->sink.rows[3].stack.empty());
    CHECK(reading->loss("unknown_stack") == 1);
    CHECK(reading->loss("recorder_lost_events") == 0);
  }
}

TEST_CASE("events that are missing are counted by the numbers of the others") {
  struct Case {
    const char* what;
    std::vector<std::uint32_t> numbers;
    std::uint32_t last;
    std::uint64_t lost;
    std::uint64_t notices;
  };
  for (const Case& numbered :
       std::initializer_list<Case>{{"none", {1, 2, 3}, 3, 0, 0},
                                   {"between", {1, 4, 5}, 5, 2, 0},
                                   {"first", {4, 5, 6}, 6, 3, 0},
                                   {"before the sequence point", {1, 2, 3}, 10, 7, 0},
                                   {"thread id used again", {1, 2, 1}, 1, 0, 1},
                                   {"back", {10, 11, 9}, 9, 9, 1}}) {
    CAPTURE(numbered.what);
    NettraceWriter out(4);
    out.metadata(1, kSampler, 0, "");
    out.stacks(1, {{0x1000}});
    std::vector<NettraceEvent> events;
    for (const std::uint32_t number : numbered.numbers) {
      events.push_back(event_of(number, 2000 + number, 1));
    }
    // Times may not go back in a row of a real recorder, but nothing here depends on it.
    for (std::size_t i = 0; i < events.size(); ++i) {
      events[i].ticks = 2000 + i;
    }
    out.events(events);
    out.sequence_point({{7, numbered.last}});
    const auto reading = read_nettrace(out.finish());
    CHECK(reading->sink.rows.size() == 3);
    CHECK(reading->loss("recorder_lost_events") == numbered.lost);
    CHECK(reading->loss("sequence_went_back") + reading->loss("thread_ids_used_again") ==
          numbered.notices);
  }
}

TEST_CASE("numbers go on after 2^32, and threads that nobody saw lost what they numbered") {
  NettraceWriter out(4);
  out.metadata(1, kSampler, 0, "");
  out.stacks(1, {{0x1000}});
  out.sequence_point({{7, 0xFFFFFFFE}, {8, 5}});
  out.events({event_of(0xFFFFFFFF, 2000, 0), event_of(2, 2001, 0)});
  const auto reading = read_nettrace(out.finish());
  CHECK(reading->loss("recorder_lost_events") == 0xFFFFFFFEULL + 5 + 2);
}

TEST_CASE("weights are what the payload says") {
  NettraceWriter out(4);
  out.metadata(1, kRuntime, 10, "", 4);
  out.metadata(2, kRuntime, 91, "", 1);
  out.metadata(3, kRuntime, 10, "", 0);
  out.stacks(1, {{0x1000}});
  NettraceEvent allocation =
      event_of(1, 2000, 1, TestBytes().u32(7).u32(0).u16(1).u64(5 << 20).bytes);
  NettraceEvent contention =
      event_of(2, 2001, 1, TestBytes().u8(0).u16(1).u64(0x40F86A0000000000).bytes);
  contention.metadata = 2;
  NettraceEvent old_allocation = event_of(3, 2002, 1, TestBytes().u32(7).u32(0).bytes);
  old_allocation.metadata = 3;
  NettraceEvent cut = event_of(4, 2003, 1, TestBytes().u16(7).bytes);
  out.events({allocation, contention, old_allocation, cut});
  const auto reading = read_nettrace(out.finish());
  const std::string tick = std::string(kRuntime) + "/GC/AllocationTick";
  CHECK(reading->samples() ==
        std::vector<std::string>{tick + " 7 0 5242880 u1000",
                                 std::string(kRuntime) + "/Contention/Stop 7 0 100000 u1000",
                                 tick + " 7 0 7 u1000", tick + " 7 0 0 u1000"});
  CHECK(reading->loss("bad_payload") == 1);
}

TEST_CASE("methods have names; what says that they are there is no sample") {
  NettraceWriter out(4);
  out.metadata(1, kSampler, 0, "");
  out.metadata(2, "Microsoft-Windows-DotNETRuntimeRundown", 144, "", 2);
  out.stacks(1, {{0x1010}});
  NettraceEvent method = event_of(2, 2001, 1, method_payload(0x1000, "N.C", "M", "void  (int32)"));
  method.metadata = 2;
  NettraceEvent broken = event_of(3, 2002, 0, TestBytes().u64(1).bytes);
  broken.metadata = 2;
  out.events({event_of(1, 2000, 1), method, broken});
  const auto reading = read_nettrace(out.finish());
  CHECK(reading->sink.rows.size() == 1);
  CHECK(reading->loss("bookkeeping_stacks") == 1);
  CHECK(reading->loss("bad_method") == 1);
  CHECK(reading->loss("no_method_names") == 0);
  const std::vector<NamedRange> functions = functions_of(reading->sink);
  REQUIRE(functions.size() == 1);
  CHECK(functions[0].name == "N.C.M(int32)");
  CHECK(functions[0].start == 0x1000);
}

TEST_CASE("stacks as deep as a runtime walks are said to be cut") {
  NettraceWriter out(4);
  out.metadata(1, kSampler, 0, "");
  out.stacks(1, {std::vector<std::uint64_t>(100, 0x1000), std::vector<std::uint64_t>(99, 0x1000)});
  out.events({event_of(1, 2000, 1), event_of(2, 2001, 2)});
  const auto reading = read_nettrace(out.finish());
  CHECK(reading->loss("stacks_cut_by_runtime") == 1);
  CHECK((reading->sink.rows[0].sample.flags & kSampleIncomplete) != 0);
  CHECK((reading->sink.rows[1].sample.flags & kSampleIncomplete) == 0);
  CHECK(reading->loss("no_method_names") == 1);
}

TEST_CASE("callstacks of old files come with their events, addresses of 32 bits are the user's") {
  NettraceWriter out(3, 4);
  out.metadata(1, kSampler, 0, "");
  NettraceEvent event = event_of(0, 2000, 0);
  event.inline_stack = {0xC0001000, 0x2000};
  out.events({event});
  const auto reading = read_nettrace(out.finish());
  CHECK(reading->samples() == std::vector<std::string>{"Managed 7 - 1 uc0001000 u2000"});
}

TEST_CASE("ids of threads of 64 bits stay apart") {
  NettraceWriter out(4);
  out.metadata(1, kSampler, 0, "");
  out.stacks(1, {{0x1000}});
  NettraceEvent small = event_of(1, 2000, 1);
  NettraceEvent large = event_of(2, 2001, 1);
  large.thread = 0x7'0000'0007;
  out.events({small, large});
  const auto reading = read_nettrace(out.finish());
  CHECK(reading->sink.rows[0].sample.tid == 7);
  CHECK(reading->sink.rows[1].sample.tid == 8);
  CHECK(reading->loss("long_thread_ids") == 1);
  const auto threads = reading->sink.system_facts.finish().threads;
  REQUIRE(threads.size() == 2);
  CHECK(threads[0].name.empty());
  CHECK(threads[1].name.starts_with("thread 0x"));
  CHECK(threads[1].name.size() == 25);
}

TEST_CASE("universal events bring processes, mappings, build ids and symbols") {
  NettraceWriter out(6);
  out.metadata(1, "Universal.Events", 0, "cpu", 0, "Value");
  out.metadata(2, "Universal.Events", 1, "cswitch", 0, "Value");
  out.metadata(3, kUniversal, 3, "ProcessMapping", 0, "Id");
  out.metadata(4, kUniversal, 4, "ProcessSymbol", 0, "Id");
  out.metadata(5, kUniversal, 5, "ProcessMappingMetadata", 0, "Id");
  out.metadata(6, kUniversal, 0, "ExistingProcess", 0, "NamespaceId");
  out.thread(1, 10, 11);
  out.stacks(1, {{0xFFFFFFFF81000010, 0x401020}});
  const auto of = [](std::uint32_t number, std::uint32_t metadata, std::uint32_t stack,
                     const TestBytes& payload) {
    NettraceEvent event = event_of(number, 2000 + number, stack, payload.bytes);
    event.metadata = metadata;
    event.thread = event.capture_thread = 1;
    return event;
  };
  TestBytes process;
  put_short_utf8(put_varint(process, 10), "app");
  put_short_utf8(process, "Unknown");
  TestBytes metadata;
  put_short_utf8(put_varint(metadata, 1), R"({"type":"ELF","build_id":"00aabbff"})");
  put_short_utf8(metadata, "");
  TestBytes mapping;
  for (const std::uint64_t field : {8ULL, 0x401000ULL, 0x402000ULL, 0x1000ULL}) {
    put_varint(mapping, field);
  }
  put_varint(put_short_utf8(mapping, "/bin/app"), 1);
  const auto symbol = [](std::uint64_t start, std::uint64_t last, std::string_view name) {
    TestBytes payload;
    for (const std::uint64_t field : {std::uint64_t{1}, std::uint64_t{8}, start, last}) {
      put_varint(payload, field);
    }
    put_short_utf8(payload, name);
    return payload;
  };
  out.events({of(1, 6, 0, process), of(2, 5, 0, metadata),
              of(3, 4, 0, symbol(0x401010, 0x40102F, "early")), of(4, 3, 0, mapping),
              of(5, 4, 0, symbol(0x401010, 0x40101F, "alias")),
              of(6, 4, 0, symbol(0, ~std::uint64_t{0}, "all")), of(7, 4, 0, TestBytes().u8(1)),
              of(8, 1, 1, TestBytes().u8(1)),
              of(9, 2, 1, put_varint(*std::make_unique<TestBytes>(), 300))});
  const auto reading = read_nettrace(out.finish());
  CHECK(reading->samples() ==
        std::vector<std::string>{"cpu 11 0 1 kffffffff81000010 u401020",
                                 "cswitch 11 0 300000 kffffffff81000010 u401020"});
  CHECK(reading->loss("symbols_refused") == 1);
  CHECK(reading->loss("bad_payload") == 1);
  const capture::SystemTables tables = reading->sink.system_facts.finish();
  REQUIRE(tables.modules.size() == 1);
  CHECK(tables.modules[0].path == "/bin/app");
  CHECK(tables.modules[0].file_offset == 0x1000);
  CHECK(tables.modules[0].build_id == std::vector<std::uint8_t>{0, 0xAA, 0xBB, 0xFF});
  REQUIRE(tables.processes.size() == 1);
  CHECK(tables.processes[0].name == "app");
  const std::vector<NamedRange> functions = functions_of(reading->sink);
  REQUIRE(functions.size() == 2);  // the first of two with one start, and what the other has beyond
  CHECK(functions[0].name == "alias");
  CHECK(functions[0].size == 0x10);
  CHECK(functions[1].name == "early");
  CHECK(functions[1].start == 0x401020);
}

TEST_CASE("version 6 forgets threads and kinds of events when it says so") {
  NettraceWriter out(6);
  out.metadata(1, kSampler, 0, "");
  out.thread(7, 10, 11);
  out.stacks(1, {{0x1000}});
  out.events({event_of(1, 2000, 1)});
  out.block(50, {std::byte{1}});
  out.sequence_point({{7, 1}}, 3);
  out.stacks(1, {{0x1000}});
  out.events({event_of(1, 2001, 1)});
  const auto reading = read_nettrace(out.finish());
  REQUIRE(reading->sink.rows.size() == 2);
  CHECK(reading->sink.rows[1].sample.tid == kUnknownId);
  CHECK(reading->sink.events[1].name == "unknown");
  CHECK(reading->loss("unknown_thread") == 1);
  CHECK(reading->loss("unknown_metadata") == 1);
  CHECK(reading->loss("unknown_block_kind") == 1);
}

TEST_CASE("what cannot be read is refused") {
  const auto refused = [](const std::vector<std::byte>& file, std::string_view text) {
    const auto reading = read_nettrace(file);
    CHECK(reading->failed);
    CHECK(std::string(reading->error.what) == text);
  };
  std::vector<std::byte> newer = NettraceWriter(6).finish();
  newer[12] = std::byte{7};
  refused(newer, "nettrace: version 7 is not known");
  refused(NettraceWriter(4, 3).finish(), "nettrace: invalid pointer size");
  refused(NettraceWriter(4, 8, 0).finish(), "nettrace: invalid clock frequency");
  std::vector<std::byte> cut = NettraceWriter(4).finish();
  cut.resize(20);
  refused(cut, "nettrace: the file ends in its header");
  cut = NettraceWriter(4).finish();
  cut[20] = std::byte{'?'};
  refused(cut, "nettrace: no FastSerialization header");
  for (const std::uint32_t version : {4U, 6U}) {
    cut = NettraceWriter(version).finish();
    cut.resize(version == 6 ? 20 : 40);
    refused(cut, "nettrace: the file ends before the description of the trace");
  }
  std::vector<std::byte> object = NettraceWriter(4).finish();
  object[35] = std::byte{9};
  refused(object, "nettrace: version 9 is not known");
}

// Two events, a stack and an end; where the blocks of the two begin.
struct DamagedFile {
  std::vector<std::byte> bytes;
  std::size_t first = 0;
  std::size_t second = 0;
};

DamagedFile two_blocks() {
  NettraceWriter out(4);
  out.metadata(1, kSampler, 0, "");
  out.stacks(1, {{0x1000}});
  DamagedFile file;
  file.first = out.size();
  out.events({event_of(1, 2000, 1), event_of(2, 2001, 1)});
  file.second = out.size();
  out.events({event_of(3, 2002, 1)});
  file.bytes = out.finish();
  return file;
}

TEST_CASE("damage is counted where it is") {
  constexpr std::size_t kSizeWord = 15 + 10 + 1;  // of an EventBlock
  const DamagedFile whole = two_blocks();
  const auto cut = [&](std::size_t size) {
    std::vector<std::byte> bytes = whole.bytes;
    bytes.resize(size);
    return read_nettrace(bytes);
  };
  CHECK(cut(whole.second)->loss("no_end_of_stream") == 1);
  CHECK(cut(whole.second)->sink.rows.size() == 2);
  const auto within = cut(whole.second - 8);
  CHECK(within->loss("cut_block") == 1);
  CHECK(within->loss("cut_event") == 1);
  CHECK(within->sink.rows.size() == 1);

  DamagedFile negative = two_blocks();
  negative.bytes[negative.second + kSizeWord + 3] = std::byte{0xFF};
  const auto lost = read_nettrace(negative.bytes);
  CHECK(lost->loss("bad_block_size") == 1);
  CHECK(lost->loss("unread_bytes") == negative.bytes.size() - negative.second);
  CHECK(lost->sink.rows.size() == 2);

  DamagedFile varint = two_blocks();
  for (std::size_t i = 0; i < 12; ++i) {
    varint.bytes[varint.second - 30 + i] = std::byte{0xFF};
  }
  const auto row = read_nettrace(varint.bytes);
  CHECK(row->loss("bad_event") == 1);
  CHECK(row->sink.rows.size() < 3);
  CHECK(row->sink.rows.back().sample.time_ns % 1000 == 0);

  DamagedFile more = two_blocks();
  more.bytes.resize(more.bytes.size() + 5);
  const auto behind = read_nettrace(more.bytes);
  CHECK(behind->loss("bytes_behind_the_end") == 5);
  CHECK_FALSE(behind->sink.counters.any_loss());
}

TEST_CASE("the stored files are what the maker makes, and whole") {
  struct Stored {
    std::string name;
    std::uint32_t version;
    std::uint32_t rounds;
  };
  for (const Stored& stored :
       {Stored{"small.netperf", 3, 2}, {"small.nettrace", 4, 3}, {"small.v6.nettrace", 6, 3}}) {
    CAPTURE(stored.name);
    const std::vector<std::byte> bytes =
        read_test_file(source_folder() + "/testdata/" + stored.name);
    REQUIRE(bytes == small_trace(stored.version, stored.rounds));
    const auto reading = read_nettrace(bytes);
    CHECK_FALSE(reading->sink.counters.any_loss());
    CHECK(reading->sink.rows.size() == 10 * stored.rounds);
    // The methods are code of their assembly.
    reading->sink.system_facts.map_code([](std::uint64_t, std::uint64_t) { return true; });
    const capture::SystemTables tables = reading->sink.system_facts.finish();
    CHECK(std::count_if(tables.modules.begin(), tables.modules.end(), [](const Module& module) {
            return module.path == "/app/App.dll" && module.size == 0x100;
          }) == 3);
  }
}

LossReading read_losses_of_nettrace(const CaptureFiles& files) {
  const auto reading = read_nettrace(files[0]);
  return loss_reading(reading->sink, reading->failed);
}

TEST_CASE("blanked bytes lose no sample without a counter") {
  for (const std::uint32_t version : {4U, 6U}) {
    CAPTURE(version);
    NettraceWriter out(version);
    out.metadata(1, kSampler, 0, "");
    if (version == 6) {
      out.thread(7, 10, 11);
    }
    out.stacks(1, {{0x1000, 0x2000}, {0x3000}});
    for (std::uint32_t i = 0; i < 6; ++i) {
      out.events({event_of(2 * i + 1, 2000 + i, 1), event_of(2 * i + 2, 2000 + i, 2)});
    }
    out.sequence_point({{7, 12}});
    SilentLossCheck check({out.finish()}, read_losses_of_nettrace);
    CHECK(check.fill_pages(64, std::byte{0}).silent == 0);
    CHECK(check.fill_pages(16, std::byte{0xFF}).silent == 0);
    CHECK(check.flip_bits(3).silent == 0);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
