#include "core/bit_array.h"

#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::core {
namespace {

using Numbers = std::vector<std::uint64_t>;

TEST_CASE("bits: fields of every width at every position") {
  std::mt19937_64 random(5);
  for (unsigned width = 0; width <= 64; ++width) {
    Numbers words(words_for_bits(40 * std::size_t{width} + 7));
    Numbers fields;
    BitAppender appender{std::span(words)};
    for (std::size_t i = 0; i < 40; ++i) {
      fields.push_back(random() & low_bits(width));
      if (width <= kShortBits) {
        appender.append(fields.back(), width);
      } else {
        write_bits(words, i * width, width, fields.back());
      }
    }
    if (width <= kShortBits) {
      appender.finish();
    }
    for (std::size_t i = 0; i < 40; ++i) {
      CHECK(read_bits(words, i * width, width) == fields[i]);
      if (width <= kShortBits) {
        CHECK(read_short_bits(std::as_bytes(std::span(words)), i * width, low_bits(width)) ==
              fields[i]);
      }
    }
  }
  CHECK(count_bits(0xF0F0'0000'0000'0001) == 9);
  for (unsigned rank = 0; rank < 64; ++rank) {
    CHECK(select_bit(~std::uint64_t{0}, rank) == rank);
  }
}

}  // namespace
}  // namespace stackpack::core
