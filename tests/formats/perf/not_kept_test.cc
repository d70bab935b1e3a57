// Law: each field of samples, type of record and feature section that a capture has and a .spk file
// does not keep is a notice with a count and a first offset, and its bytes have a reason.
#include "formats/perf/not_kept.h"

#include <bit>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "all_sample_fields.h"
#include "formats/perf/features.h"
#include "formats/perf/perf_losses.h"
#include "formats/perf/perf_source.h"
#include "perf_outcome.h"
#include "support/perf_writer.h"
#include "support/skipped_map.h"

using namespace stackpack;
using perf::RecordType;
using test::PerfWriter;
using test::SkippedMap;
using test::TestAttr;
using test::TestBytes;
namespace sample_bit = perf::sample_bit;

namespace {

const PerfWriter kWriter;
constexpr std::uint64_t kAttrBytes = 16 + 8 + 112;  // of a pipe: where the first record begins

// Kept, whatever else a sample has.
constexpr std::uint64_t kKeptFields = sample_bit::kIdentifier | sample_bit::kIp | sample_bit::kTid |
                                      sample_bit::kTime | sample_bit::kId | sample_bit::kCpu |
                                      sample_bit::kPeriod | sample_bit::kCallchain |
                                      sample_bit::kBranchStack;

struct Notice {
  std::uint64_t count = 0;
  std::uint64_t first_offset = 0;
};

// The counters of something that is not kept, or that say so in their own words.
std::vector<std::pair<std::string, Notice>> not_kept(const test::PerfOutcome& outcome) {
  std::vector<std::pair<std::string, Notice>> found;
  for (const LossCounter& counter : outcome.sink->counters.sorted()) {
    if (counter.count != 0 && (counter.name.find("not_kept.") != std::string::npos ||
                               counter.name == "hardware_traces_not_decoded")) {
      CHECK(counter.kind == LossKind::kNotice);
      found.push_back({counter.name, {counter.count, counter.first_offset}});
    }
  }
  return found;
}

TestBytes sample_with(std::uint64_t bits) {
  TestBytes payload;
  for (const test::FieldCase& field : test::all_fields()) {
    if ((bits & field.bit) != 0) {
      field.write(payload);
    }
  }
  return kWriter.record(RecordType::kSample, 2, payload);
}

TestAttr attr_with(std::uint64_t bits) {
  TestAttr attr;
  attr.sample_type = bits;
  attr.sample_regs_user = 0b10101;
  attr.sample_regs_intr = 0b1;
  return attr;
}

// A sound record of `type`, as short as it may be; none of those that hold others.
std::optional<TestBytes> record_of(std::uint32_t type) {
  const auto zeros = [](std::size_t count) { return TestBytes().zeros(count); };
  const auto named = [](std::size_t count) {
    return TestBytes().zeros(count).text("name").zeros(4);
  };
  TestBytes payload;
  switch (static_cast<RecordType>(type)) {
    case RecordType::kMmap:
      payload = named(32);
      break;
    case RecordType::kMmap2:
      payload = named(64);
      break;
    case RecordType::kComm:
    case RecordType::kCgroup:
      payload = named(8);
      break;
    case RecordType::kKsymbol:
      payload = named(16);
      break;
    case RecordType::kExit:
    case RecordType::kFork:
    case RecordType::kThrottle:
    case RecordType::kUnthrottle:
    case RecordType::kAux:
      payload = zeros(24);
      break;
    case RecordType::kLost:
    case RecordType::kBpfEvent:
    case RecordType::kRead:
    case RecordType::kTextPoke:
    case RecordType::kNamespaces:
    case RecordType::kCallchainDeferred:
    case RecordType::kStatRound:
      payload = zeros(16);
      break;
    case RecordType::kSwitch:
    case RecordType::kFinishedRound:
    case RecordType::kFinishedInit:
      break;
    case RecordType::kHeaderEventType:
      payload = TestBytes().u64(1).text("cycles").zeros(2);
      break;
    case RecordType::kHeaderTracingData:
      payload = TestBytes().u32(0);
      break;
    case RecordType::kHeaderBuildId:
      payload = TestBytes().u32(0).zeros(24).text("name").zeros(4);
      break;
    case RecordType::kAuxtrace:
    case RecordType::kStat:
      payload = zeros(40);
      break;
    case RecordType::kEventUpdate:
      payload = TestBytes().u64(0).u64(1).text("bytes").zeros(3);  // a unit
      break;
    case RecordType::kSample:
    case RecordType::kHeaderAttr:
    case RecordType::kHeaderFeature:
    case RecordType::kCompressed:
    case RecordType::kCompressed2:
      return std::nullopt;
    default:
      payload = zeros(8);
      break;
  }
  return kWriter.record(static_cast<RecordType>(type), 0, payload);
}

// Types of which what is there is kept, or that hold nothing.
const std::set<std::uint32_t> kKeptRecords = {1,  2,  3,  4,  5,  6,  7,  10,
                                              13, 17, 22, 67, 68, 72, 82, 32774};

}  // namespace

TEST_SUITE_BEGIN("perf not kept");

TEST_CASE("each field of a sample is kept or counted") {
  for (unsigned bit = 0; bit < 25; ++bit) {
    CAPTURE(bit);
    const std::uint64_t field = std::uint64_t{1} << bit;
    const std::uint64_t bits =
        field | sample_bit::kIp | sample_bit::kTid | sample_bit::kTime | sample_bit::kCallchain;
    const auto one = sample_with(bits);
    const auto plain = sample_with(bits & ~field);
    const auto outcome = test::read_perf(kWriter.pipe({attr_with(bits)}, {one, one, one}));
    REQUIRE(outcome.sink->rows.size() == 3);
    CHECK_FALSE(outcome.damaged());
    CHECK(outcome.balanced());
    const auto found = not_kept(outcome);
    if ((kKeptFields & field) != 0) {
      CHECK(found.empty());
      CHECK(test::skipped_map(outcome.account).empty());
      continue;
    }
    REQUIRE(found.size() == 1);
    CHECK(found[0].first.starts_with("sample_fields_not_kept."));
    CHECK(found[0].second.count == 3);
    CHECK(found[0].second.first_offset == kAttrBytes);
    const std::uint64_t bytes = 3 * (one.bytes.size() - plain.bytes.size());
    CHECK(test::skipped_map(outcome.account) == SkippedMap{{"sample_fields_not_kept", bytes}});
  }
}

TEST_CASE("fields that are in use are kept: counters with ids, branches as callstack") {
  constexpr std::uint64_t kBase = sample_bit::kIp | sample_bit::kTid | sample_bit::kTime;
  TestAttr counts = attr_with(kBase | sample_bit::kRead | sample_bit::kCallchain);
  counts.read_format = perf::read_bit::kId;
  counts.ids = {77};
  TestBytes read = TestBytes().u64(test::kSampleIp).u32(1).u32(2).u64(3).u64(10).u64(77);
  read.u64(1).u64(0x10);
  const auto counted =
      test::read_perf(kWriter.pipe({counts}, {kWriter.record(RecordType::kSample, 2, read)}));
  REQUIRE(counted.sink->rows.size() == 1);
  CHECK(not_kept(counted).empty());
  CHECK(test::skipped_map(counted.account).empty());

  constexpr std::uint64_t kBits = kBase | sample_bit::kCallchain | sample_bit::kBranchStack;
  TestAttr branches = attr_with(kBits);
  branches.branch_sample_type = perf::branch_bit::kCallStack;
  const auto walked = test::read_perf(kWriter.pipe({branches}, {sample_with(kBits)}));
  REQUIRE(walked.sink->rows.size() == 1);
  CHECK(not_kept(walked).empty());
  CHECK(test::skipped_map(walked.account).empty());

  branches.branch_sample_type = 0;  // the bit in sample_type decides
  const auto history = test::read_perf(kWriter.pipe({branches}, {sample_with(kBits)}));
  CHECK(not_kept(history).empty());
  CHECK(test::skipped_map(history.account).empty());
}

TEST_CASE("of several attributes, each counts its own samples") {
  constexpr std::uint64_t kBits =
      sample_bit::kIdentifier | sample_bit::kIp | sample_bit::kTid | sample_bit::kTime;
  TestAttr with = attr_with(kBits | sample_bit::kAddr | sample_bit::kPhysAddr);
  with.ids = {77};
  TestAttr without = attr_with(kBits);
  without.ids = {78};
  auto other = sample_with(kBits);
  other.bytes[8] = std::byte{78};
  const auto bytes = kWriter.pipe({without, with}, {other, sample_with(with.sample_type), other,
                                                    sample_with(with.sample_type)});
  const auto outcome = test::read_perf(bytes);
  REQUIRE(outcome.sink->rows.size() == 4);
  CHECK(outcome.count("sample_fields_not_kept.addr") == 2);
  CHECK(outcome.count("sample_fields_not_kept.phys_addr") == 2);
  CHECK(test::skipped_map(outcome.account) == SkippedMap{{"sample_fields_not_kept", 2 * 16}});
}

TEST_CASE("samples with precise instruction pointers, and those of counters that were shared out") {
  TestAttr attr = attr_with(sample_bit::kIp | sample_bit::kTid | sample_bit::kRead);
  attr.flags |= std::uint64_t{2} << 15;  // precise_ip
  attr.read_format = perf::read_bit::kTimeEnabled | perf::read_bit::kTimeRunning;
  const auto sample = [](std::uint16_t misc, std::uint64_t enabled, std::uint64_t running) {
    return kWriter.record(RecordType::kSample, misc,
                          TestBytes().u64(0x10).u32(1).u32(2).u64(5).u64(enabled).u64(running));
  };
  const auto outcome =
      test::read_perf(kWriter.pipe({attr}, {sample(2, 100, 100), sample(2 | 1U << 14, 200, 150),
                                            sample(2 | 1U << 14, 300, 200), sample(2, 400, 300)}));
  REQUIRE(outcome.sink->rows.size() == 4);
  CHECK(outcome.count("sample_fields_not_kept.exact_ip") == 2);
  CHECK(outcome.count("multiplexed_counters") == 3);
  CHECK(outcome.count("sample_fields_not_kept.read") == 4);
  CHECK_FALSE(outcome.sink->counters.any_loss());

  TestAttr group = attr;
  group.flags = perf::attr_flag::kSampleIdAll;
  group.read_format |= perf::read_bit::kGroup | perf::read_bit::kId;
  group.ids = {77};
  const auto of_group = [](std::uint64_t running) {
    return kWriter.record(
        RecordType::kSample, 2,
        TestBytes().u64(0x10).u32(1).u32(2).u64(1).u64(9).u64(running).u64(running).u64(77));
  };
  const auto grouped = test::read_perf(kWriter.pipe({group}, {of_group(9), of_group(8)}));
  CHECK(grouped.count("multiplexed_counters") == 1);
}

TEST_CASE("each type of record is kept or counted") {
  std::vector<std::uint32_t> types;
  for (std::uint32_t type = 1; type <= 22; ++type) {
    types.push_back(type);
  }
  for (std::uint32_t type = 64; type <= 86; ++type) {
    types.push_back(type);
  }
  for (std::uint32_t type = 32769; type <= 32778; ++type) {
    types.push_back(type);
  }
  TestAttr attr;
  attr.flags = 0;
  for (const std::uint32_t type : types) {
    CAPTURE(type);
    const std::optional<TestBytes> record = record_of(type);
    if (!record) {
      continue;
    }
    const auto outcome = test::read_perf(kWriter.pipe({attr}, {*record, *record}));
    CHECK_FALSE(outcome.damaged());
    CHECK(outcome.balanced());
    const auto found = not_kept(outcome);
    if (kKeptRecords.count(type) != 0) {
      CHECK(found.empty());
      CHECK(test::skipped_map(outcome.account).empty());
      continue;
    }
    REQUIRE(found.size() == 1);
    CHECK(found[0].second.count == 2);
    CHECK(found[0].second.first_offset == kAttrBytes);
    CHECK(test::skipped_map(outcome.account) ==
          SkippedMap{{"records_not_kept", 2 * record->bytes.size()}});
  }
}

TEST_CASE("mappings of data are counted, those of code are kept") {
  const auto payload = TestBytes().u32(1).u32(1).u64(0x1000).u64(0x100).u64(0).text("/x").zeros(6);
  for (const bool data : {false, true}) {
    const auto misc = static_cast<std::uint16_t>(data ? perf::kMiscMmapData : 0);
    const auto outcome = test::read_perf(
        kWriter.pipe({TestAttr{}}, {kWriter.record(RecordType::kMmap, misc, payload)}));
    CHECK(outcome.sink->system_facts.finish().modules.size() == (data ? 0 : 1));
    CHECK(outcome.count("records_not_kept.mmap_data") == (data ? 1 : 0));
  }
}

TEST_CASE("each feature section with content is kept, counted, or about the container") {
  const std::set<std::uint32_t> kept = {2,  3,  4,  5,  6,  7,   8,   9,  10,
                                        11, 12, 24, 27, 29, 128, 129, 132};
  // Every recorder writes the name of its host: where the bit is decides how the bitmap is read.
  constexpr std::uint32_t kHostname = 3;
  const auto host = TestBytes().u32(8).text("host").zeros(4);
  for (std::uint32_t feature = 1; feature < perf::kFeatureBits; ++feature) {
    CAPTURE(feature);
    const auto file_with = [&](const TestBytes& content) {
      PerfWriter::FileShape shape;
      shape.features = {{kHostname, host}};
      if (feature != kHostname) {
        shape.features.insert(feature < kHostname ? shape.features.begin() : shape.features.end(),
                              {feature, content});
      }
      const auto sample = kWriter.sample(1, 1, 5, {test::kContextUser, 0x10});
      return test::read_perf(kWriter.file({TestAttr{}}, {sample}, shape));
    };
    const auto outcome = file_with(TestBytes().zeros(16));
    const auto found = not_kept(outcome);
    if (kept.count(feature) != 0) {
      CHECK(found.empty());
      continue;
    }
    REQUIRE(found.size() == 1);
    CHECK(found[0].first.starts_with("features_not_kept."));
    CHECK(found[0].second.count == 1);
    CHECK(found[0].second.first_offset ==
          outcome.account.total - 16 - (feature < kHostname ? host.bytes.size() : 0));
    CHECK(outcome.account.skipped.of(perf::skip::kUnreadSections) == 16);
    const auto record =
        kWriter.record(RecordType::kHeaderFeature, 0, TestBytes().u64(feature).zeros(16));
    const auto piped = test::read_perf(kWriter.pipe({TestAttr{}}, {record}));
    CHECK(not_kept(piped).size() == 1);
    CHECK(piped.account.skipped.of(perf::skip::kRecordsNotKept) == 32);
    CHECK(not_kept(file_with(TestBytes())).empty());
  }
}

TEST_CASE("what the recorder lost of a hardware trace is a loss, and its content is a notice") {
  const auto aux = [](std::uint64_t size, std::uint64_t flags) {
    return kWriter.record(RecordType::kAux, 0, TestBytes().u64(0).u64(size).u64(flags));
  };
  const auto trace = [](std::uint64_t size) {
    auto record = kWriter.record(RecordType::kAuxtrace, 0, TestBytes().u64(size).zeros(32));
    return record.zeros(size);
  };
  TestAttr attr;
  attr.flags = 0;
  for (const std::uint64_t flags : {0U, 1U, 2U, 4U, 8U, 0x100U}) {
    CAPTURE(flags);
    const auto outcome = test::read_perf(kWriter.pipe({attr}, {aux(64, flags), trace(64)}));
    CHECK(outcome.count("recorder_lost_aux") == ((flags & 13U) != 0 ? 1 : 0));
    CHECK(outcome.sink->counters.any_loss() == ((flags & 13U) != 0));
    CHECK(outcome.count("hardware_traces_not_decoded") == 1);
    CHECK(outcome.count("hardware_trace_bytes_missing") == 0);
  }
  CHECK(test::read_perf(kWriter.pipe({attr}, {aux(64, 0), aux(16, 0), trace(64)}))
            .count("hardware_trace_bytes_missing") == 16);
  CHECK(test::read_perf(kWriter.pipe({attr}, {aux(64, 2)})).count("hardware_trace_bytes_missing") ==
        0);
  const auto errors = test::read_perf(
      kWriter.pipe({attr}, {kWriter.record(RecordType::kAuxtraceError, 0, TestBytes().zeros(40))}));
  CHECK(errors.count("recorder_trace_errors") == 1);
  CHECK(errors.sink->counters.any_loss());
}

TEST_CASE("samples that a filter refused are not lost") {
  TestAttr attr;
  attr.flags = 0;
  const auto lost = [](std::uint16_t misc) {
    return kWriter.record(RecordType::kLostSamples, misc, TestBytes().u64(30));
  };
  const auto filtered = test::read_perf(kWriter.pipe({attr}, {lost(perf::kMiscFiltered)}));
  CHECK(filtered.count("samples_filtered_by_bpf") == 30);
  CHECK(filtered.count("recorder_lost_samples") == 0);
  CHECK_FALSE(filtered.sink->counters.any_loss());
  const auto truly = test::read_perf(kWriter.pipe({attr}, {lost(0)}));
  CHECK(truly.count("recorder_lost_samples") == 30);
  CHECK(truly.sink->counters.any_loss());
}

TEST_CASE("a list of mappings that the recorder gave up is a loss") {
  const auto payload = TestBytes().u32(1).u32(1).u64(0x1000).u64(0x100).u64(0).text("/x").zeros(6);
  const auto outcome = test::read_perf(
      kWriter.pipe({TestAttr{}}, {kWriter.record(RecordType::kMmap, perf::kMiscMapsCut, payload)}));
  CHECK(outcome.count("recorder_cut_mapping_lists") == 1);
  CHECK(outcome.sink->counters.any_loss());
}

TEST_CASE("the unused rows of a feature table are padding, and nothing else is") {
  const auto sample = kWriter.sample(1, 1, 5, {test::kContextUser, 0x10});
  PerfWriter::FileShape shape;
  shape.features = {{4, TestBytes().u32(8).text("6.1").zeros(5)}};
  const auto sound = kWriter.file({TestAttr{}}, {sample}, shape);
  const std::size_t table_end = sound.size() - 12;
  struct Case {
    const char* name;
    TestBytes gap;  // between the table and the first section
    bool padding;
  };
  for (const Case& c :
       {Case{"rows of zeros", TestBytes().zeros(32), true},
        Case{"a row that names the end of the file", TestBytes().u64(sound.size() + 16).u64(0),
             true},
        Case{"and more rows", TestBytes().u64(sound.size()).zeros(72), true},
        Case{"a place behind the file", TestBytes().u64(sound.size() + 17).u64(0), false},
        Case{"a size", TestBytes().u64(sound.size()).u64(1), false},
        Case{"half a row", TestBytes().u64(sound.size()), false}}) {
    CAPTURE(c.name);
    auto bytes = sound;
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(table_end), c.gap.bytes.begin(),
                 c.gap.bytes.end());
    // The row of the section that follows.
    bytes::ByteCursor row(bytes, 0);
    row.seek(table_end - 16);
    const std::uint64_t moved = row.read<std::uint64_t>() + c.gap.bytes.size();
    for (std::size_t i = 0; i < 8; ++i) {
      bytes[table_end - 16 + i] = static_cast<std::byte>(moved >> (8 * i));
    }
    const auto outcome = test::read_perf(bytes);
    CHECK(outcome.balanced());
    CHECK(outcome.damaged() != c.padding);
    CHECK(outcome.account.padding == (c.padding ? c.gap.bytes.size() : 0));
    CHECK(outcome.count("unreferenced_bytes") == (c.padding ? 0 : c.gap.bytes.size()));
  }
}

TEST_CASE("bytes after the last section are a notice where the sections are sound") {
  const auto sample = kWriter.sample(1, 1, 5, {test::kContextUser, 0x10});
  PerfWriter::FileShape shape;
  shape.features = {{4, TestBytes().u32(8).text("6.1").zeros(5)}};
  auto bytes = kWriter.file({TestAttr{}}, {sample}, shape);
  const std::size_t end = bytes.size();
  for (const unsigned byte : {0x02U, 0x20U, 0x88U, 0x00U}) {
    bytes.push_back(static_cast<std::byte>(byte));
  }
  const auto sound = test::read_perf(bytes);
  CHECK_FALSE(sound.damaged());
  CHECK(sound.count("trailing_bytes") == 4);
  CHECK(test::skipped_map(sound.account) == SkippedMap{{"trailing_bytes", 4}});
  for (const LossCounter& counter : sound.sink->counters.sorted()) {
    CHECK((counter.name != "trailing_bytes" || counter.first_offset == end));
  }
  bytes[end - 12] = std::byte{200};  // the text is longer than its section
  const auto damaged = test::read_perf(bytes);
  CHECK(damaged.damaged());
  CHECK(damaged.count("unreferenced_bytes") == 4);
  // Directly after the data they may be records.
  auto no_features = kWriter.file({TestAttr{}}, {sample});
  no_features.push_back(std::byte{1});
  CHECK(test::read_perf(no_features).count("unreferenced_bytes") == 1);
}

TEST_CASE("names of events are as long as their recorder wrote them") {
  TestAttr attr;
  for (const std::size_t room :
       {std::size_t{8}, std::size_t{16}, std::size_t{40}, std::size_t{64}}) {
    CAPTURE(room);
    const auto named = TestBytes().u64(1).text("cycles").zeros(room - 6);
    const auto sound = test::read_perf(
        kWriter.pipe({attr}, {kWriter.record(RecordType::kHeaderEventType, 0, named)}));
    CHECK_FALSE(sound.damaged());
    CHECK(sound.count("records_not_kept.event_type") == 1);
  }
  for (const TestBytes& wrong :
       {TestBytes().u64(1), TestBytes().u64(1).text("cyclesss"),
        TestBytes().u64(1).text("cycle").zeros(2), TestBytes().u64(1).zeros(72)}) {
    CHECK(test::read_perf(
              kWriter.pipe({attr}, {kWriter.record(RecordType::kHeaderEventType, 0, wrong)}))
              .count("bad_records") == 1);
  }
}

TEST_CASE("the data of a tracing record lie behind it or in it") {
  const auto sample = kWriter.sample(1, 1, 5, {test::kContextUser, 0x10});
  TestAttr attr;
  struct Case {
    const char* name;
    TestBytes record;
    std::uint64_t outside;
  };
  const auto record = [](const TestBytes& payload) {
    return kWriter.record(RecordType::kHeaderTracingData, 0, payload);
  };
  for (const Case& c : {
           Case{"behind", record(TestBytes().u32(300)).zeros(300), 300},
           Case{"behind, with padding", record(TestBytes().u32(304).u32(0)).zeros(304), 304},
           Case{"in it", record(TestBytes().u32(300).text(std::string(300, 'x'))), 0},
           Case{"in it, with padding",
                record(TestBytes().u32(2012).text(std::string(2012, 'x')).zeros(36)), 0},
           Case{"none", record(TestBytes().u32(0)), 0},
       }) {
    CAPTURE(c.name);
    const auto outcome = test::read_perf(kWriter.pipe({attr}, {sample, c.record, sample, sample}));
    CHECK(outcome.sink->rows.size() == 3);
    CHECK_FALSE(outcome.damaged());
    CHECK(outcome.account.skipped.of(perf::skip::kTracingData) == c.outside);
    CHECK(outcome.balanced());
  }
  // One that has taken in what follows it.
  const auto grown = record(TestBytes().u32(300).text(std::string(300, 'x')).append(sample.bytes));
  CHECK(test::read_perf(kWriter.pipe({attr}, {grown, sample})).damaged());
}

TEST_CASE("a name stands once among those of the format") {
  std::set<std::string_view> names;
  for (const std::string_view name : perf::source_format.loss_names) {
    CAPTURE(name);
    CHECK_FALSE(name.empty());
    CHECK(names.insert(name).second);
  }
}

TEST_SUITE_END();
