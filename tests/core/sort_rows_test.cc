#include "core/sort_rows.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::core {
namespace {

struct Row {
  std::uint32_t key;
  std::uint32_t place;
  bool operator==(const Row&) const = default;
};

bool by_key(const Row& a, const Row& b) {
  return a.key < b.key;
}

TEST_CASE(
    "sort_rows: orders as std::stable_sort does, whatever the size and however many are equal") {
  std::uint32_t state = 7;
  for (std::uint32_t size = 0; size < 200; ++size) {
    for (const std::uint32_t keys : {1U, 2U, 7U, 1000U}) {
      std::vector<Row> rows;
      for (std::uint32_t place = 0; place < size; ++place) {
        state = state * 1664525U + 1013904223U;
        rows.push_back({(state >> 16U) % keys, place});
      }
      std::vector<Row> expected = rows;
      std::stable_sort(expected.begin(), expected.end(), by_key);
      sort_rows(rows, by_key);
      REQUIRE(rows == expected);
    }
  }
}

TEST_CASE("sort_rows: moves rows that cannot be copied, and a part of a vector") {
  std::vector<std::unique_ptr<int>> rows;
  for (const int value : {5, 3, 9, 1, 7}) {
    rows.push_back(std::make_unique<int>(value));
  }
  sort_rows(std::span(rows).subspan(1, 3), [](const auto& a, const auto& b) { return *a < *b; });
  std::vector<int> values;
  for (const auto& row : rows) {
    values.push_back(*row);
  }
  CHECK(values == std::vector<int>{5, 1, 3, 9, 7});
}

}  // namespace
}  // namespace stackpack::core
