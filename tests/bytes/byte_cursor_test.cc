#include "bytes/byte_cursor.h"

#include <vector>

#include <doctest/doctest.h>

#include "bytes/byte_writer.h"
#include "support/test_bytes.h"

using stackpack::ErrorCode;
using stackpack::bytes::ByteCursor;
using stackpack::bytes::ByteOrder;
using stackpack::test::TestBytes;

TEST_CASE("byte cursor: fields of either byte order") {
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    TestBytes file(order);
    file.u8(1).u16(0x0203).u32(0x04050607).u64(0x08090a0b0c0d0e0f).u64(7).u64(8);
    ByteCursor in(file.bytes, 100, order);
    CHECK(in.read<std::uint8_t>() == 1);
    CHECK(in.read<std::uint16_t>() == 0x0203);
    CHECK(in.read<std::uint32_t>() == 0x04050607);
    CHECK(in.read<std::uint64_t>() == 0x08090a0b0c0d0e0f);
    std::vector<std::uint64_t> words;
    in.read_u64_array(2, words);
    CHECK(words == std::vector<std::uint64_t>{7, 8});
    CHECK(in.ok());
    CHECK(in.remaining() == 0);
    CHECK(in.offset() == 100 + 31);
  }
}

TEST_CASE("byte cursor: a read past the end fails for good and consumes nothing") {
  const TestBytes file = TestBytes().u32(5).u16(6);
  ByteCursor in(file.bytes, 0);
  CHECK(in.read<std::uint32_t>() == 5);
  CHECK(in.read<std::uint32_t>() == 0);
  CHECK_FALSE(in.ok());
  CHECK(in.read<std::uint16_t>() == 0);
  CHECK(in.truncated("x").offset == 4);
  CHECK(in.truncated("x").code == ErrorCode::kTruncated);
}

TEST_CASE("byte cursor: an impossible count fails before memory is reserved") {
  const TestBytes file = TestBytes().u64(1);
  ByteCursor in(file.bytes, 0);
  std::vector<std::uint64_t> words;
  in.read_u64_array(~std::uint64_t{0}, words);
  CHECK_FALSE(in.ok());
  CHECK(words.capacity() == 0);
}

TEST_CASE("byte cursor: a part cannot read its neighbour") {
  const TestBytes file = TestBytes().u32(1).u32(2).u32(3);
  ByteCursor in(file.bytes, 10);
  ByteCursor part = in.sub(8);
  CHECK(part.read<std::uint64_t>() == 0x200000001);
  CHECK(part.read<std::uint8_t>() == 0);
  CHECK_FALSE(part.ok());
  CHECK(in.ok());
  CHECK(in.read<std::uint32_t>() == 3);
  CHECK_FALSE(in.sub(1).ok());
}

TEST_CASE("byte cursor: text ends at NUL or at the end of the window") {
  const TestBytes file = TestBytes().text("ab").u8(0).text("cd");
  ByteCursor in(file.bytes, 0);
  CHECK(in.read_c_string() == "ab");
  CHECK(in.read_c_string() == "cd");
  CHECK(in.read_c_string().empty());
  CHECK(in.ok());
}

TEST_CASE("zigzag: small magnitudes give small codes and come back") {
  using stackpack::bytes::zigzag_decode;
  using stackpack::bytes::zigzag_encode;
  CHECK(zigzag_encode(0) == 0);
  CHECK(zigzag_encode(-1) == 1);
  CHECK(zigzag_encode(1) == 2);
  for (const std::int64_t value : {INT64_MIN, std::int64_t{-5}, std::int64_t{9}, INT64_MAX}) {
    CHECK(zigzag_decode(zigzag_encode(value)) == value);
  }
}
