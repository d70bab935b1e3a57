// The section of fields of samples: what is written comes back, and what breaks a rule is refused.
#include <vector>

#include <doctest/doctest.h>

#include "spk/format/field_codec.h"
#include "spk/format/layout.h"
#include "support/random_stacks.h"

namespace stackpack::test {
namespace {

std::vector<FieldRow> random_fields(std::size_t count) {
  Random random(count);
  std::vector<FieldRow> rows;
  std::uint64_t sample = 0;
  for (std::size_t i = 0; i < count; ++i) {
    FieldRow row;
    sample += random.below(3);
    row.sample = sample++;
    row.set(SampleField::kAddress, 0x7f0000000000 + 8 * random.below(1'000'000));
    row.set(SampleField::kWeight, random.below(500));
    row.set(SampleField::kDataSource, 0x68100142 + (random.below(8) << 5));
    row.set(SampleField::kDataPageSize, 4096);
    if (random.below(2) == 0) {
      row.set(SampleField::kPhysicalAddress, random.below(~std::uint64_t{0}));
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<std::byte> encoded_fields(const std::vector<FieldRow>& rows) {
  spk::BlockContent content;
  spk::encode_fields(rows, content);
  std::vector<std::byte> bytes;
  for (const std::span<const std::byte> part : content.parts()) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

bool reads_fields(const std::vector<std::byte>& bytes, std::uint64_t samples) {
  std::vector<FieldRow> rows;
  return static_cast<bool>(spk::decode_fields(bytes::ByteCursor(bytes, 0), samples, rows));
}

TEST_SUITE("spk fields") {
  TEST_CASE("spk fields: rows come back as they were") {
    for (const std::size_t count : {1U, 2U, 100U, 16'384U}) {
      CAPTURE(count);
      const std::vector<FieldRow> wanted = random_fields(count);
      std::vector<FieldRow> found;
      REQUIRE(spk::decode_fields(bytes::ByteCursor(encoded_fields(wanted), 0),
                                 wanted.back().sample + 1, found));
      CHECK(found == wanted);
    }
  }

  TEST_CASE("spk fields: rows of samples that are not there are refused, and cut blocks") {
    const std::vector<FieldRow> rows = random_fields(500);
    const std::vector<std::byte> bytes = encoded_fields(rows);
    CHECK(reads_fields(bytes, rows.back().sample + 1));
    CHECK_FALSE(reads_fields(bytes, rows.back().sample));
    std::vector<std::byte> longer = bytes;
    longer.push_back(std::byte{0});
    CHECK_FALSE(reads_fields(longer, 1'000'000));
    for (std::size_t size = 0; size < bytes.size(); size += 41) {
      CHECK_FALSE(reads_fields({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)},
                               1'000'000));
    }
    CHECK_FALSE(reads_fields(encoded_fields({}), 1));
    CHECK_FALSE(
        reads_fields(encoded_fields(random_fields(spk::kFieldRowsPerBlock + 1)), 1'000'000));
  }

  TEST_CASE("spk fields: a field of a later version is passed over") {
    // One row of sample 4 with the fields 0 and 31, each in a list of one value.
    std::vector<std::byte> bytes;
    for (const unsigned byte : {1U, 4U, 0U,    0U,    0U,  // rows, sample, its column
                                0U, 0U, 0x81U, 0x80U, 0x80U, 0x80U, 0x08U,  // bits
                                2U, 1U, 7U,    0U,    0U,    0U,    2U,    1U, 9U, 0U, 0U, 0U}) {
      bytes.push_back(static_cast<std::byte>(byte));
    }
    std::vector<FieldRow> rows;
    REQUIRE(spk::decode_fields(bytes::ByteCursor(bytes, 0), 5, rows));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].sample == 4);
    CHECK(rows[0].present == 1);
    CHECK(rows[0].value(SampleField::kAddress) == 7);
    bytes[12] = std::byte{3};  // a form that there is not
    CHECK_FALSE(reads_fields(bytes, 5));
  }
}

}  // namespace
}  // namespace stackpack::test
