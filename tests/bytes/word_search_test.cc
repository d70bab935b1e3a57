#include "bytes/word_search.h"

#include <cstring>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace {

constexpr std::uint32_t kMask = 0xFF000000;
constexpr std::uint32_t kValue = 0xC0000000;

bool has_word(const std::vector<std::byte>& bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return (word & kMask) == kValue;
}

}  // namespace

TEST_CASE("words are found where they are, and nowhere before") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 4'000; ++round) {
    const std::size_t size = random() % 300;
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(random() % 64);
    }
    if (size > 8 && round % 3 != 0) {  // in a low half, or in a high one, which is no such word
      bytes[random() % (size / 8) * 8 + (round % 3 == 1 ? 3 : 7)] = std::byte{0xC0};
    }
    const std::size_t from = size == 0 ? 0 : random() % (size / 8 + 1) * 8;
    std::size_t expected = from;
    while (expected + 8 <= size && !has_word(bytes, expected)) {
      expected += 8;
    }
    expected = expected + 8 <= size ? expected : size;
    CHECK(stackpack::bytes::find_word(bytes, from, kMask, kValue) == expected);
    const std::size_t without = stackpack::bytes::bytes_without_word(bytes, from, kMask, kValue);
    CHECK(without % stackpack::bytes::kVectorBytes == 0);
    CHECK(from + without <= expected);
    const bool none = expected == size && round % 3 != 2;
    CHECK((!none || size - from - without < stackpack::bytes::kVectorBytes));
    const bool clean = stackpack::bytes::has_no_word(bytes, from, kMask, kValue);
    CHECK((!clean || expected == size));
    const bool whole = size % 4 == 0 && size - from >= stackpack::bytes::kVectorBytes;
    CHECK((clean || !none || !whole));
  }
}
