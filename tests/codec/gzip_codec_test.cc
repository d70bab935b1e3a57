#include "codec/gzip_codec.h"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "support/test_bytes.h"

using stackpack::ErrorCode;
using stackpack::codec::GzipCompressor;
using stackpack::codec::GzipDecompressor;
using stackpack::test::TestBytes;

namespace {

std::vector<std::byte> repeating_content() {
  TestBytes content;
  for (std::uint32_t i = 0; i < 30'000; ++i) {
    content.u32(i / 7);
  }
  return content.bytes;
}

std::vector<std::byte> compressed(std::span<const std::byte> content, std::size_t step) {
  GzipCompressor compressor;
  std::vector<std::byte> output;
  for (std::size_t at = 0; at < content.size(); at += step) {
    compressor.append(content.subspan(at, std::min(step, content.size() - at)), output);
  }
  compressor.finish(output);
  return output;
}

}  // namespace

TEST_CASE("gzip: the bytes depend on the content alone, and the header has no time") {
  const std::vector<std::byte> content = repeating_content();
  const std::vector<std::byte> whole = compressed(content, content.size());
  CHECK(whole == compressed(content, 97));
  REQUIRE(whole.size() > 18);
  CHECK(stackpack::codec::looks_like_gzip(whole));
  for (std::size_t i = 3; i < 8; ++i) {  // flags, time
    CHECK(whole[i] == std::byte{0});
  }
}

TEST_CASE("gzip: any split of input and room gives the content back, over two members") {
  const std::vector<std::byte> content = repeating_content();
  std::vector<std::byte> file = compressed(content, content.size());
  const std::vector<std::byte> second = file;
  file.insert(file.end(), second.begin(), second.end());
  std::vector<std::byte> twice = content;
  twice.insert(twice.end(), content.begin(), content.end());
  for (const std::size_t step : {std::size_t{1}, std::size_t{100}, file.size()}) {
    CAPTURE(step);
    GzipDecompressor decompressor;
    std::vector<std::byte> back;
    for (std::size_t at = 0; at < file.size(); at += step) {
      std::span<const std::byte> input =
          std::span(file).subspan(at, std::min(step, file.size() - at));
      std::size_t count = 0;
      do {
        const auto decoded = decompressor.decode(input, 1000, back);
        REQUIRE(decoded.has_value());
        count = *decoded;
      } while (count == 1000 || !input.empty());
    }
    CHECK(back == twice);
    CHECK(decompressor.at_member_end());
  }
}

TEST_CASE("gzip: a cut stream is not at its end, a damaged one is an error") {
  const std::vector<std::byte> content = repeating_content();
  std::vector<std::byte> file = compressed(content, content.size());
  GzipDecompressor cut;
  std::vector<std::byte> back;
  std::span<const std::byte> input = std::span(file).first(file.size() - 1);
  CHECK(cut.decode(input, content.size() + 10, back).has_value());
  CHECK_FALSE(cut.at_member_end());

  file[file.size() - 6] ^= std::byte{1};  // the checksum
  GzipDecompressor damaged;
  back.clear();
  input = file;
  const auto result = damaged.decode(input, content.size() + 10, back);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == ErrorCode::kCorrupt);
}
