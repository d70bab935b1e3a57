// Fields that are kept with a sample, whatever other fields it has, in either byte order.
#include <vector>

#include <doctest/doctest.h>

#include "all_sample_fields.h"
#include "formats/perf/field_tallies.h"
#include "formats/perf/sample.h"
#include "perf_outcome.h"
#include "support/perf_writer.h"
#include "support/skipped_map.h"

using namespace stackpack;
namespace sample_bit = perf::sample_bit;
using perf::RecordType;
using test::PerfWriter;
using test::TestAttr;

namespace {

perf::SampleLayout layout_with(std::uint64_t sample_type) {
  perf::Attr attr;
  attr.sample_type = sample_type;
  attr.sample_regs_user = 7;
  attr.sample_regs_intr = 1;
  return perf::layout_of(attr);
}

// What sample_of() puts into each field.
struct Kept {
  std::uint64_t bit;
  SampleField field;
  std::uint64_t value;
};
constexpr Kept kKept[] = {{sample_bit::kAddr, SampleField::kAddress, 14},
                          {sample_bit::kWeight, SampleField::kWeight, 24},
                          {sample_bit::kDataSrc, SampleField::kDataSource, 25},
                          {sample_bit::kTransaction, SampleField::kTransaction, 26},
                          {sample_bit::kPhysAddr, SampleField::kPhysicalAddress, 28},
                          {sample_bit::kCgroup, SampleField::kControlGroup, 29},
                          {sample_bit::kDataPageSize, SampleField::kDataPageSize, 30},
                          {sample_bit::kCodePageSize, SampleField::kCodePageSize, 31}};

void check_kept(std::uint64_t sample_type, bytes::ByteOrder order) {
  CAPTURE(sample_type);
  const test::TestBytes bytes = test::sample_of(sample_type, order);
  const bytes::ByteCursor payload(bytes.bytes, 0, order);
  const perf::SampleLayout layout = layout_with(sample_type);
  perf::SampleFields fields;
  REQUIRE(perf::read_sample(payload, layout, fields) == perf::SampleFit::kExact);
  const FieldRow row = perf::read_kept_fields(payload, layout, fields);
  for (const Kept& kept : kKept) {
    CHECK(row.has(kept.field) == ((sample_type & kept.bit) != 0));
    CHECK(row.value(kept.field) == ((sample_type & kept.bit) != 0 ? kept.value : 0));
  }
}

}  // namespace

TEST_CASE("fields are kept whatever is beside them") {
  constexpr std::uint64_t kAll = sample_bit::kAllKnown & ~sample_bit::kWeightStruct;
  for (const bytes::ByteOrder order : {bytes::ByteOrder::kLittle, bytes::ByteOrder::kBig}) {
    check_kept(kAll, order);
    check_kept(perf::kFieldsWithSample & ~sample_bit::kWeightStruct, order);
    for (const test::FieldCase& field : test::all_fields()) {
      check_kept(kAll & ~field.bit, order);
      check_kept(sample_bit::kIp | (field.bit & kAll), order);
    }
  }
}

TEST_CASE("the parts of a weight are the same in both byte orders") {
  for (const bytes::ByteOrder order : {bytes::ByteOrder::kLittle, bytes::ByteOrder::kBig}) {
    const test::TestBytes bytes = test::TestBytes(order).u64(0x0003'0021'0000'00C8);
    const perf::SampleLayout layout = layout_with(sample_bit::kWeightStruct);
    perf::SampleFields fields;
    const bytes::ByteCursor payload(bytes.bytes, 0, order);
    REQUIRE(perf::read_sample(payload, layout, fields) == perf::SampleFit::kExact);
    const FieldRow row = perf::read_kept_fields(payload, layout, fields);
    CHECK(row.value(SampleField::kWeight) == 200);
    CHECK(row.value(SampleField::kInstructionLatency) == 33);
    CHECK(row.value(SampleField::kStageLatency) == 3);
  }
}

TEST_CASE("a sink that keeps fields gets them, and only the others are counted") {
  constexpr std::uint64_t kBits = sample_bit::kIp | sample_bit::kTid | sample_bit::kTime |
                                  sample_bit::kAddr | sample_bit::kStreamId | sample_bit::kDataSrc |
                                  sample_bit::kRegsIntr | sample_bit::kPhysAddr |
                                  sample_bit::kCgroup;
  const PerfWriter writer;
  TestAttr attr;
  attr.sample_type = kBits;
  attr.flags = 0;
  attr.sample_regs_intr = 1;
  const auto bytes = writer.pipe(
      {attr},
      {writer.record(RecordType::kSample, 2, test::sample_of(kBits, bytes::ByteOrder::kLittle))});
  perf::Input input;
  input.main = io::source_of_memory(bytes);
  test::PerfOutcome outcome;
  outcome.sink->keeps_fields = true;
  const Result<capture::ByteAccount> read = perf::read_capture(input, *outcome.sink, {});
  REQUIRE(read);
  REQUIRE(outcome.sink->rows.size() == 1);
  CHECK((outcome.sink->rows[0].sample.flags & capture::kSampleHasFields) != 0);
  CHECK(outcome.count("sample_fields_not_kept.addr") == 0);
  CHECK(outcome.count("sample_fields_not_kept.stream_id") == 1);
  CHECK(outcome.count("sample_fields_not_kept.cgroup") == 0);
  // Stream, registers with their ABI.
  CHECK(test::skipped_map(*read) == test::SkippedMap{{"sample_fields_not_kept", 8 + 16}});
  std::vector<FieldRow> rows;
  outcome.sink->field_recorder.place(0);
  REQUIRE(outcome.sink->field_recorder.finish([&rows](const FieldRow& row) {
    rows.push_back(row);
    return Status{};
  }));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].value(SampleField::kAddress) == 14);
  CHECK(rows[0].value(SampleField::kPhysicalAddress) == 28);
  CHECK(rows[0].value(SampleField::kControlGroup) == 0);
  const std::vector<ControlGroup> groups =
      outcome.sink->field_recorder.control_groups().sorted().rows;
  CHECK(groups == std::vector<ControlGroup>{{29, ""}});
}

TEST_CASE("control groups have the paths of their records, whenever these come") {
  constexpr std::uint64_t kBits = sample_bit::kIp | sample_bit::kTid | sample_bit::kCgroup;
  const PerfWriter writer;
  TestAttr attr;
  attr.sample_type = kBits;
  attr.flags = 0;
  const auto group = [](std::uint64_t id, const char* path) {
    return test::TestBytes(bytes::ByteOrder::kLittle).u64(id).text(path).zeros(6);
  };
  const auto sample = test::sample_of(kBits, bytes::ByteOrder::kLittle);
  const auto bytes = writer.pipe({attr}, {writer.record(RecordType::kCgroup, 0, group(31, "/b")),
                                          writer.record(RecordType::kSample, 2, sample),
                                          writer.record(RecordType::kCgroup, 0, group(29, "/a")),
                                          writer.record(RecordType::kCgroup, 0, group(29, "/c"))});
  for (const bool keeps : {true, false}) {
    perf::Input input;
    input.main = io::source_of_memory(bytes);
    test::PerfOutcome outcome;
    outcome.sink->keeps_fields = keeps;
    REQUIRE(perf::read_capture(input, *outcome.sink, {}));
    const auto groups = outcome.sink->field_recorder.control_groups().sorted();
    CHECK(groups.rows == (keeps ? std::vector<ControlGroup>{{29, "/a"}, {31, "/b"}}
                                : std::vector<ControlGroup>{}));
    CHECK(outcome.count("records_not_kept.cgroup") == (keeps ? 0 : 3));
    CHECK(outcome.count("sample_fields_not_kept.cgroup") == (keeps ? 0 : 1));
  }
}
