#include "codec/zstd_codec.h"

#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "support/test_bytes.h"

using stackpack::ErrorCode;
using stackpack::codec::ZstdCompressor;
using stackpack::codec::ZstdDecompressor;
using stackpack::codec::ZstdStream;
using stackpack::test::TestBytes;

namespace {

std::vector<std::byte> sample_content() {
  TestBytes content;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    content.u32(i / 3);
  }
  return content.bytes;
}

}  // namespace

TEST_CASE("zstd: a frame comes back, and only at its own size") {
  const std::vector<std::byte> content = sample_content();
  ZstdCompressor compressor(9);
  std::vector<std::byte> frame;
  REQUIRE(compressor.compress(content, frame).has_value());
  CHECK(frame.size() < content.size() / 4);
  ZstdDecompressor decompressor;
  std::vector<std::byte> back(content.size());
  CHECK(decompressor.decompress(frame, back).has_value());
  CHECK(back == content);
  back.resize(content.size() - 1);
  CHECK_FALSE(decompressor.decompress(frame, back).has_value());
  back.resize(content.size() + 1);
  CHECK_FALSE(decompressor.decompress(frame, back).has_value());
  frame.resize(frame.size() / 2);
  back.resize(content.size());
  CHECK_FALSE(decompressor.decompress(frame, back).has_value());
}

TEST_CASE("zstd stream: any split of input and room gives the same bytes") {
  const std::vector<std::byte> content = sample_content();
  ZstdCompressor compressor(3);
  std::vector<std::byte> frame;
  REQUIRE(compressor.compress(content, frame).has_value());
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, frame.size()}) {
    CAPTURE(step);
    ZstdStream stream;
    std::vector<std::byte> back;
    for (std::size_t at = 0; at < frame.size(); at += step) {
      std::span<const std::byte> input =
          std::span(frame).subspan(at, std::min(step, frame.size() - at));
      while (true) {
        const auto count = stream.decode(input, 777, back);
        REQUIRE(count.has_value());
        if (input.empty() && *count < 777) {
          break;
        }
      }
    }
    CHECK(back == content);
  }
}

TEST_CASE("zstd stream: garbage is an error") {
  ZstdStream stream;
  const TestBytes garbage = TestBytes().u64(0x0123456789abcdef).u64(0);
  std::span<const std::byte> input = garbage.bytes;
  std::vector<std::byte> back;
  const auto count = stream.decode(input, 100, back);
  REQUIRE_FALSE(count.has_value());
  CHECK(count.error().code == ErrorCode::kCorrupt);
}

TEST_CASE("skippable frame: magic, size, content") {
  std::vector<std::byte> out;
  stackpack::codec::append_skippable_frame(3, TestBytes().u16(0xabcd).bytes, out);
  CHECK(out == TestBytes().u32(0x184D2A53).u32(2).u16(0xabcd).bytes);
}

TEST_CASE("zstd: what is stored is a frame of its content and little more") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 17,
                                 (std::size_t{1} << 17) + 1, std::size_t{1} << 20}) {
    CAPTURE(size);
    const std::vector<std::byte> content(size, std::byte{'x'});
    const std::size_t middle = size / 3;
    const std::span<const std::byte> parts[] = {std::span(content).first(middle),
                                                std::span(content).subspan(middle)};
    std::vector<std::byte> frame;
    stackpack::codec::store_parts(parts, frame);
    CHECK(frame.size() >= size + 12);
    CHECK(frame.size() <= size + 12 + 3 * (size >> 17));
    std::vector<std::byte> back(size);
    CHECK(ZstdDecompressor().decompress(frame, back).has_value());
    CHECK(back == content);
  }
}
