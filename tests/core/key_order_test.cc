#include "core/key_order.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::core {
namespace {

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

}  // namespace
}  // namespace stackpack::core
