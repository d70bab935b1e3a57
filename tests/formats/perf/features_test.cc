#include "formats/perf/features.h"

#include <map>

#include <doctest/doctest.h>

#include "formats/perf/perf_losses.h"
#include "perf_outcome.h"
#include "support/perf_writer.h"

using namespace stackpack;
using perf::RecordType;
using test::PerfWriter;
using test::TestBytes;

namespace {

TestBytes text(const PerfWriter& w, std::string_view value) {
  TestBytes out = w.bytes();
  return out.u32(static_cast<std::uint32_t>(value.size() + 4)).text(value).zeros(4);
}

// The features of a small capture, by bit.
std::vector<std::pair<std::uint32_t, TestBytes>> features(const PerfWriter& w) {
  TestBytes count = w.bytes();
  count.u32(8).u32(6);
  TestBytes memory = w.bytes();
  memory.u64(1048576);
  TestBytes command = w.bytes();
  command.u32(3).append(text(w, "perf").bytes).append(text(w, "record").bytes);
  command.append(text(w, "-g").bytes);
  TestBytes names = w.bytes();
  test::TestAttr attr;
  names.u32(1).u32(112).append(w.attr(attr).bytes).u32(1).append(text(w, "my-event").bytes);
  names.u64(5);
  TestBytes clock = w.bytes();
  clock.u32(1).u32(1).u64(1000).u64(1400);
  TestBytes topology = w.bytes();
  topology.zeros(24);
  return {
      {3, text(w, "box")}, {4, text(w, "6.1.0")}, {5, text(w, "6.1")},      {6, text(w, "x86_64")},
      {7, count},          {8, text(w, "A cpu")}, {9, text(w, "Vendor,1")}, {10, memory},
      {11, command},       {12, names},           {13, topology},           {29, clock}};
}

const std::map<std::string, std::string> kExpected = {{"host.name", "box"},
                                                      {"os.release", "6.1.0"},
                                                      {"recorder.version", "6.1"},
                                                      {"arch", "x86_64"},
                                                      {"cpu.count", "6"},
                                                      {"cpu.description", "A cpu"},
                                                      {"cpu.id", "Vendor,1"},
                                                      {"memory.total_kb", "1048576"},
                                                      {"command_line", "perf record -g"},
                                                      {"clock.wall_offset_ns", "-400"},
                                                      {"clock.id", "monotonic"},
                                                      {"os.name", "Linux"}};

// Data that says nothing: a data section without any is one whose recorder was killed.
TestBytes round(const PerfWriter& w) {
  return w.record(RecordType::kFinishedRound, 0, TestBytes());
}

test::TestAttr clocked_attr() {
  test::TestAttr attr;
  attr.ids = {5};
  attr.flags |= perf::attr_flag::kUseClockid;
  return attr;
}

// The clock id lies after the fields that TestAttr knows.
std::vector<std::byte> with_clockid(std::vector<std::byte> capture, std::size_t attr_offset,
                                    std::uint8_t clockid, bytes::ByteOrder order) {
  capture[attr_offset + (order == bytes::ByteOrder::kBig ? 95 : 92)] =
      static_cast<std::byte>(clockid);
  return capture;
}

}  // namespace

TEST_CASE("perf features: metadata and names, from a file and from a pipe, in both orders") {
  for (const bytes::ByteOrder order : {bytes::ByteOrder::kLittle, bytes::ByteOrder::kBig}) {
    const PerfWriter w(order);
    PerfWriter::FileShape shape;
    shape.features = features(w);
    std::vector<TestBytes> records;
    for (const auto& [bit, content] : shape.features) {
      TestBytes payload = w.bytes();
      payload.u64(bit).append(content.bytes);
      records.push_back(w.record(RecordType::kHeaderFeature, 0, payload));
    }
    const auto file = test::read_perf(
        with_clockid(w.file({clocked_attr()}, {round(w)}, shape), 104 + 8, 1, order));
    const auto pipe =
        test::read_perf(with_clockid(w.pipe({clocked_attr()}, records), 16 + 8, 1, order));
    for (const test::PerfOutcome* outcome : {&file, &pipe}) {
      REQUIRE(outcome->status.has_value());
      CHECK(test::metadata_of(*outcome) == kExpected);
      REQUIRE(outcome->sink->events.size() == 1);
      CHECK(outcome->sink->events[0].name == "my-event");
      CHECK(outcome->balanced());
      CHECK_FALSE(outcome->damaged());
    }
    CHECK(file.account.skipped.total() == 24);  // the topology, which is of no use
  }
}

TEST_CASE("perf features: a 32-bit big-endian writer's bitmap has its words the other way round") {
  const PerfWriter w(bytes::ByteOrder::kBig);
  PerfWriter::FileShape shape;
  shape.features = {{3, text(w, "box")}};
  auto capture = w.file({test::TestAttr{}}, {round(w)}, shape);
  CHECK(test::metadata_of(test::read_perf(capture)).at("host.name") == "box");
  std::swap_ranges(capture.begin() + 72, capture.begin() + 76, capture.begin() + 76);
  CHECK(test::metadata_of(test::read_perf(capture)).at("host.name") == "box");
}

TEST_CASE("perf features: each one cut short is damage, and the rest is kept") {
  const PerfWriter w;
  const auto all = features(w);
  for (std::size_t cut = 0; cut < all.size(); ++cut) {
    if (!perf::is_used_feature(all[cut].first)) {
      continue;
    }
    CAPTURE(all[cut].first);
    PerfWriter::FileShape shape;
    shape.features = all;
    auto& bytes = shape.features[cut].second.bytes;
    bytes.resize(bytes.size() / 2);
    const auto outcome = test::read_perf(w.file({clocked_attr()}, {round(w)}, shape));
    REQUIRE(outcome.status.has_value());
    CHECK(outcome.count(name_of(perf::skip::kFeaturesDamaged)) == 1);
    CHECK(test::metadata_of(outcome).size() >= kExpected.size() - 2);
    CHECK(outcome.balanced());
  }
}

TEST_CASE("perf features: build ids of a file reach its modules") {
  const PerfWriter w;
  TestBytes id;
  id.u32(~std::uint32_t{0}).text("ABCDEFGHIJKLMNOPQRST").zeros(4).text("/bin/a").u8(0).pad_to(8);
  PerfWriter::FileShape shape;
  shape.features = {{2, w.record(RecordType::kHeaderBuildId, 0, id)}};
  TestBytes payload;
  payload.u32(10).u32(10).u64(0x1000).u64(0x1000).u64(0).text("/bin/a").zeros(2);
  payload.u32(0).u32(0).u64(0);
  const auto outcome =
      test::read_perf(w.file({test::TestAttr{}}, {w.record(RecordType::kMmap, 0, payload)}, shape));
  const auto tables = outcome.sink->system_facts.finish();
  REQUIRE(tables.modules.size() == 1);
  CHECK(tables.modules[0].build_id.size() == 20);
  CHECK(tables.modules[0].build_id[0] == 'A');
}

TEST_CASE("perf features: an EVENT_UPDATE renames the event with its id") {
  const PerfWriter w;
  test::TestAttr first;
  first.sample_type |= perf::sample_bit::kIdentifier;
  first.ids = {5};
  test::TestAttr second = first;
  second.ids = {6};
  TestBytes update;
  update.u64(2).u64(6).text("renamed").u8(0).pad_to(8);
  TestBytes unit;
  unit.u64(0).u64(5).text("Joules").pad_to(8);
  TestBytes unknown;
  unknown.u64(2).u64(99).text("nobody").pad_to(8);
  const auto outcome =
      test::read_perf(w.pipe({first, second}, {w.record(RecordType::kEventUpdate, 0, update),
                                               w.record(RecordType::kEventUpdate, 0, unit),
                                               w.record(RecordType::kEventUpdate, 0, unknown)}));
  REQUIRE(outcome.sink->events.size() == 2);
  CHECK(outcome.sink->events[0].name == "cpu-clock");
  CHECK(outcome.sink->events[1].name == "renamed");
}

TEST_CASE("perf features: the clock of the samples has its name") {
  const PerfWriter w;
  test::TestAttr attr;
  attr.flags |= perf::attr_flag::kUseClockid;
  constexpr std::size_t kClockId = 16 + perf::kRecordHeaderBytes + 92;
  for (const auto& [id, name] : {std::pair{0, "realtime"},
                                 {1, "monotonic"},
                                 {4, "monotonic_raw"},
                                 {7, "boottime"},
                                 {11, "tai"},
                                 {3, "3"}}) {
    CAPTURE(id);
    auto capture = w.pipe({attr}, {w.sample(1, 1, 5, {test::kContextUser, 0x10})});
    capture.at(kClockId) = static_cast<std::byte>(id);
    const auto facts = test::metadata_of(test::read_perf(capture));
    CHECK(facts.at("clock.id") == name);
    CHECK(facts.contains("clock.wall_offset_ns") == (id == 0));
  }
}
