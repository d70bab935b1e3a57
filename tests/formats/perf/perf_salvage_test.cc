// Damaged captures: whatever is cut or changed, nothing crashes, every byte is accounted for, and
// no stack comes out that the intact capture has not.
#include <random>

#include <doctest/doctest.h>

#include "formats/perf/perf_losses.h"
#include "perf_outcome.h"
#include "support/perf_writer.h"
#include "support/sanitizer.h"

using namespace stackpack;

namespace {

void check_every_prefix(const std::vector<std::byte>& capture, std::size_t step) {
  REQUIRE_FALSE(capture.empty());
  const auto whole = test::read_perf(capture);
  REQUIRE(whole.status.has_value());
  const auto listing = whole.listing();
  std::size_t errors = 0;
  std::size_t most = 0;
  // The last prefix is one of them: a compressed capture may give its samples with the last bytes.
  for (std::size_t size = (capture.size() - 1) % step; size < capture.size(); size += step) {
    const auto cut = test::read_perf(std::span(capture).first(size));
    if (!cut.status) {
      ++errors;
      CHECK(cut.sink->rows.empty());
      continue;
    }
    if (!test::is_subset(cut.listing(), listing) || !cut.balanced() || cut.account.total != size ||
        cut.sink->rows.size() < most) {
      CAPTURE(size);
      FAIL_CHECK("a cut capture gives what the whole one has not, or less than a shorter one");
    }
    most = cut.sink->rows.size();
  }
  CHECK(most > 0);
  CHECK(errors > 0);
  CHECK(errors * step < capture.size() / 2);
}

}  // namespace

TEST_CASE("perf salvage: a file cut at every byte") {
  check_every_prefix(test::testdata("tiny.perf.data"), test::byte_step());
}

TEST_CASE("perf salvage: a pipe cut at every byte") {
  check_every_prefix(test::testdata("tiny-pipe.perf.data"), test::byte_step());
}

TEST_CASE("perf salvage: a compressed pipe cut at every byte") {
  check_every_prefix(test::testdata("tiny-zstd.perf.data"), test::byte_step());
}

TEST_CASE("perf salvage: larger captures cut here and there") {
  for (const char* name : {"events", "group", "zstd", "killed"}) {
    CAPTURE(name);
    check_every_prefix(test::testdata(std::string(name) + ".perf.data"), 97);
  }
}

TEST_CASE("perf salvage: damaged record headers lose stacks and invent none") {
  constexpr unsigned kSeed = 4242;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  const auto intact = test::testdata("file.perf.data");
  const auto whole = test::read_perf(intact).listing();
  std::uint64_t all = 0;
  for (const auto& [stack, count] : whole) {
    all += count;
  }
  // Where records begin, by walking over the data section.
  bytes::ByteCursor header(intact, 0);
  header.skip(40);
  const auto start = static_cast<std::size_t>(header.read<std::uint64_t>());
  const auto size = static_cast<std::size_t>(header.read<std::uint64_t>());
  bytes::ByteCursor data(std::span<const std::byte>(intact).subspan(start, size), 0);
  std::vector<std::size_t> records;
  while (data.remaining() >= perf::kRecordHeaderBytes) {
    records.push_back(start + data.position());
    data.skip(perf::read_record_header(data).size - perf::kRecordHeaderBytes);
  }
  REQUIRE(records.size() > 100);
  std::uint64_t kept = 0;
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    auto damaged = intact;
    const std::size_t at = records[random() % records.size()] + random() % 8;
    damaged[at] = static_cast<std::byte>(random());
    CAPTURE(at);
    const auto outcome = test::read_perf(damaged);
    REQUIRE(outcome.status.has_value());
    // The mode of a sample is in its header, but a chain with markers does not depend on it.
    CHECK(test::is_subset(outcome.listing(), whole));
    CHECK(outcome.balanced());
    for (const auto& [stack, count] : outcome.listing()) {
      kept += count;
    }
  }
  // Resynchronised: most of the capture is still there on average.
  CHECK(kept > all * kRounds * 9 / 10);
}

TEST_CASE("perf salvage: arbitrary bytes changed anywhere never crash, and every byte is counted") {
  constexpr unsigned kSeed = 1717;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  for (const char* name : {"tiny", "tiny-pipe", "tiny-zstd", "group", "dwarf"}) {
    CAPTURE(name);
    const auto intact = test::testdata(std::string(name) + ".perf.data");
    const std::size_t samples = test::read_perf(intact).sink->rows.size();
    constexpr int kRounds = 150;
    int survived = 0;
    std::size_t kept = 0;
    for (int round = 0; round < kRounds; ++round) {
      auto damaged = intact;
      for (std::uint64_t flips = 1 + random() % 8; flips != 0; --flips) {
        // Half of them in the first 300 bytes: header, attributes, first records.
        const std::size_t range = random() % 2 == 0 ? 300 : damaged.size();
        const std::uint64_t kinds[] = {random(), 0, 0xff, 0x7f, 1};
        damaged[random() % range] = static_cast<std::byte>(kinds[random() % 5]);
      }
      const auto outcome = test::read_perf(damaged);
      if (outcome.status) {
        ++survived;
        kept += outcome.sink->rows.size();
        CHECK(outcome.balanced());
      }
    }
    // A magic or an attribute that is gone refuses a capture, and little else does.
    CHECK(survived > kRounds / 2);
    CHECK(kept > samples * kRounds / 5);
  }
}
