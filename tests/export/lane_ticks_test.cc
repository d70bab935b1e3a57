#include <doctest/doctest.h>

#include "export/html/lane_reading.h"

using namespace stackpack::exporting;

TEST_CASE("lanes: times are exact where there is room, and coarser where there is none") {
  LaneTicks few;
  for (int i = 0; i < 1000; ++i) {
    few.add(1'000'000);
  }
  CHECK(few.choose(1'000'000'000) == 1);
  // Fewer than 2^31 ticks, however few intervals.
  CHECK(few.choose(3'000'000'000) == 2);
  CHECK(few.choose(60'000'000'000) == 50);

  // 19 bits below the first one; there is room for 7 of them.
  LaneTicks many;
  for (std::uint64_t i = 0; i < LaneTicks::kMostBits / 7; ++i) {
    many.add(1'000'000);
  }
  CHECK(many.choose(1'000'000'000) == 5000);
  CHECK(LaneTicks().choose(0) == 1);
}

TEST_CASE("lanes: a time is the nearest tick") {
  CHECK(ticks_of(0, 10) == 0);
  CHECK(ticks_of(4, 10) == 0);
  CHECK(ticks_of(5, 10) == 1);
  CHECK(ticks_of(14, 10) == 1);
  CHECK(ticks_of(7, 1) == 7);
  CHECK(ticks_of(~std::uint64_t{0}, 2) == std::uint64_t{1} << 63);
}
