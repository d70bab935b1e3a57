#include "core/number_table.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/string_table.h"

namespace stackpack::core {
namespace {

// All values in four places, so that every look-up passes others.
struct Crowded {
  std::uint64_t operator()(std::uint64_t value) const { return value % 4; }
};

template <typename Hash>
void check_numbers(std::uint64_t distinct) {
  std::mt19937_64 random(7);
  NumberTable<std::uint64_t, Hash> table;
  std::map<std::uint64_t, std::uint32_t> expected;
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 4 * distinct; ++i) {
      const std::uint64_t value = random() % distinct << 40;
      if (expected.count(value) == 0) {
        REQUIRE(table.find(value) == table.kNone);
      }
      const auto known = expected.try_emplace(value, static_cast<std::uint32_t>(expected.size()));
      REQUIRE(table.number(value) == known.first->second);
      REQUIRE(table[known.first->second] == value);
    }
    REQUIRE(table.size() == expected.size());
    for (const auto& [value, number] : expected) {
      REQUIRE(table.find(value) == number);
      REQUIRE(table.values()[number] == value);
    }
    table.clear();
    expected.clear();
    REQUIRE(table.empty());
  }
}

}  // namespace

TEST_CASE("number table: numbers are dense, by arrival, and begin anew after clear") {
  check_numbers<SpreadBits>(5'000);
  check_numbers<Crowded>(500);
}

TEST_CASE("number table: an empty one, and one that was released, find nothing") {
  NumberTable<std::uint64_t> table;
  CHECK(table.find(0) == table.kNone);
  CHECK(table.number(9) == 0);
  table.release();
  CHECK(table.find(9) == table.kNone);
  CHECK(table.number(8) == 0);
  CHECK(table.number(9) == 1);
}

TEST_CASE("index table: says before it grows that it will, and keeps what it has") {
  std::vector<std::uint64_t> values;
  IndexTable table;
  CHECK(table.full());
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    const std::size_t before = table.slot_count();
    const std::size_t next = table.next_slot_count();
    const bool full = table.full();
    values.push_back(mix_bits(i));
    table.insert(values[i], i, [&](std::uint32_t k) { return values[k]; });
    REQUIRE(table.slot_count() == (full ? next : before));
    REQUIRE(table.size() * 2 <= table.slot_count());
  }
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    REQUIRE(table.find(values[i], [&](std::uint32_t k) { return values[k] == values[i]; }) == i);
  }
}

TEST_CASE("string table: numbers are dense and stay, whatever the texts") {
  std::mt19937 random(5);
  StringTable table;
  std::map<std::string, std::uint32_t> expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text(random() % 4, static_cast<char>(random() % 256));
    const std::string longer = text + std::to_string(random() % 3000);
    const auto known = expected.try_emplace(longer, static_cast<std::uint32_t>(expected.size()));
    CHECK(table.intern(longer) == known.first->second);
  }
  CHECK(table.size() == expected.size());
  CHECK(table.find("in no such text") == StringTable::kNone);
  for (const auto& [text, number] : expected) {
    CHECK(table.text(number) == text);
    CHECK(table.find(text) == number);
  }
}

}  // namespace stackpack::core
