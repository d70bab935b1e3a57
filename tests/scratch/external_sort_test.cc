#include "scratch/external_sort.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "scratch/row_blocks.h"
#include "scratch/sorted_runs.h"

using stackpack::Error;
using stackpack::ErrorCode;
using stackpack::kNoOffset;
using stackpack::Status;
using stackpack::scratch::ExternalSort;
using stackpack::scratch::RowBlocks;
using stackpack::scratch::SortedRuns;

namespace {

struct Row {
  std::uint64_t time = 0;
  std::uint64_t order = 0;
  std::uint32_t thread = 0;
  std::uint16_t small = 0;
  std::uint16_t kind = 0;

  friend bool operator==(const Row&, const Row&) = default;
};

struct ByTime {
  static std::uint64_t key(const Row& row) { return row.time; }
  static bool before(const Row& a, const Row& b) {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
  }
};

std::string directory() {
  return std::filesystem::temp_directory_path().string();
}

// Times as a capture has them: nearly in order, some equal, some anywhere.
std::vector<Row> some_rows(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<Row> rows;
  std::uint64_t time = 1'700'000'000'000'000'000;
  for (std::size_t i = 0; i < count; ++i) {
    time += random() % 3 == 0 ? 0 : random() % 5000;
    Row row;
    row.time = random() % 50 == 0 ? random() : time - random() % 2000;
    // Records of gaps come after all others of their time.
    row.order = i | (random() % 40 == 0 ? std::uint64_t{1} << 63 : 0);
    row.thread = static_cast<std::uint32_t>(1000 + random() % 30);
    row.small = static_cast<std::uint16_t>(random());
    rows.push_back(row);
  }
  return rows;
}

std::vector<Row> visited(ExternalSort<Row, ByTime>& sort) {
  std::vector<Row> rows;
  REQUIRE(sort.visit([&](const Row& row) {
    rows.push_back(row);
    return Status();
  }));
  return rows;
}

}  // namespace

TEST_CASE("rows come in order one by one as they do when they are visited") {
  for (const std::size_t count : {0U, 1U, 249U, 250U, 251U, 1000U, 40'001U}) {
    CAPTURE(count);
    std::vector<Row> rows = some_rows(count);
    ExternalSort<Row, ByTime> sort(directory(), 1000);
    for (const Row& row : rows) {
      REQUIRE(sort.add(row));
    }
    std::sort(rows.begin(), rows.end(), &ByTime::before);
    std::vector<Row> given;
    while (true) {
      const auto row = sort.next();
      REQUIRE(row.has_value());
      if (*row == nullptr) {
        break;
      }
      given.push_back(**row);
    }
    CHECK(given == rows);
    CHECK(*sort.next() == nullptr);
  }
}

TEST_CASE("rows come in order, in memory and from scratch, and may be visited again") {
  for (const std::size_t count : {0U, 1U, 249U, 250U, 251U, 999U, 1000U, 10'001U, 40'001U}) {
    CAPTURE(count);
    std::vector<Row> rows = some_rows(count);
    ExternalSort<Row, ByTime> sort(directory(), 1000);
    CHECK(sort.empty());
    for (const Row& row : rows) {
      REQUIRE(sort.add(row));
    }
    CHECK(sort.empty() == (count == 0));
    std::sort(rows.begin(), rows.end(), ByTime::before);
    CHECK(visited(sort) == rows);
    CHECK(visited(sort) == rows);
  }
}

TEST_CASE("rows in any number of ascending parts come in order, equal times by the rest") {
  for (std::uint64_t parts = 1; parts <= 40; ++parts) {
    CAPTURE(parts);
    ExternalSort<Row, ByTime> sort(directory(), 1000);
    std::vector<Row> rows;
    for (std::uint64_t part = 0; part < parts; ++part) {
      for (std::uint64_t i = 0; i < 10 + part; ++i) {  // of one length no two
        Row row;
        row.time = i / 2 * 10 + part % 3;
        row.order = (parts - part) * 1000 + i;
        rows.push_back(row);
        REQUIRE(sort.add_filled([&row](Row& added) { added = row; }));
      }
    }
    std::sort(rows.begin(), rows.end(), ByTime::before);
    CHECK(visited(sort) == rows);
  }
}

TEST_CASE("an error of the visitor ends the visit") {
  for (const std::size_t most : {100U, 100'000U}) {
    ExternalSort<Row, ByTime> sort(directory(), most);
    for (const Row& row : some_rows(1000)) {
      REQUIRE(sort.add(row));
    }
    std::size_t count = 0;
    const Status stopped = sort.visit([&](const Row& /*row*/) {
      return ++count == 150 ? Status(Error{ErrorCode::kCancelled, kNoOffset, "enough"}) : Status();
    });
    CHECK_FALSE(stopped);
    CHECK(count == 150);
  }
}

TEST_CASE("blocks of rows come back, whatever is in them") {
  using Blocks = RowBlocks<Row>;
  std::mt19937_64 random(11);
  for (std::size_t count = 1; count <= Blocks::kRows; ++count) {
    std::vector<Row> rows(count);
    for (Row& row : rows) {
      row.time = random() % 4 == 0 ? ~std::uint64_t{0} : random() >> random() % 64;
      row.order = random() >> random() % 64;
      row.thread = random() % 2 == 0 ? 0 : ~std::uint32_t{0};
      row.kind = static_cast<std::uint16_t>(count % 2);
    }
    std::vector<std::byte> packed(3);  // it is appended
    Blocks::pack(
        count, [&](std::size_t i) -> const Row& { return rows[i]; }, packed);
    REQUIRE(packed.size() == 3 + Blocks::size_of(packed.data() + 3));
    CHECK(packed.size() - 3 <= Blocks::kMostBytes);
    std::vector<Row> back(99);
    Blocks::unpack(packed.data() + 3, count, back);
    CHECK(back == rows);
  }
}

TEST_CASE("rows that are alike take a fraction of their memory in scratch") {
  std::vector<Row> rows(64);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = {1'700'000'000'000'000'000 + 1000 * i, i, 4711, 0, 3};
  }
  std::vector<std::byte> packed;
  RowBlocks<Row>::pack(
      rows.size(), [&](std::size_t i) -> const Row& { return rows[i]; }, packed);
  CHECK(packed.size() < rows.size() * sizeof(Row) / 5);
}

TEST_CASE("runs that overlap are merged, and equal rows added up where that is asked for") {
  SortedRuns<Row> runs(directory(), 1 << 16);
  std::vector<Row> all;
  for (std::uint16_t run = 0; run < 20; ++run) {
    std::vector<Row> rows;
    for (std::uint64_t i = 0; i < 500; ++i) {
      rows.push_back({i * (run + 1U), 0, 0, 1, 0});
    }
    REQUIRE(runs.add(rows));
    all.insert(all.end(), rows.begin(), rows.end());
  }
  CHECK(runs.rows() == all.size());
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> times;
  REQUIRE(runs.merge([](const Row& a, const Row& b) { return a.time < b.time; },
                     [](Row& to, const Row& row) { to.small += row.small; },
                     [&](const Row& row) {
                       sum += row.small;
                       times.push_back(row.time);
                       return Status();
                     }));
  CHECK(sum == all.size());
  CHECK(std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) == times.end());
}
