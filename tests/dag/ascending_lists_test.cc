#include "dag/ascending_lists.h"

#include <cstdint>
#include <filesystem>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::dag {
namespace {

using Numbers = std::vector<std::uint32_t>;

// `count` numbers whose distances are 1 to `widest`, not above the highest that there is.
Numbers ascending(std::mt19937_64& random, std::size_t count, std::uint64_t widest) {
  Numbers numbers;
  std::uint64_t number = random() % widest;
  while (numbers.size() < count && number <= 0xFFFF'FFFF) {
    numbers.push_back(static_cast<std::uint32_t>(number));
    number += 1 + random() % widest;
  }
  return numbers;
}

// Adds the numbers of all lists in turn, as a merge does: the least of them all is the next one.
void check_lists(const std::vector<Numbers>& expected, std::uint64_t budget_bytes) {
  std::vector<std::uint64_t> counts;
  std::set<std::pair<std::uint32_t, std::size_t>> all;
  for (std::size_t list = 0; list < expected.size(); ++list) {
    counts.push_back(expected[list].size());
    for (const std::uint32_t number : expected[list]) {
      all.emplace(number, list);
    }
  }
  AscendingLists lists(std::filesystem::temp_directory_path().string(), budget_bytes, counts);
  for (const auto& [number, list] : all) {
    REQUIRE(lists.add(list, number));
  }
  for (std::size_t list = 0; list < expected.size(); ++list) {
    for (std::size_t i = expected[list].size(); i-- > 0;) {
      const Result<std::uint32_t> number = lists.at(list, i);
      REQUIRE(number);
      REQUIRE(*number == expected[list][i]);
    }
  }
}

TEST_CASE("ascending lists give back what was added, near or far apart, full blocks or not") {
  std::mt19937_64 random(1);
  std::vector<Numbers> lists;
  for (const std::size_t count :
       {0U, 1U, 2U, 3U, 64U, 127U, 128U, 129U, 255U, 256U, 257U, 5'000U}) {
    for (const std::uint64_t widest : {1U, 2U, 3U, 5U, 100U, 60'000U, 0x4000'0000U}) {
      lists.push_back(ascending(random, count, widest));
    }
  }
  lists.push_back({0});
  lists.push_back({0xFFFF'FFFF});
  lists.push_back({0, 0xFFFF'FFFF});
  lists.push_back({0, 1, 0xFFFF'FFFE, 0xFFFF'FFFF});
  for (const std::uint64_t budget_bytes : {100'000U, 1U << 20}) {  // packed, and as they are
    CAPTURE(budget_bytes);
    check_lists(lists, budget_bytes);
  }
}

TEST_CASE("ascending lists beyond their room lie on disk") {
  std::mt19937_64 random(2);
  std::vector<Numbers> lists;
  for (const std::uint64_t widest : {1U, 2U, 40U, 9'000U}) {
    lists.push_back(ascending(random, 60'000, widest));
  }
  check_lists(lists, 0);
}

}  // namespace
}  // namespace stackpack::dag
