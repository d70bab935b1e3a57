#include "formats/perf/record_stream.h"

#include <random>
#include <string>

#include <doctest/doctest.h>

#include "formats/perf/perf_losses.h"
#include "perf_outcome.h"
#include "support/perf_writer.h"

using namespace stackpack;
using perf::RecordType;
using test::kContextUser;
using test::PerfWriter;
using test::TestBytes;
using Listing = test::PerfOutcome::Listing;

namespace {

TestBytes numbered_sample(const PerfWriter& w, std::uint64_t number) {
  return w.sample(1, 2, 1000 + number, {kContextUser, 0x1000 + number, 0x2000, 0x3000});
}

std::string numbered_stack(std::uint64_t number) {
  char text[64];
  std::snprintf(text, sizeof text, "u%llx u2000 u3000",
                static_cast<unsigned long long>(0x1000 + number));
  return text;
}

std::vector<TestBytes> numbered_samples(const PerfWriter& w, std::uint64_t count) {
  std::vector<TestBytes> records;
  for (std::uint64_t i = 0; i < count; ++i) {
    records.push_back(numbered_sample(w, i));
  }
  return records;
}

TestBytes joined(const std::vector<TestBytes>& records) {
  TestBytes out;
  for (const TestBytes& record : records) {
    out.append(record.bytes);
  }
  return out;
}

TestBytes compressed(const PerfWriter& w, std::span<const std::byte> piece) {
  TestBytes payload = w.bytes();
  payload.append(piece);
  return w.record(RecordType::kCompressed, 0, payload);
}

TestBytes compressed2(const PerfWriter& w, std::span<const std::byte> piece) {
  TestBytes payload = w.bytes();
  payload.u64(piece.size()).append(piece).pad_to(8);
  return w.record(RecordType::kCompressed2, 0, payload);
}

// Offset of record `index` in PerfWriter::file(): header, one attribute without ids, the records.
constexpr std::size_t kFileData = 104 + 128;

}  // namespace

TEST_CASE("perf stream: records of unknown types are skipped by their sizes and counted") {
  const PerfWriter w;
  for (const std::uint32_t type : {23U, 63U, 87U, 200U, 999U, 32768U, 32779U}) {
    CAPTURE(type);
    TestBytes payload;
    payload.zeros(40);
    const TestBytes unknown = w.record(static_cast<RecordType>(type), 0, payload);
    const std::vector<TestBytes> records = {numbered_sample(w, 0), unknown, unknown,
                                            numbered_sample(w, 1)};
    for (const auto& capture :
         {w.file({test::TestAttr{}}, records), w.pipe({test::TestAttr{}}, records)}) {
      const auto outcome = test::read_perf(capture);
      CHECK(outcome.listing().size() == 2);
      CHECK(outcome.count(name_of(perf::skip::kUnknownRecordTypes)) == 2);
      CHECK(outcome.account.skipped.total() == 96);
      CHECK(outcome.balanced());
    }
  }
}

TEST_CASE("perf stream: payloads outside of their records are passed over") {
  const PerfWriter w;
  TestBytes aux;
  aux.u64(50000).zeros(32);
  TestBytes tracing;
  tracing.u32(3000000).zeros(4);  // longer than any buffer
  TestBytes garbage;
  for (int i = 0; i < 3000000; ++i) {
    garbage.u8(static_cast<std::uint8_t>(i * 7));
  }
  TestBytes short_garbage;
  short_garbage.append(std::span(garbage.bytes).first(50000));
  const std::vector<TestBytes> records = {numbered_sample(w, 0),
                                          w.record(RecordType::kAuxtrace, 0, aux),
                                          short_garbage,
                                          numbered_sample(w, 1),
                                          w.record(RecordType::kHeaderTracingData, 0, tracing),
                                          garbage,
                                          numbered_sample(w, 2)};
  const auto pipe = w.pipe({test::TestAttr{}}, records);
  for (const auto& outcome : {test::read_perf(pipe), test::read_perf_pipe(pipe, 4099),
                              test::read_perf(w.file({test::TestAttr{}}, records))}) {
    REQUIRE(outcome.status.has_value());
    CHECK(outcome.listing().size() == 3);
    CHECK_FALSE(outcome.damaged());
    CHECK(outcome.account.skipped.total() -
              outcome.account.skipped.of(perf::skip::kRecordsNotKept) ==
          3050000);
    CHECK(outcome.balanced());
  }
  const auto cut = test::read_perf(std::span(pipe).first(20000));
  CHECK(cut.listing().size() == 1);
  CHECK(cut.count(perf::loss::kOutsidePayloadCut) == 1);
  CHECK(cut.balanced());
}

TEST_CASE("perf stream: compressed records, of both kinds, with records that span them") {
  const PerfWriter w;
  const TestBytes content = joined(numbered_samples(w, 500));
  for (const std::size_t piece_size :
       {std::size_t{1}, std::size_t{7}, std::size_t{64}, std::size_t{1000}, std::size_t{1} << 20}) {
    CAPTURE(piece_size);
    for (const bool second_kind : {false, true}) {
      test::EndlessCompressor zstd;
      std::vector<TestBytes> records;
      for (std::size_t at = 0; at < content.bytes.size(); at += piece_size) {
        const std::size_t size = std::min(piece_size, content.bytes.size() - at);
        const auto piece = zstd.piece(std::span(content.bytes).subspan(at, size));
        records.push_back(second_kind ? compressed2(w, piece) : compressed(w, piece));
      }
      const auto outcome = test::read_perf(w.pipe({test::TestAttr{}}, records));
      CHECK(outcome.listing().size() == 500);
      CHECK_FALSE(outcome.damaged());
      CHECK(outcome.account.skipped.total() == 0);
      CHECK(outcome.balanced());
    }
  }
}

TEST_CASE("perf stream: what a damaged zstd stream gave before is kept, what follows is not read") {
  const PerfWriter w;
  test::EndlessCompressor zstd;
  std::vector<TestBytes> records;
  for (std::uint64_t i = 0; i < 10; ++i) {
    auto piece = zstd.piece(numbered_sample(w, i).bytes);
    if (i == 5) {
      piece[0] = std::byte{0xff};  // a block header of a reserved type
      piece[1] = std::byte{0xff};
    }
    records.push_back(compressed(w, piece));
  }
  records.push_back(numbered_sample(w, 77));  // outside: still readable
  const auto outcome = test::read_perf(w.file({test::TestAttr{}}, records));
  CHECK(outcome.listing().size() == 6);
  CHECK(outcome.listing().count(numbered_stack(4)) == 1);
  CHECK(outcome.listing().count(numbered_stack(77)) == 1);
  CHECK(outcome.count(name_of(perf::skip::kCompressedDataDamaged)) == 1);
  CHECK(outcome.count(name_of(perf::skip::kCompressedRecordsUnread)) == 4);
  CHECK(outcome.balanced());
}

TEST_CASE("perf stream: no record in decompressed bytes ends the decoding") {
  const PerfWriter w;
  test::EndlessCompressor zstd;
  TestBytes broken = w.record(RecordType::kSample, 0, TestBytes());
  broken.bytes[6] = std::byte{3};  // a size below that of a header
  const auto outcome = test::read_perf(
      w.pipe({test::TestAttr{}}, {compressed(w, zstd.piece(numbered_sample(w, 0).bytes)),
                                  compressed(w, zstd.piece(broken.bytes)),
                                  compressed(w, zstd.piece(numbered_sample(w, 1).bytes))}));
  CHECK(outcome.listing() == Listing{{numbered_stack(0), 1}});
  CHECK(outcome.count(name_of(perf::skip::kCompressedDataDamaged)) == 1);
  CHECK(outcome.count(name_of(perf::skip::kCompressedRecordsUnread)) == 1);
}

TEST_CASE("perf stream: a record left open at the end of the compressed data is cut") {
  const PerfWriter w;
  test::EndlessCompressor zstd;
  const TestBytes sample = numbered_sample(w, 0);
  const auto outcome = test::read_perf(
      w.pipe({test::TestAttr{}},
             {compressed(w, zstd.piece(std::span(sample.bytes).first(sample.bytes.size() - 1)))}));
  CHECK(outcome.listing().empty());
  CHECK(outcome.count(name_of(perf::skip::kRecordCut)) == 1);
}

namespace {

// Samples of `bytes` in all whose addresses no compressor can shrink: zstd stores them as they are.
TestBytes random_samples(const PerfWriter& w, std::size_t bytes, std::mt19937_64& random) {
  constexpr std::size_t kFixedBytes = 48;
  TestBytes out;
  while (out.bytes.size() < bytes) {
    std::size_t size = std::min<std::size_t>(bytes - out.bytes.size(), 60000);
    size -= bytes - out.bytes.size() - size < kFixedBytes && size == 60000 ? 80U : 0U;
    std::vector<std::uint64_t> chain = {kContextUser};
    while (kFixedBytes + 8 * (chain.size() - 1) < size) {
      chain.push_back(random() % ~std::uint64_t{4095});
    }
    out.append(w.sample(1, 2, 3, chain).bytes);
  }
  return out;
}

// COMPRESSED2 as the faulty writers make it: sub-records of at most 65,519 bytes of zstd, of which
// only the first has the size of all, and its header the lowest 16 bits of it, rounded up.
TestBytes overflown(const PerfWriter& w, std::span<const std::byte> zstd) {
  constexpr std::size_t kMost = 65519;
  TestBytes out = w.bytes();
  for (std::size_t at = 0; at < zstd.size(); at += kMost) {
    const auto piece = zstd.subspan(at, std::min(kMost, zstd.size() - at));
    TestBytes payload = w.bytes();
    payload.u64(0xdeadbeef).append(piece);
    out.append(w.record(RecordType::kCompressed2, 0, payload).bytes);
  }
  const std::uint64_t total = out.bytes.size();
  TestBytes sizes = w.bytes();
  sizes.u16(static_cast<std::uint16_t>((total + 7) / 8 * 8)).u64(total - 16);
  std::copy(sizes.bytes.begin(), sizes.bytes.end(), out.bytes.begin() + 6);
  return out;
}

}  // namespace

TEST_CASE("perf stream: COMPRESSED2 records whose sizes wrapped around are taken whole") {
  constexpr unsigned kSeed = 7;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  for (const bytes::ByteOrder order : {bytes::ByteOrder::kLittle, bytes::ByteOrder::kBig}) {
    const PerfWriter w(order);
    int fitting = 0;
    int wrapped = 0;
    int several = 0;
    for (const std::size_t size : {65480U, 65488U, 65496U, 65504U, 65512U, 65520U, 65528U, 70000U,
                                   131000U, 131072U, 200000U, 400000U}) {
      CAPTURE(size);
      const TestBytes content = random_samples(w, size, random);
      const TestBytes after = numbered_sample(w, 5);
      test::EndlessCompressor zstd;
      const auto piece = zstd.piece(content.bytes);
      const bool overflows = (16 + piece.size() + 7) / 8 * 8 > 65535;
      ++(!overflows ? fitting : piece.size() <= 65519 ? wrapped : several);
      const TestBytes record = overflows ? overflown(w, piece) : compressed2(w, piece);
      const TestBytes next = compressed2(w, zstd.piece(after.bytes));
      const auto plain = test::read_perf(w.pipe({test::TestAttr{}}, {content, after})).listing();
      for (const auto& capture : {w.pipe({test::TestAttr{}}, {record, next}),
                                  w.file({test::TestAttr{}}, {record, next})}) {
        const auto outcome = test::read_perf(capture);
        CHECK(outcome.listing() == plain);
        CHECK(outcome.count(perf::loss::kCompressedSizeOverflow) == (overflows ? 1 : 0));
        CHECK_FALSE(outcome.damaged());
        CHECK(outcome.balanced());
      }
      const auto last = test::read_perf(w.pipe({test::TestAttr{}}, {record}));
      CHECK(last.listing().size() + 1 == plain.size());
    }
    CHECK(fitting > 0);
    CHECK(wrapped > 0);
    CHECK(several > 0);
  }
}

TEST_CASE("perf stream: a COMPRESSED2 size that fits nothing is damage") {
  const PerfWriter w;
  for (const std::uint64_t lie :
       {std::uint64_t{100}, std::uint64_t{65515}, std::uint64_t{200000}, ~std::uint64_t{0}}) {
    CAPTURE(lie);
    test::EndlessCompressor zstd;
    const TestBytes first = compressed2(w, zstd.piece(numbered_sample(w, 0).bytes));
    TestBytes second = compressed2(w, zstd.piece(numbered_sample(w, 1).bytes));
    TestBytes size;
    size.u64(lie);
    std::copy(size.bytes.begin(), size.bytes.end(), second.bytes.begin() + 8);
    const auto outcome =
        test::read_perf(w.pipe({test::TestAttr{}}, {first, second, compressed(w, first.bytes)}));
    CHECK(outcome.listing() == Listing{{numbered_stack(0), 1}});
    CHECK(outcome.damaged());
    CHECK(outcome.balanced());
  }
}

TEST_CASE("perf stream: text after a pipe is a notice, not damage") {
  const PerfWriter w;
  for (const std::string_view text :
       {"[ perf record: Woken up 1 times to write data ]\n[ perf record: Captured ]\n", "\n",
        "ok"}) {
    CAPTURE(text);
    TestBytes tail;
    tail.text(text);
    const auto outcome = test::read_perf(w.pipe({test::TestAttr{}}, {numbered_sample(w, 0), tail}));
    CHECK(outcome.count(name_of(perf::skip::kTrailingText)) == text.size());
    CHECK_FALSE(outcome.damaged());
    CHECK(outcome.account.skipped.total() == text.size());
    CHECK(outcome.listing().size() == 1);
  }
}

TEST_CASE("perf stream: in a file, records are found again after a damaged header") {
  const PerfWriter w;
  constexpr std::uint64_t kCount = 60;
  const auto intact = w.file({test::TestAttr{}}, numbered_samples(w, kCount));
  const auto whole = test::read_perf(intact).listing();
  const std::size_t record = numbered_sample(w, 0).bytes.size();
  struct Case {
    std::string name;
    std::size_t at;  // in the header of a record
    std::uint8_t value;
    std::uint64_t lost;  // samples, at most
  };
  const Case cases[] = {{"size 0", 6, 0, 1},
                        {"size below a header", 6, 7, 1},
                        {"size too small", 6, 16, 1},
                        {"size not of the record", 6, 75, 2},
                        {"size too large", 7, 0x02, 8},
                        {"size huge", 7, 0xff, 60},
                        {"type 0", 0, 0, 1},
                        {"type garbage", 2, 0x33, 1}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    auto damaged = intact;
    const std::size_t at = kFileData + 30 * record;
    damaged[at + c.at] = static_cast<std::byte>(c.value);
    const auto outcome = test::read_perf(damaged);
    REQUIRE(outcome.status.has_value());
    CHECK(outcome.damaged());
    CHECK(test::is_subset(outcome.listing(), whole));
    CHECK(outcome.listing().size() + c.lost >= kCount);
    CHECK(outcome.listing().count(numbered_stack(29)) == 1);
    CHECK(outcome.balanced());
    // In a pipe nothing after the damage is read.
    auto pipe = w.pipe({test::TestAttr{}}, numbered_samples(w, kCount));
    pipe[16 + 120 + 30 * record + c.at] = static_cast<std::byte>(c.value);
    const auto from_pipe = test::read_perf(pipe);
    CHECK(from_pipe.damaged());
    CHECK(test::is_subset(from_pipe.listing(), whole));
    CHECK(from_pipe.balanced());
    if (c.name == "size 0") {
      CHECK(from_pipe.listing().size() == 30);
      CHECK(from_pipe.account.skipped.total() == (kCount - 30) * record);
    }
  }
}

TEST_CASE("perf stream: a megabyte of garbage between records is passed over") {
  constexpr unsigned kSeed = 99;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  const PerfWriter w;
  std::vector<TestBytes> records = numbered_samples(w, 20);
  TestBytes garbage;
  garbage.u64(0);
  for (int i = 0; i < 150000; ++i) {
    // Small numbers, so that many of them look like types and sizes.
    garbage.u64(random() % 3 == 0 ? (random() % 64) << 48 | random() % 24 : random());
  }
  records.insert(records.begin() + 10, garbage);
  const auto outcome = test::read_perf(w.file({test::TestAttr{}}, records));
  CHECK(outcome.listing().size() == 20);
  CHECK(outcome.count(perf::loss::kRecordHeaderDamaged) >= 1);
  CHECK(outcome.count(name_of(perf::skip::kDamagedBytes)) == garbage.bytes.size());
  CHECK(outcome.balanced());
}

TEST_CASE("perf stream: an old record in a stack dump is not taken for a record") {
  // Two good records in a row inside of the damage, where eight would be needed.
  const PerfWriter w;
  std::vector<TestBytes> records = numbered_samples(w, 20);
  TestBytes damage;
  damage.u64(0).append(numbered_sample(w, 500).bytes).append(numbered_sample(w, 501).bytes);
  damage.u64(0);
  records.insert(records.begin() + 10, damage);
  const auto outcome = test::read_perf(w.file({test::TestAttr{}}, records));
  CHECK(outcome.listing().size() == 20);
  CHECK(outcome.listing().count(numbered_stack(500)) == 0);
}

TEST_CASE("perf stream: what only looks like samples does not show the way back") {
  const PerfWriter w;
  struct Case {
    std::string name;
    std::uint64_t ip;
    std::uint64_t entries;  // by the record
  };
  const Case cases[] = {{"stacks that begin elsewhere", 0x999, 2},
                        {"chains that do not fill their records", 0x1000, 1},
                        {"chains longer than their records", 0x1000, 3}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    std::vector<TestBytes> records = numbered_samples(w, 20);
    TestBytes damage;
    damage.u64(0);
    for (int i = 0; i < 12; ++i) {
      TestBytes payload;
      payload.u64(c.ip).u32(1).u32(2).u64(3).u64(c.entries).u64(kContextUser).u64(0x1000);
      damage.append(w.record(RecordType::kSample, 2, payload).bytes);
    }
    damage.u64(0);
    records.insert(records.begin() + 10, damage);
    const auto outcome = test::read_perf(w.file({test::TestAttr{}}, records));
    CHECK(outcome.listing().size() == 20);
    CHECK(outcome.sink->rows.size() == 20);
    CHECK(outcome.count(name_of(perf::skip::kDamagedBytes)) == damage.bytes.size());
  }
}

TEST_CASE("perf stream: after lost bytes of a zstd stream nothing of it is decoded") {
  const PerfWriter w;
  test::EndlessCompressor zstd;
  TestBytes broken;
  broken.u64(0);  // no header
  const auto outcome = test::read_perf(
      w.file({test::TestAttr{}}, {compressed(w, zstd.piece(numbered_sample(w, 0).bytes)), broken,
                                  compressed(w, zstd.piece(numbered_sample(w, 1).bytes))}));
  CHECK(outcome.listing() == Listing{{numbered_stack(0), 1}});
  CHECK(outcome.count(perf::loss::kRecordHeaderDamaged) == 1);
  CHECK(outcome.balanced());
}

TEST_CASE("perf stream: compressed records inside of compressed ones are no records") {
  const PerfWriter w;
  test::EndlessCompressor inner;
  test::EndlessCompressor outer;
  const TestBytes nested = compressed(w, inner.piece(numbered_sample(w, 0).bytes));
  const auto outcome =
      test::read_perf(w.pipe({test::TestAttr{}}, {compressed(w, outer.piece(nested.bytes))}));
  CHECK(outcome.listing().empty());
  CHECK(outcome.count(name_of(perf::skip::kBadRecords)) == 1);
}
