#include "dag/frame_word.h"

#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "dag/distinct_estimate.h"

namespace stackpack::dag {
namespace {

std::vector<Frame> frames_of_every_kind() {
  std::vector<Frame> frames;
  for (unsigned mode = 0; mode < kFrameModeCount; ++mode) {
    for (std::uint64_t nibble = 0; nibble < 16; ++nibble) {
      for (const std::uint64_t low : {std::uint64_t{0}, std::uint64_t{1},
                                      std::uint64_t{0x7fff'1234}, (std::uint64_t{1} << 60) - 1}) {
        frames.push_back({static_cast<FrameMode>(mode), nibble << 60 | low});
      }
    }
  }
  return frames;
}

TEST_SUITE("dag frame word") {
  TEST_CASE("a word gives its frame, and different frames have different words") {
    EscapeTable escapes;
    std::set<FrameWord> words;
    for (const Frame& frame : frames_of_every_kind()) {
      FrameWord found = 0;
      const bool canonical = frame.address >> 60 == 0 || frame.address >> 60 == 15;
      CHECK(find_word(escapes, frame, found) == canonical);
      while (escapes.full()) {
        escapes.grow();
      }
      const FrameWord word = make_word(escapes, frame);
      CHECK(frame_of(escapes, word) == frame);
      CHECK(words.insert(word).second);
      CHECK(word != kRootWord);
      REQUIRE(find_word(escapes, frame, found));
      CHECK(found == word);
    }
    CHECK(escapes.size() == std::size_t{14} * kFrameModeCount * 4);
  }

  TEST_CASE("an escape table keeps its frames while it grows, and counts its memory") {
    EscapeTable escapes;
    CHECK(escapes.memory_bytes() == 0);
    CHECK(escapes.find({FrameMode::kUser, 0x1000'0000'0000'0000}) == EscapeTable::kNone);
    const auto frame = [](std::uint64_t i) {
      return Frame{FrameMode::kUser, 0x5000'0000'0000'0000 + i * 8};
    };
    for (std::uint64_t i = 0; i < 3000; ++i) {
      if (escapes.full()) {
        const std::uint64_t peak = escapes.growth_peak_bytes();
        escapes.grow();
        REQUIRE(escapes.memory_bytes() <= peak);
      }
      REQUIRE(escapes.intern(frame(i)) == i);
    }
    for (std::uint64_t i = 0; i < 3000; ++i) {
      REQUIRE(escapes.find(frame(i)) == i);
      REQUIRE(escapes.at(i) == frame(i));
    }
    CHECK(escapes.memory_bytes() >= 3000 * 13);
  }

  TEST_CASE("the estimate of distinct frames is not below the truth, nor far above") {
    for (const std::uint64_t distinct : {1U, 10U, 500U, 3000U, 20'000U, 300'000U}) {
      CAPTURE(distinct);
      DistinctEstimate estimate;
      for (std::uint64_t i = 0; i < 2 * distinct; ++i) {
        estimate.add((i % distinct) * 16 + 0x7f00'1234'0000);
      }
      CHECK(estimate.estimate(2 * distinct) >= distinct);
      CHECK(estimate.estimate(2 * distinct) <= distinct * 5 / 4 + 20);
      CHECK(estimate.estimate(distinct / 2) <= distinct / 2);
    }
  }
}

}  // namespace
}  // namespace stackpack::dag
