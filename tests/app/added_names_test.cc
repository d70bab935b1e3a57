#include "app/symbolize/added_names.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::test {

namespace {

using symbols::RangeOwner;

constexpr RangeOwner kFirstImage{FunctionOwner::kImage, 0, kUnknownTime};
constexpr RangeOwner kSecondImage{FunctionOwner::kImage, 1, kUnknownTime};

struct NamedRange {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::string text;
};

// Functions of the image `module`, and lines whose file is the text.
Names names_of(const std::vector<NamedRange>& functions, const std::vector<NamedRange>& lines,
               std::uint32_t module = 0) {
  symbolize::NameCollector names;
  for (const NamedRange& range : functions) {
    Function row;
    row.owner = FunctionOwner::kImage;
    row.module = module;
    row.start = range.start;
    row.size = range.size;
    row.name = names.text(range.text);
    names.add_function(row);
  }
  for (const NamedRange& range : lines) {
    CodeLine row;
    row.owner = FunctionOwner::kImage;
    row.module = module;
    row.start = range.start;
    row.size = range.size;
    row.file = names.text(range.text);
    names.add_line(row);
  }
  return std::move(names).finish();
}

std::string text_of(const Names& names) {
  std::string text;
  for (const Function& row : names.functions) {
    text += std::string(names.texts[row.name]) + "@" + std::to_string(row.module) + ":" +
            std::to_string(row.start) + " ";
  }
  for (const CodeLine& row : names.lines) {
    text += std::string(names.texts[row.file]) + "@" + std::to_string(row.module) + ":" +
            std::to_string(row.start) + " ";
  }
  return text;
}

}  // namespace

TEST_CASE("added names: what a file says of an address stays, and the rest is added") {
  struct Case {
    std::string name;
    std::vector<NamedRange> old;
    std::vector<NamedRange> found;
    std::vector<std::uint64_t> asked;
    std::uint64_t count;
    std::string expected;
  };
  const std::vector<Case> cases{
      {"nothing was said", {}, {{10, 10, "new"}}, {10, 19, 20}, 2, "new@0:10 "},
      {"all was said", {{10, 10, "old"}}, {{10, 10, "new"}}, {10, 19}, 2, "old@0:10 "},
      {"said of one of two",
       {{10, 5, "old"}},
       {{10, 10, "new"}},
       {10, 19},
       2,
       "old@0:10 new@0:10 "},
      {"said of an address beside",
       {{30, 5, "old"}},
       {{10, 10, "new"}},
       {12},
       1,
       "new@0:10 old@0:30 "},
      {"found what nobody asked for",
       {{30, 5, "old"}},
       {{10, 10, "new"}},
       {20, 31},
       1,
       "old@0:30 "},
  };
  const std::vector<std::uint32_t> first_rows{0, 1};
  for (const Case& one : cases) {
    CAPTURE(one.name);
    const Names old_functions = names_of(one.old, {});
    app::AddedNames functions(old_functions, first_rows);
    const auto named = functions.add(names_of(one.found, {}), kFirstImage, one.asked);
    CHECK(named.named == one.count);
    CHECK(named.lines == 0);
    CHECK(functions.changed() == (one.expected.find("new") != std::string::npos));
    CHECK(text_of(std::move(functions).finish()) == one.expected);

    const Names old_lines = names_of({}, one.old);
    app::AddedNames lines(old_lines, first_rows);
    const auto lined = lines.add(names_of({}, one.found), kFirstImage, one.asked);
    CHECK(lined.lines == one.count);
    CHECK(lined.named == 0);
    CHECK(text_of(std::move(lines).finish()) == one.expected);
  }
}

TEST_CASE("added names: what is said of another image is not said of this one") {
  const std::vector<std::uint32_t> first_rows{0, 1};
  const Names old = names_of({{10, 10, "old"}}, {{10, 10, "old.cc"}}, 1);
  app::AddedNames names(old, first_rows);
  const auto first = names.add(names_of({{10, 10, "new"}}, {{10, 10, "new.cc"}}), kFirstImage,
                               std::vector{std::uint64_t{12}});
  CHECK(first.named == 1);
  CHECK(first.lines == 1);
  const auto second = names.add(names_of({{10, 10, "none"}}, {{10, 10, "none.cc"}}), kSecondImage,
                                std::vector{std::uint64_t{12}});
  CHECK(second.named == 1);
  CHECK(second.lines == 1);
  CHECK(text_of(std::move(names).finish()) == "new@0:10 old@1:10 new.cc@0:10 old.cc@1:10 ");
}

TEST_CASE("added names: a caller's byte before a function that nothing is before has its name") {
  const std::vector<std::uint32_t> first_rows{0};
  const std::vector<std::uint64_t> asked{9};
  // Functions begin there; a line does not name what is before it.
  const Names old = names_of({{10, 5, "old"}}, {{10, 5, "old.cc"}});
  app::AddedNames names(old, first_rows);
  const auto counts = names.add(names_of({{5, 5, "new"}}, {{5, 5, "new.cc"}}), kFirstImage, asked);
  CHECK(counts.named == 1);
  CHECK(counts.lines == 1);
  CHECK(text_of(std::move(names).finish()) == "old@0:10 new.cc@0:5 old.cc@0:10 ");

  const Names none;
  app::AddedNames begun(none, first_rows);
  CHECK(begun.add(names_of({{10, 5, "new"}}, {{10, 5, "new.cc"}}), kFirstImage, asked).named == 1);
  CHECK(text_of(std::move(begun).finish()) == "new@0:10 ");

  const Names farther = names_of({{11, 5, "old"}}, {});
  app::AddedNames far(farther, first_rows);
  CHECK(far.add({}, kFirstImage, asked).named == 0);
}

TEST_CASE("added names: of what was read for more than is asked the rest is left out") {
  symbolize::NameCollector read;
  for (const std::uint64_t start : {10U, 20U, 30U}) {
    Function row;
    row.owner = FunctionOwner::kImage;
    row.start = start;
    row.size = 10;
    row.name = read.text("f" + std::to_string(start));
    read.add_function(row);
    read.add_alias(row.name, read.text("also" + std::to_string(start)));
  }
  const std::vector<std::uint32_t> first_rows{0};
  const Names none;
  app::AddedNames names(none, first_rows);
  const std::vector<std::uint64_t> asked{12, 29};
  CHECK(names.add(std::move(read).finish(), kFirstImage, asked).named == 2);
  const Names all = std::move(names).finish();
  CHECK(text_of(all) == "f10@0:10 f20@0:20 ");
  REQUIRE(all.aliases.size() == 2);
  CHECK(all.texts[all.aliases[0].alias] == "also10");
  CHECK(all.texts[all.aliases[1].alias] == "also20");
}

}  // namespace stackpack::test
