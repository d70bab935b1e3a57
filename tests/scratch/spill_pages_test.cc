#include "scratch/spill_pages.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>

#include <doctest/doctest.h>

using stackpack::io::SpillFile;
using stackpack::scratch::SpillPages;

namespace {

std::string scratch() {
  return std::filesystem::temp_directory_path().string();
}

}  // namespace

TEST_CASE("spill pages: numbers come back, however few pages fit") {
  for (const std::uint64_t budget : {0U, 40U * 4096U, 1U << 24}) {
    CAPTURE(budget);
    const std::uint64_t seed = 3;
    std::mt19937_64 random(seed);
    SpillFile file(scratch());
    SpillPages pages(file, budget);
    std::map<std::uint64_t, std::uint64_t> expected;
    constexpr std::uint64_t kNumbers = 100'000;  // 195 pages
    for (int i = 0; i < 50'000; ++i) {
      const std::uint64_t at = random() % kNumbers * sizeof(std::uint64_t);
      if (random() % 2 == 0) {
        expected[at] = random();
        REQUIRE(pages.set(at, expected[at]));
      } else {
        const auto found = expected.find(at);
        REQUIRE(pages.get<std::uint64_t>(at).value() ==
                (found == expected.end() ? 0 : found->second));
      }
    }
    for (const auto& [at, value] : expected) {
      REQUIRE(pages.get<std::uint64_t>(at).value() == value);
    }
    CHECK((file.size() == 0) == (budget >= kNumbers * sizeof(std::uint64_t)));
  }
}

TEST_CASE("spill pages: what was appended to the file is seen, and beyond it is zero") {
  SpillFile file(scratch());
  std::vector<std::uint32_t> numbers(5000);
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = i * 3;
  }
  REQUIRE(file.append(std::as_bytes(std::span(numbers))));
  SpillPages pages(file, 0);
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    REQUIRE(pages.get<std::uint32_t>(std::uint64_t{i} * 4).value() == numbers[i]);
  }
  CHECK(pages.reads() == 5);
  CHECK(pages.get<std::uint32_t>(std::uint64_t{5000} * 4).value() == 0);
  CHECK(pages.get<std::uint32_t>(std::uint64_t{1} << 22).value() == 0);
  REQUIRE(pages.get<std::uint32_t>(0).value() == 0);
  CHECK(pages.reads() == 5);  // all of them are still there
}
