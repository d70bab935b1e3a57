#include "spk/write/block_compressor.h"

#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "codec/zstd_codec.h"

namespace stackpack::spk {
namespace {

using Bytes = std::vector<std::byte>;

// Blocks of any size, the empty one among them, with cuts.
void fill(std::size_t number, BlockContent& content) {
  std::mt19937_64 random(number);
  for (std::size_t i = 0; i < number * 700 % 9000; ++i) {
    content.bytes().write(static_cast<std::uint8_t>(random() % 20));
    if (i % 3000 == 2999) {
      content.cut();
    }
  }
}

std::vector<Bytes> frames_of(std::size_t count, bool threaded) {
  std::vector<Bytes> frames;
  BlockCompressor compressor(3, threaded, [&](std::span<const std::byte> frame, std::uint32_t raw) {
    CHECK(raw == frames.size() * 700 % 9000);
    frames.emplace_back(frame.begin(), frame.end());
    return Status();
  });
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(compressor.filling().size() == 0);
    fill(i, compressor.filling());
    if (i + 1 < count) {
      REQUIRE(compressor.submit());
    }
  }
  REQUIRE(compressor.flush());
  return frames;
}

}  // namespace

TEST_CASE("block compressor: the same frames in the same order with and without a thread") {
  for (const std::size_t count : {0U, 1U, 2U, 4U, 5U, 60U}) {
    CAPTURE(count);
    const std::vector<Bytes> expected = frames_of(count, false);
    REQUIRE(expected.size() == (count == 1 ? 0 : count));  // the first one is empty
    CHECK(frames_of(count, true) == expected);
    codec::ZstdDecompressor zstd;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      BlockContent content;
      fill(i, content);
      Bytes decoded(content.size());
      REQUIRE(zstd.decompress(expected[i], decoded));
      const auto bytes = content.bytes().bytes();
      CHECK(decoded == Bytes(bytes.begin(), bytes.end()));
    }
  }
}

TEST_CASE("block compressor: an error of the one who writes comes back, and the thread ends") {
  for (const bool threaded : {false, true}) {
    CAPTURE(threaded);
    std::size_t writes = 0;
    BlockCompressor compressor(3, threaded, [&](std::span<const std::byte>, std::uint32_t) {
      return ++writes == 3 ? Status(Error{ErrorCode::kIo, 7, "full"}) : Status();
    });
    Status status;
    std::size_t submitted = 0;
    while (status) {
      REQUIRE(submitted < 50);
      fill(++submitted, compressor.filling());
      status = compressor.submit();
    }
    CHECK(status.error().code == ErrorCode::kIo);
    CHECK(writes == 3);
  }
}

}  // namespace stackpack::spk
