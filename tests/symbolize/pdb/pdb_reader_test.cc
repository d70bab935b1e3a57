#include "symbolize/pdb/pdb_reader.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/pdb_maker.h"

namespace stackpack::symbolize {

namespace {

struct PdbAnswer {
  Names names;
  PdbDamage damage;
  bool opened = false;
};

PdbAnswer names_in(const std::vector<std::byte>& file, const std::vector<std::uint64_t>& addresses,
                   bool inlines = true) {
  const auto source = io::source_of_memory(file);
  PdbAnswer answer;
  const Result<PdbReader> pdb = PdbReader::open(*source);
  if (!pdb) {
    return answer;
  }
  answer.opened = true;
  NameCollector collector;
  SymbolRequest request;
  request.addresses = addresses;
  request.inlines = inlines;
  const Result<PdbDamage> damage = pdb->name(request, collector);
  REQUIRE(damage.has_value());
  answer.damage = *damage;
  answer.names = std::move(collector).finish();
  return answer;
}

// `name+offset size`, then `file:line` of the function, each inlined one inside of it, apart by |.
std::string location(const Names& names, std::uint64_t address) {
  const Function* function = nullptr;
  for (const Function& row : names.functions) {
    if (address >= row.start && address - row.start < row.size) {
      function = &row;
    }
  }
  if (function == nullptr) {
    return "-";
  }
  std::string text =
      std::string(names.texts[function->name]) + "+" + std::to_string(address - function->start);
  for (const CodeLine& line : names.lines) {
    if (address < line.start || address - line.start >= line.size) {
      continue;
    }
    std::vector<std::string> parts = {std::string(names.texts[line.file]) + ":" +
                                      std::to_string(line.line)};
    for (std::uint32_t at = line.inlined; at != kNoInline; at = names.inlined[at].parent) {
      const InlinedCall& call = names.inlined[at];
      parts.back().insert(0, std::string(names.texts[call.name]) + " ");
      parts.push_back(std::string(names.texts[call.call_file]) + ":" +
                      std::to_string(call.call_line));
    }
    std::reverse(parts.begin(), parts.end());
    for (const std::string& part : parts) {
      text += "|" + part;
    }
  }
  return text;
}

std::string location_in(const std::vector<std::byte>& file, std::uint64_t address) {
  return location(names_in(file, {address}).names, address);
}

}  // namespace

TEST_CASE("PDB: a procedure has its size, a public symbol ends where the next symbol begins") {
  test::PdbRecipe recipe;
  recipe.contributions = {{1, 0, 0x100}, {1, 0x200, 0x20}};
  recipe.objects.resize(1);
  test::put_procedure(recipe.objects[0].symbols, 0x20, 0x10, "second");
  test::put_end(recipe.objects[0].symbols, 6);
  test::put_thunk(recipe.objects[0].symbols, 0x60, 8, "thunk");
  test::put_public(recipe.public_symbols, 0, "first");
  test::put_public(recipe.public_symbols, 0x20, "?second@@YAXXZ");
  test::put_public(recipe.public_symbols, 0x40, "third", 1);
  test::put_public(recipe.public_symbols, 0x40, "alias", 2);
  test::put_public(recipe.public_symbols, 0x40, "zebra", 1);
  const std::vector<std::byte> file = test::pdb_bytes(recipe);
  struct Case {
    std::uint64_t address;
    const char* expected;
  };
  const Case cases[] = {{0xFFF, "-"},
                        {0x1000, "first+0"},
                        {0x101F, "first+31"},
                        {0x1020, "second+0"},
                        {0x102F, "second+15"},
                        {0x1030, "?second@@YAXXZ+16"},
                        {0x103F, "?second@@YAXXZ+31"},
                        {0x1040, "alias+0"},
                        {0x105F, "alias+31"},
                        {0x1060, "thunk+0"},
                        {0x1068, "-"},
                        {0x1200, "-"},
                        {0x1'0000'1000, "-"}};
  std::vector<std::uint64_t> all;
  for (const Case& expected : cases) {
    CAPTURE(expected.address);
    CHECK(location_in(file, expected.address) == expected.expected);
    all.push_back(expected.address);
  }
  const PdbAnswer together = names_in(file, all);
  CHECK(together.damage.modules + together.damage.tables == 0);
  for (const Case& expected : cases) {
    CAPTURE(expected.address);
    CHECK(location(together.names, expected.address) == expected.expected);
  }
  CHECK(together.names.functions.size() == 5);
}

TEST_CASE("PDB: of procedures at one place the larger one counts, then the last by name") {
  test::PdbRecipe recipe;
  recipe.objects.resize(2);
  test::put_procedure(recipe.objects[0].symbols, 0, 8, "b");
  test::put_procedure(recipe.objects[0].symbols, 0, 4, "z");
  test::put_procedure(recipe.objects[1].symbols, 0, 8, "a");
  CHECK(location_in(test::pdb_bytes(recipe), 0x1003) == "b+3");
}

TEST_CASE("PDB: separated code has the name of its procedure") {
  test::PdbRecipe recipe;
  recipe.objects.resize(1);
  test::put_separated_code(recipe.objects[0].symbols, 0x80, 0x10, 0x20);
  test::put_end(recipe.objects[0].symbols, 6);
  test::put_procedure(recipe.objects[0].symbols, 0x20, 8, "parse");
  test::put_end(recipe.objects[0].symbols, 6);
  CHECK(location_in(test::pdb_bytes(recipe), 0x1084) == "parse+4");
}

TEST_CASE("PDB: lines and inlined calls, with the class of a member") {
  const std::vector<std::byte> file = test::pdb_bytes(test::pdb_with_inlines());
  struct Case {
    std::uint64_t address;
    const char* expected;
  };
  const Case cases[] = {{0x1010, "main+0|a.cc:5"},
                        {0x1020, "main+16|a.cc:6|Box::outer b.h:22"},
                        {0x1028, "main+24|a.cc:6|Box::outer b.h:23|inner b.h:30"},
                        {0x102F, "main+31|a.cc:6|Box::outer b.h:23|inner b.h:30"},
                        {0x1030, "main+32|a.cc:6|Box::outer b.h:24"},
                        {0x103F, "main+47|a.cc:6|Box::outer b.h:24"},
                        {0x1040, "main+48"},
                        {0x1048, "main+56|a.cc:8"}};
  std::vector<std::uint64_t> all;
  for (const Case& expected : cases) {
    CAPTURE(expected.address);
    CHECK(location_in(file, expected.address) == expected.expected);
    all.push_back(expected.address);
  }
  const Names together = names_in(file, all).names;
  for (const Case& expected : cases) {
    CAPTURE(expected.address);
    CHECK(location(together, expected.address) == expected.expected);
  }
  REQUIRE(together.functions.size() == 1);
  CHECK(together.texts[together.functions[0].file] == "a.cc");
  CHECK(together.functions[0].line == 5);
  CHECK(together.functions[0].source == FunctionSource::kPdb);
  CHECK(together.inlined.size() == 2);

  const Names plain = names_in(file, all, false).names;
  CHECK(plain.lines.empty());
  CHECK(plain.inlined.empty());
  CHECK(location(plain, 0x1028) == "main+24");
}

TEST_CASE("PDB: code that was moved after linking is looked up where it was") {
  test::PdbRecipe recipe = test::pdb_with_inlines();
  // The image has main's bytes from 0x20 on first, then the others; 0x3000 is new.
  recipe.moves = {{0x2000, 0x1030}, {0x2040, 0x1010}, {0x2060, 0}};
  const std::vector<std::byte> file = test::pdb_bytes(recipe);
  const Names names = names_in(file, {0x2000, 0x2048, 0x2060, 0x3000}).names;
  CHECK(location(names, 0x2000) == "main+0|a.cc:6|Box::outer b.h:24");
  CHECK(location(names, 0x203F) == "main+63");
  CHECK(location(names, 0x2048) == "main+8|a.cc:5");
  CHECK(location(names, 0x205F) == "main+31");
  CHECK(location(names, 0x2060) == "-");
}

TEST_CASE("PDB: GUID must be equal, and the age that of the image or of the last change") {
  const std::vector<std::byte> file = test::pdb_bytes(test::PdbRecipe());
  const auto source = io::source_of_memory(file);
  const Result<PdbReader> pdb = PdbReader::open(*source);
  REQUIRE(pdb.has_value());
  PdbIdentity image{test::pdb_guid(), 1};
  CHECK(pdb->identity() == image);
  CHECK(pdb->fits(image));
  image.age = 3;
  CHECK(pdb->fits(image));
  image.age = 2;
  CHECK(!pdb->fits(image));
  image.age = 1;
  image.guid[5] = 0;
  CHECK(!pdb->fits(image));
}

TEST_CASE("PDB: containers that are not read are refused by name") {
  const auto error_of = [](std::string_view head) {
    test::TestBytes file;
    file.text(head).zeros(600);
    const auto source = io::source_of_memory(file.bytes);
    const Result<PdbReader> pdb = PdbReader::open(*source);
    REQUIRE(!pdb.has_value());
    return message(pdb.error());
  };
  CHECK(error_of("Microsoft C/C++ program database 2.00\r\n").find("2.00") != std::string::npos);
  CHECK(error_of("BSJB").find("portable PDB") != std::string::npos);
  CHECK(error_of("Microsoft MSFZ Container").find("MSFZ") != std::string::npos);
  CHECK(error_of("MZ").find("not an MSF 7.00") != std::string::npos);
}

TEST_CASE("PDB: whatever byte is wrong, and wherever it ends, reading ends well") {
  const std::vector<std::byte> good = test::pdb_bytes(test::pdb_with_inlines());
  const std::vector<std::uint64_t> addresses = {0x1010, 0x1028, 0x1048};
  for (std::size_t size = 0; size < good.size(); size += 13) {
    names_in({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}, addresses);
  }
  std::size_t opened = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const unsigned value : {0x00U, 0x7FU, 0xFFU}) {
      std::vector<std::byte> bad = good;
      bad[at] = static_cast<std::byte>(value);
      opened += names_in(bad, addresses).opened ? 1U : 0U;
    }
  }
  CHECK(opened > good.size());
}

TEST_CASE("PDB: a damaged object file costs its own names, and is counted") {
  test::PdbRecipe recipe;
  recipe.objects.resize(2);
  recipe.objects[0].symbols.u16(1);  // a record without room for its kind
  recipe.objects[0].symbols.u16(0);
  test::put_procedure(recipe.objects[0].symbols, 0x40, 8, "lost");
  test::put_procedure(recipe.objects[1].symbols, 0x80, 8, "kept");
  const PdbAnswer answer = names_in(test::pdb_bytes(recipe), {0x1040, 0x1080});
  CHECK(answer.damage.modules == 1);
  CHECK(location(answer.names, 0x1040) == "-");
  CHECK(location(answer.names, 0x1080) == "kept+0");
}

}  // namespace stackpack::symbolize
