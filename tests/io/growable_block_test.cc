#include "io/growable_block.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::io {
namespace {

TEST_SUITE("growable block") {
  TEST_CASE("content survives growth, and new elements are zero") {
    GrowableArray<std::uint64_t> array;
    std::uint64_t filled = 0;
    for (const std::uint64_t count : {1U, 512U, 513U, 300'000U, 800'000U}) {
      REQUIRE(array.reserve(count));
      REQUIRE(array.capacity() >= count);
      for (std::uint64_t i = 0; i < filled; ++i) {
        REQUIRE(array[i] == i + 1);
      }
      for (; filled < count; ++filled) {
        REQUIRE(array[filled] == 0);
        array[filled] = filled + 1;
      }
    }
  }

  TEST_CASE("truncate keeps the front, release and move leave nothing") {
    GrowableArray<std::uint32_t> array;
    REQUIRE(array.reserve(1'000'000));
    array[999] = 7;
    array.truncate(1000);
    CHECK(array.capacity() >= 1000);
    CHECK(array.capacity() < 10'000);
    CHECK(array[999] == 7);
    GrowableArray<std::uint32_t> other = std::move(array);
    CHECK(other[999] == 7);
    REQUIRE(other.reserve(700'000));
    CHECK(other[999] == 7);
    CHECK(other[699'999] == 0);
    other.truncate(0);
    CHECK(other.capacity() == 0);
  }

  TEST_CASE("more than the address space is refused and changes nothing") {
    GrowableArray<std::uint64_t> array;
    REQUIRE(array.reserve(10));
    array[9] = 5;
    CHECK_FALSE(array.reserve(~std::uint64_t{0}));
    CHECK_FALSE(array.reserve(std::uint64_t{1} << 50));
    CHECK(array[9] == 5);
  }
}

}  // namespace
}  // namespace stackpack::io
