#include "spk/format/column_codec.h"

#include <vector>

#include <doctest/doctest.h>

#include "core/bit_array.h"
#include "spk/format/layout.h"
#include "support/random_stacks.h"

namespace stackpack::spk {
namespace {

using Values = std::vector<std::uint64_t>;

std::vector<std::byte> bytes_of(BlockContent& content) {
  const auto bytes = content.bytes().bytes();
  return {bytes.begin(), bytes.end()};
}

Values read_back(std::span<const std::byte> bytes, std::size_t count) {
  bytes::ByteCursor in(bytes, 0);
  Values values;
  read_column(in, count, values);
  CHECK(in.ok());
  CHECK(in.remaining() == 0);
  return values;
}

bool reads(std::initializer_list<int> bytes, std::size_t count) {
  std::vector<std::byte> content;
  for (const int byte : bytes) {
    content.push_back(static_cast<std::byte>(byte));
  }
  bytes::ByteCursor in(content, 0);
  Values values;
  read_column(in, count, values);
  return in.ok();
}

TEST_SUITE("spk column codec") {
  TEST_CASE("column: values of every width come back in both forms") {
    test::Random random(3);
    for (unsigned width = 0; width <= 64; ++width) {
      for (const std::size_t count : {0U, 1U, 2U, 100U, 3'000U}) {
        CAPTURE(width);
        CAPTURE(count);
        Values values(count);
        for (std::uint64_t& value : values) {
          value = random.next() &
                  core::low_bits(width == 0 ? 0 : static_cast<unsigned>(random.below(width)) + 1);
        }
        BlockContent planes;
        write_column(values, planes);
        CHECK(read_back(bytes_of(planes), count) == values);
        BlockContent numbers;
        write_numbers(values, numbers);
        CHECK(read_back(bytes_of(numbers), count) == values);
      }
    }
  }

  TEST_CASE("column: a constant costs nothing per value") {
    BlockContent content;
    write_column(Values(65'536, 300), content);
    CHECK(content.size() == 4);
    BlockContent mixed;  // only the lowest byte varies
    Values values(1'000, 0x1234'5600);
    values[7] = 0x1234'5601;
    write_column(values, mixed);
    CHECK(mixed.size() == 2 + 5 + 1'000);
  }

  TEST_CASE("column: buckets are chosen where planes mix, and take what was estimated") {
    test::Random random(4);
    Values values;
    for (int i = 0; i < 20'000; ++i) {
      values.push_back(random.next() & core::low_bits(static_cast<unsigned>(random.below(18))));
    }
    BlockContent content;
    write_numbers(values, content);
    CHECK(std::to_integer<unsigned>(bytes_of(content)[0]) >= kBucketColumn);
    CHECK(read_back(bytes_of(content), values.size()) == values);
  }

  TEST_CASE("column: every prefix is refused") {
    Values values{1, 300, 70'000, 5};
    BlockContent content;
    write_column(values, content);
    const std::vector<std::byte> bytes = bytes_of(content);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CAPTURE(size);
      bytes::ByteCursor in{std::span(bytes).first(size), 0};
      read_column(in, values.size(), values);
      CHECK_FALSE(in.ok());
      CHECK(values.empty());
      values.resize(4);
    }
  }

  TEST_CASE("column: what contradicts itself is refused") {
    CHECK(reads({0, 0, 9}, 1'000));
    CHECK_FALSE(reads({1, 0, 9}, 1));                           // unknown form
    CHECK_FALSE(reads({0x18, 0}, 1));                           // more kept bits than there may be
    CHECK_FALSE(reads({0, 1, 9, 5}, 1));                        // constant in a stored plane
    CHECK(reads({0x10, 1}, 1));                                 // bucket 0: value 1
    CHECK(reads({0x10, 2, 1}, 1));                              // value 2 or 3: one bit
    CHECK_FALSE(reads({0x10, 2, 2}, 1));                        // a bit after the last
    CHECK_FALSE(reads({0x10, 65, 0, 0, 0, 0, 0, 0, 0, 0}, 1));  // more than 64 bits wide
    CHECK(reads({0x10, 64, 0, 0, 0, 0, 0, 0, 0, 0}, 1));
  }

  TEST_CASE("varint: the widest number, and one byte too many") {
    std::vector<std::byte> bytes(9, std::byte{0xFF});
    bytes.push_back(std::byte{1});
    bytes::ByteCursor in(bytes, 0);
    CHECK(read_varint(in) == ~std::uint64_t{0});
    CHECK(in.ok());
    bytes.back() = std::byte{2};
    bytes::ByteCursor wide(bytes, 0);
    read_varint(wide);
    CHECK_FALSE(wide.ok());
  }
}

}  // namespace
}  // namespace stackpack::spk
