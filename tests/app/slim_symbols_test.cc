#include "app/collect/slim_symbols.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "support/test_bytes.h"

using namespace stackpack;

namespace {

constexpr std::uint8_t kLocalFunction = 0x02;
constexpr std::uint8_t kGlobalFunction = 0x12;
constexpr std::uint8_t kGlobalObject = 0x11;
constexpr std::uint8_t kGlobalPlain = 0x10;
constexpr std::uint8_t kIndirect = 0x1A;

// A symbol table as linkers write it, of rows (name, info, section, address).
class SymbolTableMaker {
 public:
  SymbolTableMaker() { table.zeros(24); }
  SymbolTableMaker& row(std::string_view name, std::uint8_t info, std::uint16_t section,
                        std::uint64_t address) {
    table.u32(static_cast<std::uint32_t>(texts.size())).u8(info).u8(0).u16(section);
    table.u64(address).u64(16);
    texts += name;
    texts += '\0';
    return *this;
  }
  [[nodiscard]] std::vector<std::byte> text_bytes() const {
    const auto bytes = std::as_bytes(std::span(texts));
    return {bytes.begin(), bytes.end()};
  }

  test::TestBytes table;
  std::string texts = std::string(1, '\0');
};

// The symbols of a table: name@address, by a space.
std::string symbols_of(const app::SlimSymbols& slim) {
  std::string all;
  for (std::size_t at = 24; at < slim.table.size(); at += 24) {
    bytes::ByteCursor in(std::span(slim.table).subspan(at, 24), 0);
    bytes::ByteCursor name(slim.texts, 0);
    name.seek(in.read<std::uint32_t>());
    in.skip(4);
    all += std::string(name.read_c_string()) + '@' + std::to_string(in.read<std::uint64_t>()) + ' ';
  }
  return all;
}

}  // namespace

TEST_SUITE("slim symbols") {
  TEST_CASE("slim symbols: functions that are defined, by address, locals first") {
    SymbolTableMaker maker;
    maker.row("late", kGlobalFunction, 5, 900).row("early", kGlobalFunction, 5, 100);
    maker.row("data", kGlobalObject, 7, 50).row("from elsewhere", kGlobalFunction, 0, 0);
    maker.row("_stext", kGlobalPlain, 5, 40).row("label", kGlobalPlain, 5, 60);
    maker.row("chosen", kIndirect, 5, 500).row("own", kLocalFunction, 5, 700);
    maker.row("early", kLocalFunction, 6, 800);
    const auto slim = app::make_slim_symbols(maker.table.bytes, maker.text_bytes());
    REQUIRE(slim.has_value());
    CHECK(symbols_of(*slim) == "own@700 early@800 _stext@40 early@100 chosen@500 late@900 ");
    CHECK(slim->locals == 3);
    CHECK(slim->texts.size() == 1 + 4 + 6 + 7 + 7 + 5);  // each name once
    const auto again = app::make_slim_symbols(slim->table, slim->texts);
    REQUIRE(again.has_value());
    CHECK(again->table == slim->table);
    CHECK(again->texts == slim->texts);
  }

  TEST_CASE("slim symbols: what is damaged is left as it is") {
    SymbolTableMaker maker;
    maker.row("one", kGlobalFunction, 5, 900);
    const std::vector<std::byte> texts = maker.text_bytes();
    std::vector<std::byte> table = maker.table.bytes;
    CHECK(app::make_slim_symbols(table, texts).has_value());
    CHECK_FALSE(app::make_slim_symbols(table, {}).has_value());
    CHECK_FALSE(app::make_slim_symbols(table, std::span(texts).first(3)).has_value());
    CHECK_FALSE(app::make_slim_symbols(std::span(table).first(47), texts).has_value());
    CHECK_FALSE(app::make_slim_symbols({}, texts).has_value());
    table[24] = std::byte{0x77};  // a name beyond the texts
    CHECK_FALSE(app::make_slim_symbols(table, texts).has_value());
  }
}
