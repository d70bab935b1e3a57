// Arrays, records, hash tables and byte strings that share a bounded number of pages.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "scratch/spill_records.h"
#include "scratch/spill_space.h"
#include "scratch/spill_table.h"

namespace stackpack::test {
namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 30;

std::string scratch() {
  return std::filesystem::temp_directory_path().string();
}

struct Entry {
  std::uint64_t key = 0;
  std::uint64_t value = 0;
  [[nodiscard]] bool used() const { return value != 0; }
  // A poor hash: many keys have the same place, and the last places run over to the first.
  [[nodiscard]] std::uint64_t hash() const { return ~(key % 97) << 57; }
  [[nodiscard]] bool same_key(const Entry& other) const { return key == other.key; }
};

struct WideEntry : Entry {
  [[nodiscard]] std::uint64_t hash() const { return key * 0x9E3779B97F4A7C15; }
};

template <typename Kind>
void compare_with_map(scratch::SpillSpace& space, std::uint64_t keys, int steps) {
  scratch::SpillTable<Kind> table(space);
  std::map<std::uint64_t, std::uint64_t> expected;
  std::mt19937_64 random(7);
  for (int step = 0; step < steps; ++step) {
    Kind entry;
    entry.key = random() % keys;
    const auto known = expected.find(entry.key);
    const std::uint64_t value = known == expected.end() ? 0 : known->second;
    switch (random() % 4) {
      case 0:
        REQUIRE(table.take(entry).value == value);
        expected.erase(entry.key);
        break;
      case 1:
        REQUIRE(table.find(entry).value == value);
        break;
      default:
        entry.value = random() | 1;
        REQUIRE(table.put(entry) == (value == 0));
        expected[entry.key] = entry.value;
    }
    REQUIRE(table.size() == expected.size());
  }
  for (std::uint64_t key = 0; key < keys; ++key) {
    Kind entry;
    entry.key = key;
    const auto known = expected.find(key);
    REQUIRE(table.find(entry).value == (known == expected.end() ? 0 : known->second));
  }
}

TEST_SUITE_BEGIN("spill tables");

TEST_CASE("a table holds what a map would, however few pages fit") {
  for (const std::uint64_t budget : {std::uint64_t{0}, kPlenty}) {
    CAPTURE(budget);
    scratch::SpillSpace space(scratch(), budget);
    compare_with_map<Entry>(space, 500, 20'000);
    compare_with_map<WideEntry>(space, 20'000, 100'000);
    CHECK(space.status());
    CHECK((space.spilled_bytes() == 0) == (budget == kPlenty));
  }
}

TEST_CASE("the pages of a table that grew are used again, and read as zeros") {
  scratch::SpillSpace space(scratch(), 0);
  scratch::SpillTable<WideEntry> table(space);
  constexpr std::uint64_t kEntries = 200'000;
  for (std::uint64_t key = 0; key < kEntries; ++key) {
    WideEntry entry;
    entry.key = key;
    entry.value = key + 1;
    table.put(entry);
  }
  // Slots of 16 bytes, at least 5/16 full; the smaller tables before it are within.
  CHECK(space.spilled_bytes() <= kEntries * 16 * 16 / 5 + 20 * scratch::SpillSpace::kPageBytes);
  scratch::SpillArray<std::uint64_t> numbers(space);
  for (std::uint64_t i = 0; i < 100'000; i += 512) {
    numbers.set(i, 1);
    REQUIRE(numbers.get(i + 1) == 0);
    REQUIRE(numbers.get(i + 511) == 0);
  }
}

TEST_CASE("numbers of records begin at 1 and are given again, the last one first") {
  struct Record {
    std::uint32_t name = 0;
    std::uint32_t life = 0;
  };
  scratch::SpillSpace space(scratch(), 0);
  scratch::SpillRecords<Record> records(space);
  for (std::uint32_t i = 1; i <= 100'000; ++i) {
    REQUIRE(records.add({i, 1}) == i);
  }
  records.remove(5);
  records.remove(70'000);
  CHECK(records.get(5).life == 0);
  records.change(99'999, [](Record& record) { record.life = 9; });
  CHECK(records.get(99'999).life == 9);
  CHECK(records.get(99'998).name == 99'998);
  CHECK(records.add({1, 1}) == 70'000);
  CHECK(records.add({2, 1}) == 5);
  CHECK(records.add({3, 1}) == 100'001);
  CHECK(records.last() == 100'001);
}

TEST_CASE("a part of an array is sorted, stably, and the rest stays") {
  struct Item {
    std::uint32_t key = 0;
    std::uint32_t order = 0;
  };
  scratch::SpillSpace space(scratch(), 0);
  std::mt19937 random(5);
  for (const std::uint32_t count : {0U, 1U, 7U, 8U, 9U, 1000U, 50'000U}) {
    CAPTURE(count);
    scratch::SpillArray<Item> items(space);
    for (std::uint32_t i = 0; i < count + 6; ++i) {
      items.set(i, {static_cast<std::uint32_t>(random() % (count / 3 + 1)), i});
    }
    scratch::spill_sort(
        items, 3, count, [](const Item& a, const Item& b) { return a.key < b.key; }, 8);
    std::vector<bool> seen(count + 6);
    for (std::uint32_t i = 0; i < count + 6; ++i) {
      const Item item = items.get(i);
      REQUIRE_FALSE(seen[item.order]);
      seen[item.order] = true;
      if (i < 3 || i >= count + 3) {
        REQUIRE(item.order == i);
      } else if (i > 3) {
        const Item before = items.get(i - 1);
        REQUIRE((before.key < item.key || (before.key == item.key && before.order < item.order)));
      }
    }
    items.clear();
  }
}

TEST_CASE("the pages of a sort are used again") {
  scratch::SpillSpace space(scratch(), 0);
  scratch::SpillArray<std::uint64_t> numbers(space);
  constexpr std::uint64_t kNumbers = 20'000;
  constexpr std::uint64_t kBytes = kNumbers * sizeof(std::uint64_t);
  for (std::uint64_t round = 0; round < 10; ++round) {
    for (std::uint64_t i = 0; i < kNumbers; ++i) {
      numbers.set(i, (kNumbers - i) * (round + 1));
    }
    scratch::spill_sort(numbers, 0, kNumbers, std::less<>(), 5000);
    REQUIRE(numbers.get(0) == round + 1);
  }
  // The numbers and one copy of them.
  CHECK(space.spilled_bytes() <= 2 * kBytes + 20 * scratch::SpillSpace::kPageBytes);
}

TEST_CASE("byte strings of any length come back, and their blocks are used again") {
  scratch::SpillSpace space(scratch(), 0);
  scratch::SpillChains chains(space);
  std::mt19937 random(3);
  std::map<std::uint32_t, std::string> expected;
  std::uint64_t most_spilled = 0;
  for (int round = 0; round < 20; ++round) {
    for (const std::size_t length : {0U, 1U, 123U, 124U, 125U, 248U, 249U, 70'000U}) {
      std::string text(length, ' ');
      for (char& letter : text) {
        letter = static_cast<char>(random());
      }
      const std::uint32_t chain = chains.add(std::as_bytes(std::span(text)));
      CHECK((chain == 0) == (length == 0));
      if (chain != 0) {
        REQUIRE(expected.emplace(chain, text).second);
      }
    }
    for (const auto& [chain, text] : expected) {
      std::string back(text.size(), ' ');
      chains.read(chain, std::as_writable_bytes(std::span(back)));
      REQUIRE(back == text);
    }
    if (round >= 10) {  // as many are added as go
      most_spilled = std::max(most_spilled, space.spilled_bytes());
      if (round == 10) {
        most_spilled += scratch::SpillSpace::kPageBytes * 20;
      }
      CHECK(space.spilled_bytes() <= most_spilled);
      for (int i = 0; i < 7; ++i) {
        chains.remove(expected.begin()->first);
        expected.erase(expected.begin());
      }
    }
  }
}

TEST_CASE("without a place for the scratch file the first error stays, and all reads as zeros") {
  scratch::SpillSpace space("/nonexistent-directory", 0);
  scratch::SpillTable<WideEntry> table(space);
  scratch::SpillChains chains(space);
  for (std::uint64_t key = 0; key < 10'000; ++key) {
    WideEntry entry;
    entry.key = key;
    entry.value = 1;
    table.put(entry);
    chains.remove(chains.add(std::as_bytes(std::span(&key, 1))));
  }
  REQUIRE_FALSE(space.status());
  CHECK(space.status().error().code == ErrorCode::kIo);
  WideEntry entry;
  entry.key = 3;
  CHECK_FALSE(table.find(entry).used());
  CHECK_FALSE(table.take(entry).used());
  std::uint64_t number = 1;
  chains.read(1, std::as_writable_bytes(std::span(&number, 1)));
  CHECK(number == 0);
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
