// Fewer samples than the whole capture has are never without a counter: every byte of captures in
// each container with a flipped bit, pages blanked, and the cases that damage in the field showed.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "formats/perf/perf_losses.h"
#include "perf_outcome.h"
#include "support/perf_writer.h"
#include "support/silent_loss.h"

using namespace stackpack;
using test::PerfWriter;

namespace {

test::LossReading read_losses(const test::CaptureFiles& files) {
  perf::Input input;
  input.main = io::source_of_memory(files[0]);
  for (std::size_t i = 1; i < files.size(); ++i) {
    input.parts.push_back({static_cast<std::uint32_t>(i - 1), io::source_of_memory(files[i])});
  }
  const test::PerfOutcome outcome = test::read_perf(input);
  if (outcome.status) {
    CHECK(outcome.balanced());
  }
  return test::loss_reading(*outcome.sink, !outcome.status);
}

test::CaptureFiles capture_files(const std::string& name) {
  if (name != "threads") {
    return {test::testdata(name + ".perf.data")};
  }
  return {test::testdata("threads.perf.data/data"), test::testdata("threads.perf.data/data.0"),
          test::testdata("threads.perf.data/data.1")};
}

void put_u64(std::vector<std::byte>& bytes, std::size_t at, std::uint64_t value) {
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
  }
}

std::uint64_t get_u64(const std::vector<std::byte>& bytes, std::size_t at) {
  bytes::ByteCursor in(bytes, 0);
  in.seek(at);
  return in.read<std::uint64_t>();
}

}  // namespace

TEST_SUITE_BEGIN("perf silent loss");

TEST_CASE("a flipped bit loses no sample without a counter" * doctest::test_suite("slow")) {
  for (const char* name : {"tiny", "tiny-pipe", "tiny-zstd", "zstd-pipe", "threads"}) {
    CAPTURE(name);
    test::SilentLossCheck check(capture_files(name), read_losses);
    const test::LossTally tally = check.flip_bits(3);
    // Most damage is to addresses and times, and a capture survives it.
    CHECK(tally.refused < tally.readings / 20);
    CHECK(tally.whole > tally.readings / 2);
  }
}

TEST_CASE("more bits of a small file, pipe and compressed pipe lose no sample without a counter" *
          doctest::test_suite("slow")) {
  for (const char* name : {"tiny", "tiny-pipe", "tiny-zstd"}) {
    CAPTURE(name);
    test::SilentLossCheck check(capture_files(name), read_losses);
    for (const unsigned first_bit : {1U, 6U}) {
      CHECK(check.flip_bits(first_bit).silent == 0);
    }
  }
}

TEST_CASE("a record of the perf tool that has taken in samples is damage") {
  const PerfWriter writer;
  const auto sample = writer.sample(1, 1, 5, {test::kContextUser, 0x10});
  const auto map = test::TestBytes().u16(3).zeros(6);
  test::TestBytes grown = map;
  grown.append(sample.bytes)
      .append(writer.record(perf::RecordType::kFinishedRound, 0, test::TestBytes()).bytes);
  for (const bool hides : {false, true}) {
    CAPTURE(hides);
    const auto record = writer.record(perf::RecordType::kCpuMap, 0, hides ? grown : map);
    const auto outcome = test::read_perf(writer.pipe({test::TestAttr{}}, {record, sample}));
    CHECK(outcome.sink->rows.size() == 1);
    CHECK(outcome.count("overlong_records") == (hides ? 1 : 0));
    CHECK(outcome.balanced());
  }
}

TEST_CASE("a blanked page loses no sample without a counter") {
  for (const char* name : {"tiny", "tiny-pipe", "tiny-zstd", "zstd-pipe", "threads", "file"}) {
    CAPTURE(name);
    test::SilentLossCheck check(capture_files(name), read_losses);
    for (const std::size_t bytes : {std::size_t{4096}, std::size_t{512}, std::size_t{64}}) {
      CHECK(check.fill_pages(bytes, std::byte{0}).silent == 0);
      CHECK(check.fill_pages(bytes, std::byte{0xff}).silent == 0);
    }
  }
}

TEST_CASE("a compressed stream whose block is open at its end is damage") {
  // The size of a block reaches past its record: the decoder waits for the rest, and gives nothing.
  auto bytes = test::testdata("zstd-pipe.perf.data");
  const auto whole = test::read_perf(bytes).sink->rows.size();
  std::size_t at = 16;
  bytes::ByteCursor in(bytes, 0);
  std::size_t last_compressed = 0;
  while (at + perf::kRecordHeaderBytes <= bytes.size()) {
    in.seek(at);
    const perf::RecordHeader header = perf::read_record_header(in);
    if (static_cast<perf::RecordType>(header.type) == perf::RecordType::kCompressed) {
      last_compressed = at;
    }
    at += header.size;
  }
  REQUIRE(last_compressed != 0);
  auto cut = bytes;
  const std::size_t size_at = last_compressed + 6;
  const auto size = static_cast<std::size_t>(get_u64(cut, last_compressed) >> 48);
  constexpr std::size_t kCut = 40;
  cut[size_at] = static_cast<std::byte>(size - kCut);
  cut[size_at + 1] = static_cast<std::byte>((size - kCut) >> 8);
  cut.erase(cut.begin() + static_cast<std::ptrdiff_t>(last_compressed + size - kCut),
            cut.begin() + static_cast<std::ptrdiff_t>(last_compressed + size));
  const auto outcome = test::read_perf(cut);
  REQUIRE(outcome.status.has_value());
  CHECK(outcome.sink->rows.size() < whole);
  CHECK(outcome.count("compressed_data_damaged") == 1);
  CHECK(outcome.balanced());
}

TEST_CASE("a data section that was moved leaves bytes which no section names") {
  auto bytes = test::testdata("file.perf.data");
  const auto whole = test::read_perf(bytes).sink->rows.size();
  const std::uint64_t offset = get_u64(bytes, 40);
  const std::uint64_t size = get_u64(bytes, 48);
  // Offset forward and size back by whole records: what is left are records from end to end.
  std::uint64_t moved = 0;
  bytes::ByteCursor in(bytes, 0);
  while (moved < size / 2) {
    in.seek(offset + moved);
    moved += perf::read_record_header(in).size;
  }
  put_u64(bytes, 40, offset + moved);
  put_u64(bytes, 48, size - moved);
  const auto outcome = test::read_perf(bytes);
  REQUIRE(outcome.status.has_value());
  CHECK(outcome.sink->rows.size() < whole);
  CHECK(outcome.count("unreferenced_bytes") == moved);
  CHECK(outcome.damaged());
  CHECK(outcome.account.skipped.of(perf::skip::kUnreferenced) == moved);
}

TEST_CASE("a gap of zeros is padding, and any other is not") {
  const PerfWriter writer;
  auto bytes =
      writer.file({test::TestAttr{}}, {writer.sample(1, 1, 5, {test::kContextUser, 0x10})});
  bytes.resize(bytes.size() + 24);
  const auto blank = test::read_perf(bytes);
  CHECK_FALSE(blank.damaged());
  CHECK(blank.account.padding == 24);
  bytes.back() = std::byte{1};
  const auto used = test::read_perf(bytes);
  CHECK(used.count("unreferenced_bytes") == 24);
  CHECK(used.damaged());
  CHECK(used.account.padding == 0);
}

TEST_CASE("records whose size is not that of their type are damage") {
  const PerfWriter writer;
  const auto name = [](test::TestBytes bytes) { return bytes.text("name").zeros(4); };
  struct Case {
    const char* what;
    perf::RecordType type;
    test::TestBytes payload;
    const char* counter = "bad_records";
  };
  const auto zeros = [](std::size_t count) { return test::TestBytes().zeros(count); };
  const std::vector<Case> cases = {
      {"mmap", perf::RecordType::kMmap, name(zeros(32)), "overlong_records"},
      {"mmap2", perf::RecordType::kMmap2, name(zeros(64)), "overlong_records"},
      {"comm", perf::RecordType::kComm, name(zeros(8)), "overlong_records"},
      {"cgroup", perf::RecordType::kCgroup, name(zeros(8)), "overlong_records"},
      {"ksymbol", perf::RecordType::kKsymbol, name(zeros(16)), "overlong_records"},
      {"namespaces", perf::RecordType::kNamespaces, test::TestBytes().u64(0).u64(1).zeros(16)},
      {"text poke", perf::RecordType::kTextPoke, test::TestBytes().u64(0).u16(1).u16(2).zeros(4)},
      {"read", perf::RecordType::kRead, zeros(16)},
      {"exit", perf::RecordType::kExit, zeros(24)},
      {"fork", perf::RecordType::kFork, zeros(24)},
      {"throttle", perf::RecordType::kThrottle, zeros(24)},
      {"aux", perf::RecordType::kAux, zeros(24)},
      {"lost", perf::RecordType::kLost, zeros(16)},
      {"bpf event", perf::RecordType::kBpfEvent, zeros(16)},
      {"itrace start", perf::RecordType::kItraceStart, zeros(8)},
      {"switch", perf::RecordType::kSwitch, zeros(0)},
      {"finished round", perf::RecordType::kFinishedRound, zeros(0)},
      {"finished init", perf::RecordType::kFinishedInit, zeros(0)},
      {"id index", perf::RecordType::kIdIndex, test::TestBytes().u64(1).zeros(32)},
      {"thread map", perf::RecordType::kThreadMap, test::TestBytes().u64(1).zeros(24)},
      {"stat", perf::RecordType::kStat, zeros(40)},
      {"stat round", perf::RecordType::kStatRound, zeros(16)},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    test::TestAttr attr;
    attr.flags = 0;
    const auto right = test::read_perf(writer.pipe({attr}, {writer.record(c.type, 0, c.payload)}));
    CHECK_FALSE(right.damaged());
    test::TestBytes longer = c.payload;
    longer.text("as if the next record had been taken in, or part of it.").zeros(1);
    const auto wrong = test::read_perf(writer.pipe({attr}, {writer.record(c.type, 0, longer)}));
    CHECK(wrong.count(c.counter) == 1);
    CHECK(wrong.balanced());
  }
}

TEST_CASE("names with more padding than they need, and records without a trailer, are sound") {
  const PerfWriter writer;
  const auto trailer = test::TestBytes().u32(100).u32(100).u64(7);
  for (const std::size_t padding : {4U, 12U, 68U}) {
    for (const bool has_trailer : {true, false}) {
      CAPTURE(padding);
      CAPTURE(has_trailer);
      test::TestBytes comm = test::TestBytes().u32(100).u32(100).text("name").zeros(padding);
      test::TestBytes map = test::TestBytes().u32(100).u32(100).u64(0x1000).u64(0x100).u64(0);
      map.text("/lib").zeros(padding);
      test::TestBytes fork = test::TestBytes().u32(101).u32(100).u32(101).u32(100).u64(9);
      if (has_trailer) {
        comm.append(trailer.bytes);
        map.append(trailer.bytes);
        fork.append(trailer.bytes);
      }
      const auto outcome = test::read_perf(
          writer.pipe({test::TestAttr{}}, {
                                              writer.record(perf::RecordType::kComm, 0, comm),
                                              writer.record(perf::RecordType::kMmap, 2, map),
                                              writer.record(perf::RecordType::kFork, 0, fork),
                                          }));
      CHECK_FALSE(outcome.damaged());
      const capture::SystemTables tables = outcome.sink->system_facts.finish();
      REQUIRE(tables.modules.size() == 1);
      CHECK(tables.modules[0].path == "/lib");
      CHECK(tables.modules[0].start_ns == (has_trailer ? 7 : kUnknownTime));
      REQUIRE(tables.processes.size() == 2);
      CHECK(tables.processes[0].name == "name");
    }
  }
}

TEST_CASE("a mapping that takes in the records after it is kept, and counted") {
  const PerfWriter writer;
  test::TestBytes map = test::TestBytes().u32(1).u32(1).u64(0x1000).u64(0x100).u64(0);
  map.text("/lib").zeros(4).u32(1).u32(1).u64(4);
  auto first = writer.record(perf::RecordType::kMmap, 2, map);
  const auto second = writer.sample(1, 1, 6, {test::kContextUser, 0x20});
  first.bytes[6] = static_cast<std::byte>(first.bytes.size() + second.bytes.size());
  const auto third = writer.sample(1, 1, 7, {test::kContextUser, 0x30});
  const auto outcome = test::read_perf(writer.pipe({test::TestAttr{}}, {first, second, third}));
  CHECK(outcome.sink->rows.size() == 1);
  CHECK(outcome.count("overlong_records") == 1);
  REQUIRE(outcome.sink->system_facts.finish().modules.size() == 1);
}

TEST_CASE("a sample that takes in the records after it is kept, and counted") {
  const PerfWriter writer;
  auto first = writer.sample(1, 1, 5, {test::kContextUser, 0x10});
  const auto second = writer.sample(1, 1, 6, {test::kContextUser, 0x20});
  const auto size = static_cast<std::uint16_t>(first.bytes.size() + second.bytes.size());
  first.bytes[6] = static_cast<std::byte>(size);
  const auto third = writer.sample(1, 1, 7, {test::kContextUser, 0x30});
  const auto outcome = test::read_perf(writer.pipe({test::TestAttr{}}, {first, second, third}));
  REQUIRE(outcome.status.has_value());
  CHECK(outcome.sink->rows.size() == 2);
  CHECK(outcome.count("overlong_samples") == 1);
  CHECK(outcome.damaged());
}

TEST_SUITE_END();
