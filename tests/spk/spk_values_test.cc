// The sections of event values: what is written comes back, and what breaks a rule is refused.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "spk/format/layout.h"
#include "spk/format/value_codec.h"
#include "support/random_stacks.h"

namespace stackpack::test {
namespace {

const std::vector<ValueSchema> kKinds{
    {"first", {{"count", ValueType::kNumber}, {"what", ValueType::kText}}},
    {"empty", {}},
    {"third", {{"address", ValueType::kAddress}}}};

std::vector<EventValue> random_values(std::size_t count) {
  Random random(count);
  std::vector<EventValue> rows;
  std::uint64_t time = 1'000'000'000;
  for (std::size_t i = 0; i < count; ++i) {
    EventValue row;
    time += random.below(1000);
    row.time_ns = time;
    row.tid = random.below(5) == 0 ? kUnknownId : static_cast<std::uint32_t>(random.below(99));
    row.pid = static_cast<std::uint32_t>(random.below(3));
    row.kind = static_cast<std::uint32_t>(random.below(3));
    row.stack = random.below(3) == 0 ? kNoStack : static_cast<StackId>(random.below(40));
    if (row.kind == 0) {
      row.values = {random.below(2) == 0 ? kNoValue : random.below(~std::uint64_t{0}),
                    random.below(6)};
    } else if (row.kind == 2) {
      row.values = {random.below(1000)};
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<std::byte> bytes_of(const spk::BlockContent& content) {
  std::vector<std::byte> bytes;
  for (const std::span<const std::byte> part : content.parts()) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

std::vector<std::byte> encoded(const std::vector<EventValue>& rows) {
  spk::BlockContent content;
  spk::encode_values(rows, kKinds, content);
  return bytes_of(content);
}

bool reads(const std::vector<std::byte>& bytes, const spk::ValueBounds& bounds) {
  std::vector<EventValue> rows;
  return static_cast<bool>(spk::decode_values(bytes::ByteCursor(bytes, 0), bounds, rows));
}

TEST_SUITE("spk values") {
  TEST_CASE("spk values: rows come back as they were") {
    for (const std::size_t count : {1U, 100U, 16'384U}) {
      const std::vector<EventValue> wanted = random_values(count);
      const std::vector<std::byte> bytes = encoded(wanted);
      std::vector<EventValue> found;
      REQUIRE(spk::decode_values(bytes::ByteCursor(bytes, 0), {40, 6, kKinds}, found));
      CHECK(found == wanted);
    }
  }

  TEST_CASE("spk values: rows that name what is not there are refused, and cut blocks") {
    const std::vector<EventValue> rows = random_values(500);
    const std::vector<std::byte> bytes = encoded(rows);
    CHECK(reads(bytes, {40, 6, kKinds}));
    CHECK_FALSE(reads(bytes, {39, 6, kKinds}));
    CHECK_FALSE(reads(bytes, {40, 5, kKinds}));
    CHECK_FALSE(reads(bytes, {40, 6, std::span(kKinds).first(2)}));
    std::vector<std::byte> longer = bytes;
    longer.push_back(std::byte{0});
    CHECK_FALSE(reads(longer, {40, 6, kKinds}));
    for (std::size_t size = 0; size < bytes.size(); size += 37) {
      CHECK_FALSE(reads({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)},
                        {40, 6, kKinds}));
    }
    CHECK_FALSE(reads(encoded(std::vector<EventValue>()), {40, 6, kKinds}));
    CHECK_FALSE(reads(encoded(random_values(spk::kValuesPerBlock + 1)), {40, 6, kKinds}));
  }

  TEST_CASE("spk values: kinds and texts come back, and have limits") {
    spk::BlockContent content;
    spk::encode_value_kinds(kKinds, content);
    std::vector<ValueSchema> kinds;
    std::vector<std::byte> bytes = bytes_of(content);
    REQUIRE(spk::decode_value_kinds(bytes::ByteCursor(bytes, 0), kinds));
    CHECK(kinds == kKinds);
    bytes[bytes.size() - 1] = std::byte{7};  // a type of field that there is not
    kinds.clear();
    CHECK_FALSE(spk::decode_value_kinds(bytes::ByteCursor(bytes, 0), kinds));

    const std::vector<ValueSchema> wide{{"wide", std::vector<ValueField>(9)}};
    content.clear();
    spk::encode_value_kinds(wide, content);
    kinds.clear();
    CHECK_FALSE(spk::decode_value_kinds(bytes::ByteCursor(bytes_of(content), 0), kinds));

    const std::vector<std::string> texts{"", "a", std::string(300, 'x')};
    content.clear();
    spk::encode_value_texts(texts, content);
    std::vector<std::string> found;
    REQUIRE(spk::decode_value_texts(bytes::ByteCursor(bytes_of(content), 0), found));
    CHECK(found == texts);
  }
}

}  // namespace
}  // namespace stackpack::test
