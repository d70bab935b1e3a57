// Which bytes of a perf.data capture are passed over, and why.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "perf_outcome.h"
#include "support/perf_writer.h"
#include "support/skipped_map.h"

using namespace stackpack;
using perf::RecordType;
using test::kContextUser;
using test::PerfWriter;
using test::SkippedMap;
using test::TestBytes;

namespace {

const PerfWriter kSkipWriter;
constexpr std::uint64_t kSampleBytes = 8 + 32 + 2 * 8;

TestBytes good_sample() {
  return kSkipWriter.sample(1, 2, 3, {kContextUser, 0x10});
}

TestBytes zeros(std::size_t size) {
  TestBytes bytes;
  return bytes.zeros(size);
}

TestBytes announced(RecordType type, std::uint64_t announced_bytes, std::size_t size) {
  TestBytes payload;
  payload.u64(announced_bytes).zeros(size - 8);
  return kSkipWriter.record(type, 0, payload);
}

// A sample whose chain claims to be longer than its record.
TestBytes bad_sample() {
  TestBytes payload;
  payload.u64(0x10).u32(1).u32(2).u64(3).u64(1000);
  return kSkipWriter.record(RecordType::kSample, 2, payload);
}

TestBytes piece_record(std::span<const std::byte> piece) {
  TestBytes payload;
  payload.append(piece);
  return kSkipWriter.record(RecordType::kCompressed, 0, payload);
}

void check_skips(std::span<const std::byte> capture, const SkippedMap& expected,
                 std::uint64_t samples) {
  const auto outcome = test::read_perf(capture);
  REQUIRE(outcome.status.has_value());
  CHECK(test::skipped_map(outcome.account) == expected);
  CHECK(outcome.balanced());
  CHECK(outcome.account.total == capture.size());
  CHECK(outcome.sink->rows.size() == samples);
}

}  // namespace

TEST_CASE("perf skips: records, in a file and in a pipe") {
  struct Case {
    const char* name;
    std::vector<TestBytes> records;  // between two good samples
    SkippedMap expected;
  };
  const Case cases[] = {
      {"nothing", {}, {}},
      {"AUXTRACE data",
       {announced(RecordType::kAuxtrace, 5000, 40), zeros(5000)},
       {{"auxtrace_data", 5000}, {"records_not_kept", 48}}},
      {"tracing data",
       {announced(RecordType::kHeaderTracingData, 300, 8), zeros(300)},
       {{"records_not_kept", 16}, {"tracing_data", 300}}},
      {"a bad sample", {bad_sample()}, {{"bad_samples", 8 + 32}}},
      {"a COMM record too short for its trailer",
       {kSkipWriter.record(RecordType::kComm, 0, zeros(8))},
       {{"bad_records", 16}}},
      {"an unknown type",
       {kSkipWriter.record(static_cast<RecordType>(200), 0, zeros(24))},
       {{"unknown_record_types", 32}}},
      {"a feature record that says nothing",
       {kSkipWriter.record(RecordType::kHeaderFeature, 0, TestBytes().u64(3).zeros(2))},
       {{"feature_sections_damaged", 18}}},
      {"two reasons, one of them twice",
       {bad_sample(), kSkipWriter.record(RecordType::kComm, 0, zeros(8)), bad_sample()},
       {{"bad_records", 16}, {"bad_samples", 2 * (8 + 32)}}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    std::vector<TestBytes> records = {good_sample()};
    records.insert(records.end(), c.records.begin(), c.records.end());
    records.push_back(good_sample());
    check_skips(kSkipWriter.file({test::TestAttr{}}, records), c.expected, 2);
    check_skips(kSkipWriter.pipe({test::TestAttr{}}, records), c.expected, 2);
  }
}

TEST_CASE("perf skips: records of an event that was never described") {
  test::TestAttr first;
  first.sample_type |= perf::sample_bit::kIdentifier;
  first.ids = {5};
  test::TestAttr second = first;
  second.ids = {6};
  TestBytes payload;
  payload.u64(99).u64(0x10).u32(1).u32(2).u64(3).u64(0);
  const auto capture =
      kSkipWriter.file({first, second}, {kSkipWriter.record(RecordType::kSample, 2, payload)});
  check_skips(capture, {{"unknown_event_id", 8 + 40}}, 0);
}

TEST_CASE("perf skips: compressed records, from the damaged one on") {
  test::EndlessCompressor zstd;
  std::vector<TestBytes> records;
  std::vector<std::uint64_t> sizes;
  for (int i = 0; i < 5; ++i) {
    auto piece = zstd.piece(good_sample().bytes);
    if (i == 2) {
      piece[0] = piece[1] = std::byte{0xff};  // a block of a reserved type
    }
    sizes.push_back(8 + piece.size());
    records.push_back(piece_record(piece));
  }
  check_skips(
      kSkipWriter.pipe({test::TestAttr{}}, records),
      {{"compressed_data_damaged", sizes[2]}, {"compressed_records_unread", sizes[3] + sizes[4]}},
      2);
}

TEST_CASE("perf skips: what a damaged header or the end of the capture costs") {
  std::vector<TestBytes> records(20, good_sample());
  auto file = kSkipWriter.file({test::TestAttr{}}, records);
  file[104 + 128 + 5 * kSampleBytes + 6] = std::byte{0};  // the sixth record has no size
  check_skips(file, {{"damaged_bytes", kSampleBytes}}, 19);

  auto pipe = kSkipWriter.pipe({test::TestAttr{}}, records);
  const std::size_t start = 16 + 8 + 112;
  auto cut = pipe;
  cut.resize(start + 5 * kSampleBytes + 13);
  check_skips(cut, {{"record_cut", 13}}, 5);
  pipe[start + 5 * kSampleBytes + 6] = std::byte{0};
  check_skips(pipe, {{"damaged_bytes", 15 * kSampleBytes}}, 5);

  records.push_back(TestBytes().text("[ perf record: Captured ]\n"));
  check_skips(kSkipWriter.pipe({test::TestAttr{}}, records), {{"trailing_text_bytes", 26}}, 20);
}

TEST_CASE("perf skips: sections of a file") {
  PerfWriter::FileShape shape;
  TestBytes host;
  host.u32(4).text("box").zeros(1);
  shape.features = {{3, host}, {4, zeros(2)}, {13, zeros(24)}};
  auto capture = kSkipWriter.file({test::TestAttr{}}, {good_sample()}, shape);
  capture.resize(capture.size() + 33, std::byte{0xEE});
  check_skips(
      capture,
      {{"feature_sections_damaged", 2}, {"unread_sections", 24}, {"unreferenced_bytes", 33}}, 1);
}

TEST_CASE("perf skips: a feature whose section reaches past the end, up to there") {
  PerfWriter::FileShape shape;
  TestBytes host;
  host.u32(4).text("box").zeros(1);
  shape.features = {{3, host}, {4, TestBytes().text("forty bytes that are not a build version")}};
  auto capture = kSkipWriter.file({test::TestAttr{}}, {good_sample()}, shape);
  const std::size_t size_at = capture.size() - 40 - host.bytes.size() - 8;
  const auto huge = TestBytes().u64(std::uint64_t{1} << 40);
  std::copy(huge.bytes.begin(), huge.bytes.end(),
            capture.begin() + static_cast<std::ptrdiff_t>(size_at));
  check_skips(capture, {{"feature_sections_damaged", 40}}, 1);
}
