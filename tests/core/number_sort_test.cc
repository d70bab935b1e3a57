#include "core/number_sort.h"

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

}  // namespace
}  // namespace stackpack::core
