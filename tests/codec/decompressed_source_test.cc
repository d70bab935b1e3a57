#include "codec/decompressed_source.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "codec/gzip_codec.h"
#include "codec/zstd_codec.h"
#include "support/test_bytes.h"

using stackpack::ErrorCode;
using stackpack::test::TestBytes;

namespace codec = stackpack::codec;
namespace io = stackpack::io;

namespace {

using Bytes = std::vector<std::byte>;

Bytes content_of(std::uint32_t words) {
  TestBytes content;
  for (std::uint32_t i = 0; i < words; ++i) {
    content.u32(i * 2654435761U);
  }
  return content.bytes;
}

Bytes gzipped(const Bytes& content) {
  codec::GzipCompressor compressor;
  Bytes packed;
  compressor.append(content, packed);
  compressor.finish(packed);
  return packed;
}

Bytes zstd_of(const Bytes& content) {
  codec::ZstdCompressor compressor(3);
  Bytes packed;
  REQUIRE(compressor.compress(content, packed).has_value());
  return packed;
}

struct Unpacked {
  Bytes content;
  codec::StreamDamage damage;
  bool failed = false;
  ErrorCode code = ErrorCode::kIo;
};

Unpacked unpack(const Bytes& packed, codec::FileCompression compression,
                std::size_t step = 70'000) {
  Unpacked result;
  const auto source =
      codec::decompressed_source(io::source_of_memory(packed), compression, result.damage);
  CHECK_FALSE(source->seekable());
  Bytes piece(step);
  while (true) {
    const auto count = source->read(piece);
    if (!count) {
      result.failed = true;
      result.code = count.error().code;
      return result;
    }
    if (*count == 0) {
      return result;
    }
    result.content.insert(result.content.end(), piece.begin(),
                          piece.begin() + static_cast<std::ptrdiff_t>(*count));
  }
}

}  // namespace

TEST_CASE(
    "decompressed source: gzip and zstd give their content, over several members and frames") {
  const Bytes content = content_of(300'000);
  Bytes twice = content;
  twice.insert(twice.end(), content.begin(), content.end());
  for (const auto& [packed, compression] :
       {std::pair(gzipped(content), codec::FileCompression::kGzip),
        std::pair(zstd_of(content), codec::FileCompression::kZstd)}) {
    CHECK(codec::compression_of(packed) == compression);
    for (const std::size_t step : {std::size_t{1000}, std::size_t{1} << 20}) {
      const Unpacked once = unpack(packed, compression, step);
      CHECK(once.content == content);
      CHECK_FALSE(once.damage.error.has_value());
    }
    Bytes both = packed;
    both.insert(both.end(), packed.begin(), packed.end());
    const Unpacked second = unpack(both, compression);
    CHECK(second.content == twice);
    CHECK_FALSE(second.damage.error.has_value());
    const auto head = codec::decompressed_head(std::span(packed).first(3000), compression, 500);
    REQUIRE(head);
    REQUIRE(head->size() == 500);
    CHECK(std::equal(head->begin(), head->end(), content.begin()));
  }
}

TEST_CASE("decompressed source: a stream that is cut gives what came before, and says so") {
  const Bytes content = content_of(100'000);
  for (const auto& [packed, compression] :
       {std::pair(gzipped(content), codec::FileCompression::kGzip),
        std::pair(zstd_of(content), codec::FileCompression::kZstd)}) {
    for (const std::size_t left : {std::size_t{5}, packed.size() / 2, packed.size() - 1}) {
      CAPTURE(left);
      const Bytes cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(left));
      const Unpacked part = unpack(cut, compression);
      REQUIRE(part.damage.error.has_value());
      CHECK(part.damage.error->code == ErrorCode::kTruncated);
      CHECK(part.damage.error->offset == left);
      CHECK(part.content.size() <= content.size());
      CHECK(std::equal(part.content.begin(), part.content.end(), content.begin()));
      CHECK((left < 10 || !part.content.empty()));
    }
    Bytes bad = packed;
    bad.resize(packed.size() / 2);
    bad.insert(bad.end(), 5000, std::byte{0xAA});
    CHECK(unpack(bad, compression).damage.error.has_value());
  }
}

TEST_CASE("decompressed source: what grows beyond all measure is refused, and not before") {
  static_assert(!codec::grows_too_much(codec::kFreeGrowth, 0));
  static_assert(!codec::grows_too_much(codec::kFreeGrowth + 256 * 1000, 1000));
  static_assert(codec::grows_too_much(codec::kFreeGrowth + 256 * 1001, 1000));
  const Bytes zeros(std::size_t{96} << 20);
  const Unpacked bomb = unpack(zstd_of(zeros), codec::FileCompression::kZstd, std::size_t{4} << 20);
  CHECK(bomb.failed);
  CHECK(bomb.code == ErrorCode::kLimit);
  CHECK(bomb.content.size() < zeros.size());
  const Bytes fewer(std::size_t{16} << 20);
  CHECK(
      unpack(zstd_of(fewer), codec::FileCompression::kZstd, std::size_t{4} << 20).content.size() ==
      fewer.size());
}

TEST_CASE("decompressed source: other files are not taken for compressed ones") {
  CHECK(codec::compression_of({}) == codec::FileCompression::kNone);
  CHECK(codec::compression_of(TestBytes().text("PERFILE2").bytes) == codec::FileCompression::kNone);
  CHECK(codec::compression_of(TestBytes().u32(0x184D2A50).zeros(8).bytes) ==
        codec::FileCompression::kNone);  // a skippable frame: a .spk file begins so
  CHECK(codec::compression_of(TestBytes().u8(0xFD).text("7zXZ").u8(0).bytes) ==
        codec::FileCompression::kXz);
}
