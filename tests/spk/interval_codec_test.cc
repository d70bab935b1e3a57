// Blocks of intervals: what is encoded comes back, and what cannot be is refused.
#include "spk/format/interval_codec.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "spk/format/layout.h"
#include "spk/write/interval_writer.h"
#include "support/random_stacks.h"
#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

constexpr spk::IntervalBounds kBounds{50, 6};

std::vector<std::byte> encoded(const std::vector<WaitInterval>& rows) {
  spk::BlockContent content;
  spk::encode_intervals(rows, content);
  std::vector<std::byte> whole;
  for (const auto part : content.parts()) {
    whole.insert(whole.end(), part.begin(), part.end());
  }
  return whole;
}

Status decode(const std::vector<std::byte>& bytes, std::vector<WaitInterval>& rows,
              const spk::IntervalBounds& bounds = kBounds) {
  return spk::decode_intervals(bytes::ByteCursor(bytes, 0), bounds, rows);
}

StackId random_stack(Random& random) {
  return random.below(3) == 0 ? kNoStack : static_cast<StackId>(random.below(kBounds.stacks));
}

std::vector<WaitInterval> random_intervals(std::uint64_t seed, std::size_t threads,
                                           std::size_t rows_each) {
  Random random(seed);
  std::vector<WaitInterval> rows;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    std::uint64_t time = random.below(1'000'000'000'000);
    const auto pid = thread % 3 == 0 ? kUnknownId : static_cast<std::uint32_t>(random.below(9));
    for (std::size_t i = 0; i < rows_each; ++i) {
      WaitInterval row;
      row.pid = pid;
      row.tid = static_cast<std::uint32_t>(1000 - 7 * thread);
      row.from_ns = time + (random.below(4) == 0 ? random.below(5000) : 0);
      row.to_ns = row.from_ns + random.below(3) * random.below(10'000'000);
      time = row.to_ns;
      row.state = static_cast<WaitState>(random.below(kWaitStateCount));
      row.flags = static_cast<std::uint8_t>(random.below(kWaitFlagMask + 1U));
      row.reason = static_cast<std::uint32_t>(random.below(kBounds.reasons));
      row.waker_kind = static_cast<WakerKind>(random.below(kWakerKindCount));
      if (row.waker_kind != WakerKind::kNone) {
        row.waker =
            random.below(9) == 0 ? kUnknownId : static_cast<std::uint32_t>(random.below(99));
      }
      row.stack = random_stack(random);
      row.waker_stack = random_stack(random);
      rows.push_back(row);
    }
  }
  return rows;
}

TEST_CASE("intervals: a block comes back as it was") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<WaitInterval> rows = random_intervals(seed, 1 + seed, 1 + 3 * seed);
    std::vector<WaitInterval> found;
    REQUIRE(decode(encoded(rows), found));
    CHECK(found == rows);
  }
}

TEST_CASE("intervals: the first and the last time there is") {
  WaitInterval row;
  row.tid = 1;
  row.from_ns = 0;
  row.to_ns = ~std::uint64_t{0};
  std::vector<WaitInterval> found;
  REQUIRE(decode(encoded({row}), found));
  CHECK(found == std::vector<WaitInterval>{row});
}

TEST_CASE("intervals: a block that ends early or goes on is refused") {
  const std::vector<std::byte> whole = encoded(random_intervals(3, 4, 9));
  std::vector<WaitInterval> found;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK_FALSE(decode({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, found));
  }
  std::vector<std::byte> longer = whole;
  longer.push_back(std::byte{0});
  CHECK_FALSE(decode(longer, found));
}

TEST_CASE("intervals: callstacks and reasons that a file does not have are refused") {
  WaitInterval row;
  row.tid = 1;
  row.stack = 7;
  row.waker_stack = 3;
  row.waker_kind = WakerKind::kThread;
  row.reason = 2;
  std::vector<WaitInterval> found;
  CHECK(decode(encoded({row}), found, {8, 3}));
  CHECK_FALSE(decode(encoded({row}), found, {7, 3}));
  CHECK_FALSE(decode(encoded({row}), found, {8, 2}));
  row.stack = kNoStack;
  CHECK(decode(encoded({row}), found, {4, 3}));
  CHECK_FALSE(decode(encoded({row}), found, {3, 3}));
}

TEST_CASE("intervals: reasons come back, and long ones are cut") {
  const std::vector<std::string> reasons{"", "?", "S", "WrQueue/u",
                                         std::string(spk::kMaxWaitReasonBytes + 9, 'x')};
  spk::BlockContent content;
  spk::encode_wait_reasons(reasons, content);
  std::vector<std::byte> whole;
  for (const auto part : content.parts()) {
    whole.insert(whole.end(), part.begin(), part.end());
  }
  std::vector<std::string> found;
  REQUIRE(spk::decode_wait_reasons(bytes::ByteCursor(whole, 0), found));
  REQUIRE(found.size() == reasons.size());
  CHECK(found[3] == "WrQueue/u");
  CHECK(found[4] == std::string(spk::kMaxWaitReasonBytes, 'x'));
  whole.pop_back();
  found.clear();
  CHECK_FALSE(spk::decode_wait_reasons(bytes::ByteCursor(whole, 0), found));
}

// The bytes of the sections.
std::vector<std::byte> written(const std::vector<WaitInterval>& rows, bool threaded) {
  ScratchDirectory directory;
  const std::string path = directory.file("intervals");
  const auto out = std::move(io::OutputFile::create(path)).value();
  spk::SectionWriter sections(*out, 3);
  spk::IntervalWriter writer(sections, kNoStack, threaded);
  for (const WaitInterval& row : rows) {
    REQUIRE(writer.add(row));
  }
  std::vector<std::string> reasons(kBounds.reasons);
  for (std::size_t i = 1; i < reasons.size(); ++i) {
    reasons[i] = std::to_string(i);
  }
  REQUIRE(writer.end(reasons));
  REQUIRE(sections.sections().size() == (rows.empty() ? 0 : 2));
  if (!rows.empty()) {
    const auto blocks = (rows.size() + spk::kIntervalsPerBlock - 1) / spk::kIntervalsPerBlock;
    CHECK(sections.sections()[0].items == rows.size());
    CHECK(sections.sections()[0].block_count == blocks);
  }
  REQUIRE(out->commit());
  return read_test_file(path);
}

TEST_CASE("intervals: whether a thread encodes them does not show") {
  std::vector<WaitInterval> rows = random_intervals(3, 9, 3 * spk::kIntervalsPerBlock / 9 + 5);
  REQUIRE(rows.size() > 3 * spk::kIntervalsPerBlock);
  for (const std::size_t count :
       {rows.size(), 3 * std::size_t{spk::kIntervalsPerBlock}, std::size_t{77}, std::size_t{0}}) {
    CAPTURE(count);
    rows.resize(count);
    const std::vector<std::byte> alone = written(rows, false);
    CHECK(alone.empty() == rows.empty());
    CHECK(written(rows, true) == alone);
  }
}

TEST_CASE("intervals: rows that are alike take as many bytes as a reader asks for") {
  ScratchDirectory directory;
  const auto out = std::move(io::OutputFile::create(directory.file("intervals"))).value();
  spk::SectionWriter sections(*out, 3);
  spk::IntervalWriter writer(sections, kNoStack, false);
  constexpr std::uint64_t kRows = 5 * std::uint64_t{spk::kIntervalsPerBlock};
  WaitInterval row;
  for (std::uint64_t i = 0; i < kRows; ++i) {
    row.from_ns = 10 * i;
    row.to_ns = row.from_ns + 10;
    REQUIRE(writer.add(row));
  }
  REQUIRE(writer.end(std::vector<std::string>{""}));
  const spk::SectionRecord& section = sections.sections()[0];
  CHECK(section.items == kRows);
  CHECK(spk::keeps_interval_bounds(section.stored_bytes, kRows));
  CHECK(section.stored_bytes * spk::kIntervalsPerByte >= kRows);
  CHECK_FALSE(spk::keeps_interval_bounds(5 * 47, kRows));
  CHECK(spk::keeps_interval_bounds(0, spk::kFreeIntervals));
}

}  // namespace
}  // namespace stackpack::test
