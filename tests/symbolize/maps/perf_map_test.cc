#include "symbolize/maps/perf_map.h"

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/random_stacks.h"
#include "symbolize/maps/named_rows.h"

namespace stackpack::symbolize {

namespace {

Result<PerfMap> read_map(std::string_view text) {
  const std::vector<std::byte> bytes = test::bytes_of_text(text);
  const auto source = io::source_of_memory(bytes);
  return PerfMap::read(*source);
}

std::string map_names(const PerfMap& map, const std::vector<std::uint64_t>& addresses) {
  SymbolRequest request;
  request.addresses = addresses;
  NameCollector names;
  CodeRange owner;
  owner.pid = 7;
  map.name(request, owner, names);
  return test::rows_text(std::move(names));
}

}  // namespace

TEST_CASE("perf map: names with blanks, numbers with and without 0x") {
  const Result<PerfMap> map = read_map(
      "7f0010 20 LazyCompile:~main file.js:1\n"
      "0x7f0030 0x10 second\r\n"
      "7f0050 10\n"
      "7f0060 0 empty\n"
      "zz 10 bad\n"
      "ffffffffffffffff 10 past the end\n"
      "7f0070 8 last");
  REQUIRE(map.has_value());
  CHECK(map->lines() == 3);
  CHECK(map->unread_lines() == 4);
  CHECK(map->reused() == 0);
  CHECK(map_names(*map, {0x7f000f, 0x7f0010, 0x7f002f, 0x7f0030, 0x7f0040, 0x7f0077, 0x7f0078}) ==
        "7f0010+20 LazyCompile:~main file.js:1, 7f0030+10 second, 7f0070+8 last");
}

TEST_CASE("perf map: the last line of an address wins, and lines that reuse bytes are counted") {
  const Result<PerfMap> map = read_map("100 40 old\n110 10 inside\n130 20 after\n200 10 apart\n");
  REQUIRE(map.has_value());
  CHECK(map->reused() == 2);
  CHECK(map_names(*map, {0x108, 0x110, 0x12f, 0x130, 0x14f, 0x150, 0x200}) ==
        "100+10 old, 110+10 inside, 120+10 old, 130+20 after, 200+10 apart");
}

TEST_CASE("perf map: any overlaps give what a table of bytes gives") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    test::Random random(seed);
    std::map<std::uint64_t, int> table;
    LatestRanges ranges;
    std::uint64_t reused = 0;
    std::uint64_t expected = 0;
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t start = random.next() % 200;
      const std::uint64_t end = start + 1 + random.next() % 40;
      bool covers = false;
      for (std::uint64_t at = start; at < end; ++at) {
        covers |= table.contains(at);
        table[at] = i;
      }
      expected += covers ? 1U : 0U;
      reused +=
          ranges.add(start, end, static_cast<std::uint32_t>(i), [](std::uint32_t) {}) ? 1U : 0U;
    }
    CHECK(reused == expected);
    for (std::uint64_t at = 0; at < 260; ++at) {
      const auto piece = ranges.at(at);
      CHECK(piece.has_value() == table.contains(at));
      if (piece) {
        CHECK(static_cast<int>(piece->number) == table[at]);
      }
    }
  }
}

TEST_CASE("perf map: a text that is none is refused") {
  CHECK(!read_map("hello\nworld\n").has_value());
  CHECK(read_map("").has_value());
}

}  // namespace stackpack::symbolize
