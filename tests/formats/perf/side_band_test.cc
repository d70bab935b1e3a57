#include "formats/perf/side_band.h"

#include <map>
#include <string>

#include <doctest/doctest.h>

#include "formats/perf/perf_losses.h"
#include "perf_outcome.h"
#include "support/perf_writer.h"

using namespace stackpack;
using perf::RecordType;
using test::PerfWriter;
using test::TestBytes;

namespace {

// With a trailer of TID and TIME, as the default attribute wants it.
TestBytes side(const PerfWriter& writer, RecordType type, std::uint16_t misc, TestBytes payload,
               std::uint64_t time) {
  payload.u32(0).u32(0).u64(time);
  return writer.record(type, misc, payload);
}

TestBytes comm(const PerfWriter& w, std::uint32_t pid, std::uint32_t tid, std::string_view name,
               std::uint64_t time, bool exec = false) {
  TestBytes payload = w.bytes();
  payload.u32(pid).u32(tid).text(name).u8(0).pad_to(8);
  return side(w, RecordType::kComm, exec ? perf::kMiscCommExec : 0, payload, time);
}

TestBytes life(const PerfWriter& w, RecordType type, std::uint32_t pid, std::uint32_t parent_pid,
               std::uint32_t tid, std::uint32_t parent_tid, std::uint64_t time) {
  TestBytes payload = w.bytes();
  payload.u32(pid).u32(parent_pid).u32(tid).u32(parent_tid).u64(time);
  return side(w, type, 0, payload, time);
}

TestBytes mmap(const PerfWriter& w, std::uint32_t pid, std::uint64_t base, std::uint64_t size,
               std::uint64_t offset, std::string_view path, std::uint64_t time,
               std::uint16_t misc = 0) {
  TestBytes payload = w.bytes();
  payload.u32(pid).u32(pid).u64(base).u64(size).u64(offset).text(path).u8(0).pad_to(8);
  return side(w, RecordType::kMmap, misc, payload, time);
}

constexpr std::uint64_t kInode = 4711;
constexpr std::uint64_t kGeneration = 99;

TestBytes mmap2(const PerfWriter& w, std::uint32_t pid, std::uint64_t base, std::string_view path,
                std::uint8_t build_id_size, std::uint64_t time) {
  TestBytes payload = w.bytes();
  payload.u32(pid).u32(pid).u64(base).u64(0x1000).u64(0x2000);
  if (build_id_size == 0) {
    payload.u32(8).u32(1).u64(kInode).u64(kGeneration);
  } else {
    payload.u8(build_id_size).zeros(3);
    for (std::uint8_t i = 0; i < 20; ++i) {
      payload.u8(i < build_id_size ? static_cast<std::uint8_t>(i + 1) : 0);
    }
  }
  payload.u32(5).u32(2).text(path).u8(0).pad_to(8);
  const std::uint16_t misc = build_id_size != 0 ? perf::kMiscMmapBuildId : 0;
  return side(w, RecordType::kMmap2, misc, payload, time);
}

capture::SystemTables tables_of(const std::vector<TestBytes>& records,
                                bytes::ByteOrder order = bytes::ByteOrder::kLittle) {
  const PerfWriter writer(order);
  const auto outcome = test::read_perf(writer.pipe({test::TestAttr{}}, records));
  REQUIRE(outcome.status.has_value());
  CHECK_FALSE(outcome.damaged());
  CHECK(outcome.balanced());
  return outcome.sink->system_facts.finish();
}

}  // namespace

TEST_CASE("perf side band: forks inherit, execs begin anew, threads have names, in both orders") {
  for (const bytes::ByteOrder order : {bytes::ByteOrder::kLittle, bytes::ByteOrder::kBig}) {
    const PerfWriter w(order);
    const auto tables = tables_of(
        {comm(w, 10, 10, "shell", 0), life(w, RecordType::kFork, 11, 10, 11, 10, 100),
         comm(w, 11, 11, "worker", 200, true), life(w, RecordType::kFork, 11, 11, 12, 11, 300),
         comm(w, 11, 12, "helper", 310), life(w, RecordType::kExit, 11, 10, 12, 10, 400),
         life(w, RecordType::kExit, 11, 10, 11, 10, 500)},
        order);
    REQUIRE(tables.processes.size() == 3);
    CHECK(tables.processes[0].name == "shell");
    CHECK(tables.processes[0].start_ns == kUnknownTime);
    CHECK(tables.processes[1].name == "shell");
    CHECK(tables.processes[1].parent_pid == 10);
    CHECK(tables.processes[1].start_ns == 100);
    CHECK(tables.processes[1].inherits_mappings);
    CHECK(tables.processes[1].end_ns == 200);
    CHECK(tables.processes[2].name == "worker");
    CHECK_FALSE(tables.processes[2].inherits_mappings);
    CHECK(tables.processes[2].end_ns == 500);
    const Thread& helper = tables.threads.back();
    CHECK(helper.tid == 12);
    CHECK(helper.name == "helper");
    CHECK(helper.end_ns == 400);
  }
}

TEST_CASE("perf side band: mappings of processes and of the kernel") {
  const PerfWriter w;
  const auto tables = tables_of({
      mmap(w, 10, 0x400000, 0x1000, 0x200, "/bin/a", 0),
      mmap(w, 10, 0x800000, 0x1000, 0, "/data", 7, perf::kMiscMmapData),
      mmap2(w, 10, 0x500000, "/lib/b.so", 20, 50),
      mmap2(w, 10, 0x600000, "/lib/c.so", 8, 60),
      mmap2(w, 10, 0x700000, "/lib/d.so", 0, 70),
      mmap(w, kKernelPid, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
           "[kernel.kallsyms]_text", 0),
  });
  REQUIRE(tables.modules.size() == 5);
  CHECK(tables.modules[0].path == "/bin/a");
  CHECK(tables.modules[0].file_offset == 0x200);
  CHECK(tables.modules[0].start_ns == kUnknownTime);
  CHECK(tables.modules[1].build_id.size() == 20);
  CHECK(tables.modules[1].build_id_kind == BuildIdKind::kGnu);
  CHECK(tables.modules[1].start_ns == 50);
  CHECK(tables.modules[2].build_id == std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(tables.modules[3].build_id.empty());
  CHECK(tables.modules[3].file == MappedFile{8, 1, kInode, kGeneration});
  CHECK(tables.modules[2].file == MappedFile{});
  CHECK(tables.modules[4].pid == kKernelPid);
  CHECK(tables.modules[4].path == "[kernel.kallsyms]");
  CHECK(tables.modules[4].file_offset == 0);
}

TEST_CASE("perf side band: what the kernel's own mapping refers to is kept") {
  const PerfWriter w;
  const auto tables = tables_of({
      mmap(w, kKernelPid, 0xffffffff81000000, 0x1000000, 0xffffffff81000280,
           "[kernel.kallsyms]_stext", 0),
      mmap(w, kKernelPid, 0xffffffff82000000, 0x1000000, 0xffffffff82000000,
           "[guest.kernel.kallsyms.77]_text", 0),
      mmap(w, kKernelPid, 0xffffffff83000000, 0x1000000, 0x10, "[guest.kernel.kallsyms]", 0),
  });
  std::map<std::string, std::string> facts;
  for (const MetadataEntry& entry : tables.metadata) {
    if (entry.key.find(".reference_") != std::string::npos) {
      facts[entry.key] = entry.value;
    }
  }
  CHECK(facts == std::map<std::string, std::string>{
                     {"kernel.reference_symbol", "_stext"},
                     {"kernel.reference_address", "0xffffffff81000280"},
                     {"guest_kernel.77.reference_symbol", "_text"},
                     {"guest_kernel.77.reference_address", "0xffffffff82000000"}});
  for (const Module& module : tables.modules) {
    CHECK(module.file_offset == 0);
  }
}

TEST_CASE("perf side band: kernel symbols come and go as modules") {
  const PerfWriter w;
  const auto ksymbol = [&](std::uint16_t flags, std::uint64_t time) {
    TestBytes payload;
    payload.u64(0xffffffffc0000000).u32(0x80).u16(1).u16(flags).text("bpf_prog_x").u8(0).pad_to(8);
    return side(w, RecordType::kKsymbol, 0, payload, time);
  };
  const auto tables = tables_of({ksymbol(0, 100), ksymbol(1, 200)});
  REQUIRE(tables.modules.size() == 1);
  CHECK(tables.modules[0].path == "bpf_prog_x");
  CHECK(tables.modules[0].size == 0x80);
  CHECK(tables.modules[0].start_ns == 100);
  CHECK(tables.modules[0].end_ns == 200);
}

TEST_CASE("perf side band: build ids from records, of 20 bytes or as many as they say") {
  const PerfWriter w;
  const auto build_id = [&](std::uint8_t size, std::string_view path) {
    TestBytes payload;
    payload.u32(~std::uint32_t{0});
    for (std::uint8_t i = 0; i < 20; ++i) {
      payload.u8(static_cast<std::uint8_t>(0xa0 + i));
    }
    payload.u8(size).zeros(3).text(path).u8(0).pad_to(8);
    return w.record(RecordType::kHeaderBuildId, size != 0 ? perf::kMiscBuildIdSize : 0, payload);
  };
  const auto tables =
      tables_of({mmap(w, 10, 0x1000, 0x1000, 0, "/a", 0), mmap(w, 10, 0x9000, 0x1000, 0, "/b", 0),
                 mmap(w, kKernelPid, 0x10000, 0x1000, 7, "[kernel.kallsyms]_stext", 0),
                 build_id(0, "/a"), build_id(16, "/b"), build_id(0, "[kernel.kallsyms]")});
  REQUIRE(tables.modules.size() == 3);
  CHECK(tables.modules[0].build_id.size() == 20);
  CHECK(tables.modules[1].build_id.size() == 16);
  CHECK(tables.modules[2].build_id.size() == 20);
}

TEST_CASE("perf side band: losses are told apart, throttling is a notice") {
  const PerfWriter w;
  std::vector<TestBytes> records;
  for (const std::uint64_t lost : {3U, 4U}) {
    TestBytes payload;
    payload.u64(1).u64(lost);
    records.push_back(side(w, RecordType::kLost, 0, payload, 1));
  }
  TestBytes samples;
  samples.u64(5);
  records.push_back(side(w, RecordType::kLostSamples, 0, samples, 1));
  TestBytes throttle;
  throttle.u64(1).u64(2).u64(3);
  records.push_back(side(w, RecordType::kThrottle, 0, throttle, 1));
  records.push_back(side(w, RecordType::kUnthrottle, 0, throttle, 1));
  records.push_back(side(w, RecordType::kThrottle, 0, throttle, 1));
  const auto outcome = test::read_perf(w.pipe({test::TestAttr{}}, records));
  CHECK(outcome.count("recorder_lost_events") == 7);
  CHECK(outcome.count("recorder_lost_samples") == 5);
  CHECK(outcome.count(perf::loss::kThrottle) == 2);
  CHECK(outcome.count(perf::loss::kUnthrottle) == 1);
  CHECK_FALSE(outcome.damaged());
  CHECK(outcome.sink->counters.any_loss());
}

TEST_CASE("perf side band: counters of losses are there when nothing was lost") {
  const auto outcome = test::read_perf(PerfWriter().pipe({test::TestAttr{}}, {}));
  std::size_t known = 0;
  for (const LossCounter& counter : outcome.sink->counters.sorted()) {
    known += counter.name == "recorder_lost_events" || counter.name == "recorder_lost_samples";
    CHECK(counter.count == 0);
  }
  CHECK(known == 2);
}

TEST_CASE("perf side band: records that are too short are counted and skipped") {
  const PerfWriter w;
  for (const RecordType type :
       {RecordType::kComm, RecordType::kFork, RecordType::kExit, RecordType::kMmap,
        RecordType::kMmap2, RecordType::kKsymbol, RecordType::kLost, RecordType::kLostSamples}) {
    CAPTURE(static_cast<unsigned>(type));
    // Once too short for the trailer, once for the fields before it.
    TestBytes tiny;
    tiny.u32(1);
    const auto outcome = test::read_perf(
        w.pipe({test::TestAttr{}}, {w.record(type, 0, tiny), side(w, type, 0, tiny, 1),
                                    w.sample(1, 1, 1, {test::kContextUser, 0x10})}));
    REQUIRE(outcome.status.has_value());
    CHECK(outcome.count(name_of(perf::skip::kBadRecords)) == 2);
    CHECK(outcome.account.skipped.total() == 12 + 28);
    CHECK(outcome.balanced());
    CHECK(outcome.listing().size() == 1);
  }
}

TEST_CASE("perf side band: without sample_id_all records have no trailer and no time") {
  const PerfWriter w;
  test::TestAttr attr;
  attr.flags = 0;
  TestBytes payload;
  payload.u32(10).u32(10).text("name").u8(0).pad_to(8);
  const auto outcome = test::read_perf(w.pipe({attr}, {w.record(RecordType::kComm, 0, payload)}));
  const auto tables = outcome.sink->system_facts.finish();
  REQUIRE(tables.processes.size() == 1);
  CHECK(tables.processes[0].name == "name");
  CHECK(tables.processes[0].start_ns == kUnknownTime);
}

TEST_CASE(
    "perf side band: namespaces are values, those of before the capture from its first time") {
  const PerfWriter w;
  const auto namespaces = [&w](std::uint32_t pid, std::uint64_t first, std::uint64_t count,
                               std::uint64_t time) {
    TestBytes payload = w.bytes();
    payload.u32(pid).u32(pid + 1).u64(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      payload.u64(4).u64(first + i);
    }
    return side(w, RecordType::kNamespaces, 0, payload, time);
  };
  auto sink = std::make_unique<test::CollectingSink>();
  sink->keeps_values = true;
  const auto bytes =
      w.pipe({test::TestAttr{}}, {namespaces(10, 100, 7, 0), namespaces(20, 200, 7, 900),
                                  namespaces(30, 300, 2, 950), w.sample(10, 10, 500, {0x10})});
  perf::Input input;
  input.main = io::source_of_memory(bytes);
  REQUIRE(perf::read_capture(input, *sink, {}));
  std::vector<std::string> rows;
  REQUIRE(sink->value_recorder.finish(sink->counters, [&rows](const EventValue& row) {
    std::string text =
        std::to_string(row.time_ns) + ' ' + std::to_string(row.pid) + ' ' + std::to_string(row.tid);
    for (std::size_t i = 0; i < 8; ++i) {
      text += row.values[i] == kNoValue ? " -" : ' ' + std::to_string(row.values[i]);
    }
    rows.push_back(text);
    return Status();
  }));
  CHECK(rows == std::vector<std::string>{"500 10 11 100 101 102 103 104 105 106 0",
                                         "900 20 21 200 201 202 203 204 205 206 0",
                                         "950 30 31 300 301 - - - - - 0"});
  CHECK(sink->value_recorder.kinds().back().name == "perf:namespaces");
  // Without values the records are not kept, and counted.
  const auto without = test::read_perf(bytes);
  CHECK(without.count("records_not_kept.namespaces") == 3);
}
