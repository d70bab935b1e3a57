#include "codec/zip_archive.h"

#include <vector>

#include <doctest/doctest.h>
#include <zlib.h>

#include "codec/gzip_codec.h"
#include "support/failing_source.h"
#include "support/test_bytes.h"

using stackpack::ErrorCode;
using stackpack::codec::ZipArchive;
using stackpack::io::source_of_memory;
using stackpack::test::TestBytes;

namespace {

std::uint32_t crc_of(std::span<const std::byte> content) {
  return static_cast<std::uint32_t>(
      crc32(0, static_cast<const Bytef*>(static_cast<const void*>(content.data())),
            static_cast<uInt>(content.size())));
}

// An archive with one member, `stored` as it is in the archive by `method`, which the directory
// lists `times` times.
TestBytes zip_of(std::string_view name, std::span<const std::byte> content, std::uint16_t method,
                 std::uint32_t crc, std::uint32_t claimed_size, std::uint16_t times = 1) {
  const auto stored = static_cast<std::uint32_t>(content.size());
  const auto name_size = static_cast<std::uint16_t>(name.size());
  TestBytes zip;
  const auto common = [&] {
    zip.u16(20).u16(0).u16(method).u16(0).u16(0x21).u32(crc).u32(stored).u32(claimed_size);
    zip.u16(name_size).u16(0);
  };
  zip.u32(0x04034b50);
  common();
  zip.text(name).append(content);
  const auto directory = static_cast<std::uint32_t>(zip.bytes.size());
  for (std::uint16_t i = 0; i < times; ++i) {
    zip.u32(0x02014b50).u16(20);
    common();
    zip.u16(0).u16(0).u16(0).u32(0).u32(0).text(name);
  }
  const auto directory_size = static_cast<std::uint32_t>(zip.bytes.size()) - directory;
  zip.u32(0x06054b50).u16(0).u16(0).u16(times).u16(times).u32(directory_size).u32(directory).u16(0);
  return zip;
}

// Stored, that is, not compressed.
TestBytes stored_zip(std::string_view name, std::span<const std::byte> content,
                     std::uint32_t claimed_size, std::uint16_t times = 1) {
  return zip_of(name, content, 0, crc_of(content), claimed_size, times);
}

TestBytes deflated_zip(std::string_view name, std::span<const std::byte> content,
                       std::uint32_t claimed_size) {
  stackpack::codec::GzipCompressor compressor(9);
  std::vector<std::byte> packed;
  compressor.append(content, packed);
  compressor.finish(packed);
  constexpr std::size_t kGzipHeader = 10;  // and 8 bytes at the end
  const auto deflated = std::span(packed).subspan(kGzipHeader, packed.size() - kGzipHeader - 8);
  return zip_of(name, deflated, 8, crc_of(content), claimed_size);
}

}  // namespace

TEST_CASE("zip archive: a member comes out as a seekable source") {
  const TestBytes content = TestBytes().text("trace bytes").zeros(5000);
  const TestBytes zip =
      stored_zip("a/trace.etl", content.bytes, static_cast<std::uint32_t>(content.bytes.size()));
  CHECK(ZipArchive::looks_like_zip(zip.bytes));
  const auto source = source_of_memory(zip.bytes);
  const auto archive = ZipArchive::open(*source);
  REQUIRE(archive.has_value());
  REQUIRE((*archive)->members().size() == 1);
  CHECK((*archive)->members()[0].name == "a/trace.etl");
  const auto member = (*archive)->extract(0, "/tmp", 1 << 20);
  REQUIRE(member.has_value());
  std::vector<std::byte> back(content.bytes.size());
  CHECK((*member)->size() == content.bytes.size());
  CHECK((*member)->read_at(0, back).value() == back.size());
  CHECK(back == content.bytes);
}

TEST_CASE("zip archive: limits, lies and damage are errors") {
  const TestBytes content = TestBytes().text("trace bytes");
  const auto size = static_cast<std::uint32_t>(content.bytes.size());
  const TestBytes good = stored_zip("t", content.bytes, size);
  {
    const auto source = source_of_memory(good.bytes);
    const auto archive = ZipArchive::open(*source);
    REQUIRE(archive.has_value());
    const auto refused = (*archive)->extract(0, "/tmp", size - 1);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::kLimit);
  }
  {
    const TestBytes bomb = stored_zip("t", content.bytes, 0xF0000000);
    const auto source = source_of_memory(bomb.bytes);
    const auto archive = ZipArchive::open(*source);
    if (archive.has_value()) {
      CHECK_FALSE((*archive)->extract(0, "/tmp", ~std::uint64_t{0}).has_value());
    }
  }
  for (std::size_t cut = 1; cut < good.bytes.size(); ++cut) {
    CAPTURE(cut);
    const auto source = source_of_memory(std::span(good.bytes).first(cut));
    CHECK_FALSE(ZipArchive::open(*source).has_value());
  }
  for (std::size_t at = 0; at < good.bytes.size(); ++at) {
    for (const unsigned flip : {1U, 0x80U, 0xFFU}) {
      CAPTURE(at);
      TestBytes bad = good;
      bad.bytes[at] ^= static_cast<std::byte>(flip);
      const auto source = source_of_memory(bad.bytes);
      const auto archive = ZipArchive::open(*source);
      if (!archive || (*archive)->members().size() != 1) {
        continue;
      }
      const auto member = (*archive)->extract(0, "/tmp", 1 << 20);
      std::vector<std::byte> back(content.bytes.size());
      if (member) {  // a byte that does not matter: the member is what it was
        CHECK((*member)->size() == back.size());
        CHECK((*member)->read_at(0, back).value() == back.size());
        CHECK(back == content.bytes);
      }
    }
  }
  TestBytes flipped = good;
  flipped.bytes[32] ^= std::byte{1};  // in the content
  const auto source = source_of_memory(flipped.bytes);
  const auto archive = ZipArchive::open(*source);
  REQUIRE(archive.has_value());
  CHECK_FALSE((*archive)->extract(0, "/tmp", 1 << 20).has_value());
}

TEST_CASE(
    "zip archive: a member whose size is not the one it claims is damage, and not unpacked on") {
  const TestBytes content = TestBytes().text("trace bytes").zeros(3 << 20);
  const auto size = static_cast<std::uint32_t>(content.bytes.size());
  for (const std::uint32_t claimed : {0U, 1U, 100U, size - 1, size + 1, 2 * size}) {
    CAPTURE(claimed);
    const TestBytes liar = stored_zip("t.etl", content.bytes, claimed);
    const auto source = source_of_memory(liar.bytes);
    const auto archive = ZipArchive::open(*source);
    REQUIRE(archive.has_value());
    const auto member = (*archive)->extract(0, "/tmp", 1 << 30);
    REQUIRE_FALSE(member.has_value());
    CHECK(member.error().code == ErrorCode::kCorrupt);
  }
  // A deflated member: the archive does not say that it grows to 3 MiB, but to 100 bytes.
  const TestBytes liar = deflated_zip("t.etl", content.bytes, 100);
  const auto source = source_of_memory(liar.bytes);
  const auto archive = ZipArchive::open(*source);
  REQUIRE(archive.has_value());
  const auto member = (*archive)->extract(0, "/tmp", 1 << 30);
  REQUIRE_FALSE(member.has_value());
  CHECK(member.error().what == "zip: member does not have the size that it claims");
}

TEST_CASE("zip archive: the head of a member is read without the rest") {
  const TestBytes content = TestBytes().text("trace bytes").zeros(3 << 20);
  const auto size = static_cast<std::uint32_t>(content.bytes.size());
  const TestBytes zip = deflated_zip("t.etl", content.bytes, size);
  const auto source = source_of_memory(zip.bytes);
  const auto archive = ZipArchive::open(*source);
  REQUIRE(archive.has_value());
  const auto head = (*archive)->read_head(0, 11);
  REQUIRE(head.has_value());
  CHECK(*head == TestBytes().text("trace bytes").bytes);
  CHECK((*archive)->read_head(0, content.bytes.size() + 5).value() == content.bytes);
}

TEST_CASE("zip archive: what would grow beyond all measure is refused before it is unpacked") {
  const TestBytes zeros = TestBytes().zeros(std::size_t{100} << 20);
  const auto size = static_cast<std::uint32_t>(zeros.bytes.size());
  const TestBytes bomb = deflated_zip("t.etl", zeros.bytes, size);
  const auto source = source_of_memory(bomb.bytes);
  const auto archive = ZipArchive::open(*source);
  REQUIRE(archive.has_value());
  const auto member = (*archive)->extract(0, "/nowhere", 1 << 30);
  REQUIRE_FALSE(member.has_value());
  CHECK(member.error().code == ErrorCode::kLimit);
}

TEST_CASE("zip archive: members that share bytes are refused") {
  const TestBytes content = TestBytes().text("trace bytes").zeros(5000);
  const auto size = static_cast<std::uint32_t>(content.bytes.size());
  const TestBytes twice = stored_zip("t.etl", content.bytes, size, 2);
  const auto source = source_of_memory(twice.bytes);
  const auto archive = ZipArchive::open(*source);
  REQUIRE_FALSE(archive.has_value());
  CHECK(archive.error().what == "zip: members overlap");
}

TEST_CASE("zip archive: an error of any read is that error, not damage") {
  const TestBytes content = TestBytes().text("trace bytes").zeros(50'000);
  const TestBytes zip =
      stored_zip("t.etl", content.bytes, static_cast<std::uint32_t>(content.bytes.size()));
  bool whole = false;
  std::uint64_t at_open = 0;
  std::uint64_t at_extract = 0;
  for (std::uint64_t fail_at = 0; !whole; ++fail_at) {
    REQUIRE(fail_at < 1000);
    CAPTURE(fail_at);
    stackpack::test::FailingSource source(zip.bytes, fail_at);
    const auto archive = ZipArchive::open(source);
    if (!archive) {
      CHECK(archive.error().code == ErrorCode::kIo);
      CHECK(archive.error().os_error == EIO);
      ++at_open;
      continue;
    }
    const auto member = (*archive)->extract(0, "/tmp", 1 << 20);
    whole = member.has_value();
    if (!whole) {
      CHECK(member.error().code == ErrorCode::kIo);
      CHECK(member.error().os_error == EIO);
      ++at_extract;
    }
  }
  CHECK(at_open > 0);
  CHECK(at_extract > 0);

  stackpack::test::FailingSource pipe(zip.bytes, 99, /*seekable=*/false);
  CHECK(ZipArchive::open(pipe).error().code == ErrorCode::kUnsupported);
}
