#include "core/merge_heap.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::core {

TEST_CASE("merge heap: heads come out in order, whatever was put in between") {
  std::mt19937_64 random(5);
  MergeHeap<std::uint64_t, std::less<>> heap{std::less<>()};
  std::multiset<std::uint64_t> expected;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t value = random() % 50;
    const std::uint64_t choice = heap.empty() ? 0 : random() % 3;
    if (choice == 0) {
      heap.push(value);
      expected.insert(value);
    } else {
      REQUIRE(heap.top() == *expected.begin());
      REQUIRE((choice == 1 ? heap.pop() : heap.replace_top(value)) == *expected.begin());
      expected.erase(expected.begin());
      if (choice == 2) {
        expected.insert(value);
      }
    }
    REQUIRE(heap.size() == expected.size());
  }
  while (!heap.empty()) {
    REQUIRE(heap.pop() == *expected.begin());
    expected.erase(expected.begin());
  }
  CHECK(expected.empty());
}

TEST_CASE("merge heap: heads that can only be moved") {
  const auto before = [](const std::unique_ptr<int>& a, const std::unique_ptr<int>& b) {
    return *a < *b;
  };
  MergeHeap<std::unique_ptr<int>, decltype(before)> heap(before);
  for (const int value : {3, 1, 2}) {
    heap.push(std::make_unique<int>(value));
  }
  CHECK(*heap.replace_top(std::make_unique<int>(9)) == 1);
  CHECK(*heap.pop() == 2);
  CHECK(*heap.pop() == 3);
  CHECK(*heap.pop() == 9);
  CHECK(heap.empty());
}

}  // namespace stackpack::core
