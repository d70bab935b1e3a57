#include "core/radix_sort.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::core {
namespace {

void check_sorted(std::vector<std::uint64_t> numbers) {
  std::vector<std::uint64_t> expected = numbers;
  std::sort(expected.begin(), expected.end());
  std::vector<std::uint64_t> scratch;
  sort_numbers(numbers, scratch);
  CHECK(numbers == expected);
}

TEST_CASE("numbers are put in order, whichever of their bits differ") {
  std::mt19937_64 random(1);
  for (const std::uint64_t bits :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x7ff}, std::uint64_t{0xfff},
        std::uint64_t{0xffff'0000'0001}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    CAPTURE(bits);
    std::vector<std::uint64_t> numbers;
    for (int i = 0; i < 3000; ++i) {
      numbers.push_back((random() & bits) | (0x5a & ~bits));
    }
    check_sorted(std::move(numbers));
  }
}

TEST_CASE("no number and one are in order") {
  check_sorted({});
  check_sorted({~std::uint64_t{0}});
}

TEST_CASE("keys are put in order, and equal ones stay as they are") {
  std::mt19937_64 random(1);
  for (const unsigned bits : {0U, 1U, 11U, 12U, 33U, 64U}) {
    CAPTURE(bits);
    std::vector<OrderKey> keys;
    for (std::uint32_t i = 0; i < 3000; ++i) {
      keys.push_back({bits == 0 ? 7 : random() >> (64 - bits), i});
    }
    std::vector<OrderKey> expected = keys;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const OrderKey& a, const OrderKey& b) { return a.value < b.value; });
    std::vector<OrderKey> scratch;
    sort_by_value(keys, scratch);
    CHECK(std::equal(keys.begin(), keys.end(), expected.begin(), expected.end(),
                     [](const OrderKey& a, const OrderKey& b) {
                       return a.value == b.value && a.index == b.index;
                     }));
  }
}

TEST_CASE("no keys are in order") {
  std::vector<OrderKey> keys;
  std::vector<OrderKey> scratch;
  sort_by_value(keys, scratch);
  CHECK(keys.empty());
}

TEST_CASE("keys that lie around a power of two are put in order by their distances") {
  std::vector<OrderKey> keys;
  std::vector<OrderKey> scratch;
  for (std::uint32_t i = 0; i < 100; ++i) {
    keys.push_back({(std::uint64_t{1} << 40) + 50 - i, i});
  }
  sort_by_value(keys, scratch);
  for (std::uint32_t i = 0; i < 100; ++i) {
    CHECK(keys[i].index == 99 - i);
  }
}

}  // namespace
}  // namespace stackpack::core
