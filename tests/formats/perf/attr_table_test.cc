#include "formats/perf/attr_table.h"

#include <map>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include "support/test_bytes.h"

using namespace stackpack;
using namespace stackpack::perf;

namespace {

Attr attr_of(std::uint64_t sample_type, std::uint64_t flags = attr_flag::kSampleIdAll) {
  Attr attr;
  attr.sample_type = sample_type;
  attr.flags = flags;
  return attr;
}

// Words of a payload; `value` stands at `position`, counted from the end when negative.
test::TestBytes words(int count, int position, std::uint64_t value) {
  test::TestBytes bytes;
  const int at = position < 0 ? count + position : position;
  for (int i = 0; i < count; ++i) {
    bytes.u64(i == at ? value : 0xbad);
  }
  return bytes;
}

std::optional<std::uint32_t> event_of(const AttrTable::Row* row) {
  return row != nullptr ? std::optional(row->event) : std::nullopt;
}

}  // namespace

TEST_CASE("perf attr table: with several attributes the id decides, wherever it stands") {
  using namespace sample_bit;
  struct Case {
    std::string name;
    std::uint64_t sample_type;
    int from_start;
    int from_end;
  };
  const Case cases[] = {
      {"IDENTIFIER", kIdentifier | kIp | kTid, 0, -1},
      {"IDENTIFIER wins over ID", kIdentifier | kId | kIp | kCpu, 0, -1},
      {"ID alone", kId, 0, -1},
      {"ID after four", kIp | kTid | kTime | kAddr | kId, 4, -1},
      {"ID before CPU and STREAM_ID", kIp | kTime | kId | kStreamId | kCpu, 2, -3},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    AttrTable table;
    table.add(attr_of(c.sample_type), 0);
    table.add(attr_of(c.sample_type | kCallchain), 1);
    CHECK(table.add_id(0, 100));
    CHECK(table.add_id(1, 200));
    const auto first = words(8, c.from_start, 100);
    const auto second = words(8, c.from_start, 200);
    const auto made = words(8, c.from_start, 0);
    const auto unknown = words(8, c.from_start, 300);
    CHECK(event_of(table.of_sample(bytes::ByteCursor(first.bytes, 0))) == 0);
    CHECK(event_of(table.of_sample(bytes::ByteCursor(second.bytes, 0))) == 1);
    CHECK(event_of(table.of_sample(bytes::ByteCursor(made.bytes, 0))) == 0);
    CHECK(event_of(table.of_sample(bytes::ByteCursor(unknown.bytes, 0))) == std::nullopt);
    const auto other = words(8, c.from_end, 200);
    CHECK(event_of(table.of_other(bytes::ByteCursor(other.bytes, 0))) == 1);
    CHECK(table.of_sample(bytes::ByteCursor(std::span(first.bytes).first(7), 0)) == nullptr);
  }
}

TEST_CASE("perf attr table: an unknown id is nobody's, even if all layouts are the same") {
  AttrTable table;
  table.add(attr_of(sample_bit::kIdentifier | sample_bit::kIp), 0);
  table.add(attr_of(sample_bit::kIdentifier | sample_bit::kIp), 1);
  table.add_id(0, 100);
  const auto unknown = words(2, 0, 300);
  CHECK(table.of_sample(bytes::ByteCursor(unknown.bytes, 0)) == nullptr);
}

TEST_CASE("perf attr table: ids are bounded, repeated ones included") {
  AttrTable table;
  table.add(attr_of(sample_bit::kIdentifier), 0);
  std::size_t added = 0;
  while (added < AttrTable::kMaxIds && table.add_id(0, 5)) {
    ++added;
  }
  CHECK(added == AttrTable::kMaxIds);
  CHECK(table.room_for_ids() == 0);
  CHECK_FALSE(table.add_id(0, 5));
}

TEST_CASE("perf attr table: attributes are bounded") {
  AttrTable table;
  for (std::size_t i = 0; i < AttrTable::kMaxRows; ++i) {
    REQUIRE(table.add(attr_of(sample_bit::kIdentifier), 0) == i);
  }
  CHECK_FALSE(table.add(attr_of(sample_bit::kIdentifier), 0).has_value());
  CHECK(table.rows().size() == AttrTable::kMaxRows);
}

TEST_CASE("perf attr table: one attribute takes all; none takes nothing") {
  AttrTable table;
  const auto payload = words(4, 0, 999);
  CHECK(table.of_sample(bytes::ByteCursor(payload.bytes, 0)) == nullptr);
  CHECK(table.of_other(bytes::ByteCursor(payload.bytes, 0)) == nullptr);
  table.add(attr_of(sample_bit::kIdentifier), 0);
  table.add_id(0, 1);
  CHECK(table.of_sample(bytes::ByteCursor(payload.bytes, 0)) != nullptr);
  CHECK(table.of_other(bytes::ByteCursor(payload.bytes, 0)) != nullptr);
}

TEST_CASE("perf attr table: without ids, only attributes with the same fields are read") {
  struct Case {
    std::string name;
    std::uint64_t first;
    std::uint64_t second;
    bool readable;
  };
  using namespace sample_bit;
  const Case cases[] = {{"no id field, same", kIp | kTid, kIp | kTid, true},
                        {"no id field, other", kIp | kTid, kIp | kTid | kCallchain, false},
                        {"id field, no ids known, same", kIp | kId, kIp | kId, true},
                        {"id field, no ids known, other", kIp | kId, kIp | kId | kCpu, false}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    AttrTable table;
    table.add(attr_of(c.first), 0);
    table.add(attr_of(c.second), 1);
    const auto payload = words(4, 1, 999);
    CHECK((table.of_sample(bytes::ByteCursor(payload.bytes, 0)) != nullptr) == c.readable);
    table.forbid_guessing();
    CHECK(table.of_sample(bytes::ByteCursor(payload.bytes, 0)) == nullptr);
  }
}

TEST_CASE("perf id map: agrees with std::map") {
  constexpr unsigned kSeed = 20240607;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  IdMap map;
  std::map<std::uint64_t, std::uint32_t> model;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    // Small and clustered numbers, as ids are, and some spread ones.
    const std::uint64_t id = random() % 4 == 0 ? random() : random() % 3000;
    map.insert(id, i);
    if (id != 0) {
      model[id] = i;
    }
  }
  CHECK(map.size() == model.size());
  for (const auto& [id, index] : model) {
    REQUIRE(map.find(id) == index);
  }
  CHECK_FALSE(map.find(0).has_value());
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t id = random();
    CHECK(map.find(id).has_value() == (model.count(id) != 0));
  }
}
