#include "spk/write/stack_count_table.h"

#include <filesystem>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::spk {
namespace {

using Row = StackCountTable::Row;
using Key = std::tuple<StackId, std::uint32_t, std::uint32_t, StackOrigin>;

std::string scratch_directory() {
  return std::filesystem::temp_directory_path().string();
}

std::vector<Row> rows_of(StackCountTable& table, std::size_t block_rows) {
  std::vector<Row> rows;
  bool last = false;
  REQUIRE(table.for_each_block(block_rows, [&](std::span<const Row> block) -> Status {
    CHECK_FALSE(last);  // only the last block is short
    CHECK(block.size() > 0);
    CHECK(block.size() <= block_rows);
    last = block.size() < block_rows;
    rows.insert(rows.end(), block.begin(), block.end());
    return {};
  }));
  return rows;
}

TEST_SUITE("stack count table") {
  TEST_CASE("counts do not depend on the memory for them") {
    const std::uint32_t seed = 3;
    CAPTURE(seed);
    // 0: no bound. 1: the least table there is, many runs.
    for (const std::uint64_t memory_bytes : {0U, 1U, 1'000'000U}) {
      CAPTURE(memory_bytes);
      std::mt19937_64 random(seed);
      StackCountTable table(scratch_directory(), memory_bytes);
      std::map<Key, std::pair<std::uint64_t, std::uint64_t>> model;
      for (int i = 0; i < 60'000; ++i) {
        StoredSample sample;
        sample.stack = random() % 10 == 0 ? kNoStack : static_cast<StackId>(random() % 9'000);
        sample.event = static_cast<std::uint32_t>(random() % 2);
        sample.pid = random() % 7 == 0 ? kUnknownId : static_cast<std::uint32_t>(random() % 3);
        sample.origin = static_cast<StackOrigin>(random() % 3);
        sample.weight = random() % 1000 == 0 ? ~std::uint64_t{0} : random() % 100;
        REQUIRE(table.add(sample));
        auto& [samples, weight] = model[{sample.stack, sample.event, sample.pid, sample.origin}];
        ++samples;
        weight = weight > ~sample.weight ? ~std::uint64_t{0} : weight + sample.weight;
      }
      const std::vector<Row> rows = rows_of(table, 777);
      REQUIRE(rows.size() == model.size());
      auto expected = model.begin();
      for (const Row& row : rows) {
        REQUIRE(Key(row.stack, row.event, row.pid, row.origin) == expected->first);
        REQUIRE(std::pair(row.samples, row.weight) == expected->second);
        ++expected;
      }
    }
  }

  TEST_CASE("no sample, no block") {
    StackCountTable table(scratch_directory(), 1);
    CHECK(rows_of(table, 10).empty());
  }

  TEST_CASE("where scratch cannot be written, that is the error") {
    StackCountTable table("/nonexistent-directory", 1);
    Status status;
    for (StackId stack = 0; status && stack < 100'000; ++stack) {
      StoredSample sample;
      sample.stack = stack;
      status = table.add(sample);
    }
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::kIo);
  }

  TEST_CASE("the visitor's error ends the visits, from memory and from runs") {
    for (const std::uint64_t memory_bytes : {0U, 1U}) {
      StackCountTable table(scratch_directory(), memory_bytes);
      for (StackId stack = 0; stack < 5'000; ++stack) {
        StoredSample sample;
        sample.stack = stack;
        REQUIRE(table.add(sample));
      }
      int visits = 0;
      const Status status = table.for_each_block(100, [&](std::span<const Row>) -> Status {
        return ++visits == 3 ? Status(Error{ErrorCode::kIo, 5, "full"}) : Status{};
      });
      REQUIRE_FALSE(status);
      CHECK(status.error().offset == 5);
      CHECK(visits == 3);
    }
  }
}

}  // namespace
}  // namespace stackpack::spk
