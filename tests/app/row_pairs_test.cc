#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "app/diff/renames.h"
#include "app/diff/row_table.h"
#include "app/diff/side_profile.h"
#include "stackpack/diff.h"

namespace stackpack::test {
namespace {

using app::RowTable;
using app::SideProfile;

/// A side whose functions each are one callstack, in that order.
SideProfile side_of_functions(const std::vector<std::string>& names) {
  SideProfile side;
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    query::FrameEntity entity;
    entity.name = names[i];
    entity.module = "prog";
    side.entities.push_back(entity);
    REQUIRE(side.tree.child(query::StackTree::kRoot, i).has_value());
  }
  return side;
}

Result<RowTable> paired_rows(SideProfile before, SideProfile after,
                             const DiffOptions& options = {}) {
  const std::array<SideProfile, 2> sides = {std::move(before), std::move(after)};
  return app::pair_rows(sides, options.by, app::Renames::find(sides, options));
}

SideProfile side_in_module(const std::vector<std::string>& names, const std::string& module,
                           const std::string& build_id = {}) {
  SideProfile side = side_of_functions(names);
  for (query::FrameEntity& entity : side.entities) {
    entity.module = module;
    entity.name = entity.name == "[]" ? "[" + module + "]" : entity.name;
  }
  if (!build_id.empty()) {
    side.build_ids[module].insert(build_id);
  }
  return side;
}

/// The names of the rows that functions of both sides belong to, in their order.
std::vector<std::vector<std::string>> rows_of_functions(const std::vector<std::string>& before,
                                                        const std::vector<std::string>& after) {
  const Result<RowTable> table = paired_rows(side_of_functions(before), side_of_functions(after));
  REQUIRE(table.has_value());
  std::vector<std::vector<std::string>> names;
  for (const std::vector<std::uint32_t>* const rows : {&table->old_rows, &table->new_rows}) {
    std::vector<std::string>& of_side = names.emplace_back();
    for (std::size_t node = 1; node < rows->size(); ++node) {
      of_side.push_back(table->names[(*rows)[node]].name);
    }
  }
  return names;
}

std::string lambda(int number) {
  return "run()::{lambda()#" + std::to_string(number) + "}::operator()() const";
}

using Names = std::vector<std::string>;

constexpr const char* kLambdas = "run()::{lambda()#}::operator()() const";

TEST_SUITE("pairs of rows") {
  TEST_CASE("row pairs: a lambda that was added makes one row of its kind, others stay") {
    const auto rows = rows_of_functions({lambda(1), "f", lambda(2), "g()::{lambda()#1}"},
                                        {"g()::{lambda()#1}", lambda(1), lambda(2), lambda(3)});
    CHECK(rows[0] == Names{kLambdas, "f", kLambdas, "g()::{lambda()#1}"});
    CHECK(rows[1] == Names{"g()::{lambda()#1}", kLambdas, kLambdas, kLambdas});
  }

  TEST_CASE("row pairs: as many lambdas of other numbers are one row, too") {
    const auto rows = rows_of_functions({lambda(1), lambda(2)}, {lambda(2), lambda(3)});
    CHECK(rows[0] == Names{kLambdas, kLambdas});
    CHECK(rows[1] == Names{kLambdas, kLambdas});
  }

  TEST_CASE("row pairs: lambdas of the same numbers are what they are") {
    const auto rows = rows_of_functions({lambda(2), lambda(1)}, {lambda(1), lambda(2)});
    CHECK(rows[0] == Names{lambda(2), lambda(1)});
    CHECK(rows[1] == Names{lambda(1), lambda(2)});
  }

  TEST_CASE("row pairs: lambdas of one side alone keep their numbers") {
    const auto rows = rows_of_functions({lambda(1), lambda(3)}, {"f"});
    CHECK(rows[0] == Names{lambda(1), lambda(3)});
  }

  TEST_CASE("row pairs: lambdas of functions of the same name in other modules stay apart") {
    SideProfile before = side_of_functions({lambda(1), lambda(1)});
    before.entities[1].module = "other";
    const Result<RowTable> table = paired_rows(before, side_of_functions({lambda(1), lambda(2)}));
    REQUIRE(table.has_value());
    CHECK(table->names[table->old_rows[1]].name == kLambdas);
    CHECK(table->names[table->old_rows[2]].name == lambda(1));
    CHECK(table->old_rows[1] == table->new_rows[1]);
    CHECK(table->old_rows[1] == table->new_rows[2]);
  }

  TEST_CASE("row pairs: the row of a family has each list of aliases once") {
    constexpr int kFunctions = 20;
    std::array<SideProfile, 2> sides;
    for (int side = 0; side < 2; ++side) {
      std::vector<std::string> names;
      for (int i = 0; i < kFunctions; ++i) {
        names.push_back(lambda(kFunctions * side + i));
      }
      sides.at(static_cast<std::size_t>(side)) = side_of_functions(names);
      for (query::FrameEntity& entity : sides.at(static_cast<std::size_t>(side)).entities) {
        entity.aliases.push_back({std::make_shared<const std::vector<std::string>>(1, "alias")});
      }
    }
    const Result<RowTable> table = paired_rows(sides[0], sides[1]);
    REQUIRE(table.has_value());
    const query::FrameEntity& row = table->names[table->old_rows[1]];
    CHECK(row.name == kLambdas);
    CHECK(row.aliases.size() == 2 * kFunctions);
  }

  TEST_CASE("row pairs: a program of another name pairs by the names of its functions") {
    const std::array sides = {side_in_module({"main", "parse", "serve", "gone", "[]"}, "app_a"),
                              side_in_module({"serve", "main", "parse", "[]"}, "app_b")};
    const auto renames = app::Renames::find(sides, {});
    REQUIRE(renames.list().size() == 1);
    CHECK(renames.list()[0].after == "app_b");
    CHECK(renames.list()[0].reason == DiffRenameReason::kNames);
    CHECK(renames.list()[0].equal_names == 3);
    CHECK(renames.list()[0].names == 3);
    const auto table = app::pair_rows(sides, DiffGrain::kFunction, renames);
    CHECK(table->old_rows[1] == table->new_rows[2]);
    CHECK(table->old_rows[3] == table->new_rows[1]);
    CHECK(table->old_rows[5] == table->new_rows[4]);
    CHECK(table->names[table->old_rows[5]].name == "[app_b]");
    CHECK(table->names[table->old_rows[4]].module == "app_b");
  }

  TEST_CASE("row pairs: programs that share few names, or several of them, do not pair") {
    const auto count = [](SideProfile before, SideProfile after) {
      const std::array sides = {std::move(before), std::move(after)};
      return app::Renames::find(sides, {}).list().size();
    };
    CHECK(count(side_in_module({"main", "parse"}, "a"), side_in_module({"main", "parse"}, "b")) ==
          0);
    CHECK(count(side_in_module({"f", "g", "h", "1", "2", "3", "4"}, "a"),
                side_in_module({"f", "g", "h", "5", "6", "7", "8"}, "b")) == 0);
    CHECK(count(side_in_module({"f", "g", "h"}, "a"), side_in_module({"f", "g", "h"}, "a")) == 0);
    SideProfile two = side_in_module({"f", "g", "h", "f", "g", "h"}, "b");
    for (std::size_t i = 3; i < two.entities.size(); ++i) {
      two.entities[i].module = "c";
    }
    CHECK(count(side_in_module({"f", "g", "h"}, "a"), two) == 0);
  }

  TEST_CASE("row pairs: one build under two names pairs by its build id") {
    const std::array sides = {side_in_module({"main"}, "app_a", "id"),
                              side_in_module({"main"}, "app_b", "id")};
    const auto renames = app::Renames::find(sides, {});
    REQUIRE(renames.list().size() == 1);
    CHECK(renames.list()[0].reason == DiffRenameReason::kBuildId);
  }

  TEST_CASE("row pairs: names that somebody gives") {
    DiffOptions options;
    options.renames = {{"a", "b"}, {"parse", "read"}, {"nothing", "x"}};
    const std::array sides = {side_in_module({"main", "parse"}, "a"),
                              side_in_module({"main", "read"}, "b")};
    const auto renames = app::Renames::find(sides, options);
    REQUIRE(renames.list().size() == 3);
    CHECK(renames.list()[1].reason == DiffRenameReason::kAsked);
    CHECK(renames.list()[2].reason == DiffRenameReason::kNotThere);
    const auto table = app::pair_rows(sides, DiffGrain::kFunction, renames);
    CHECK(table->old_rows == table->new_rows);
  }
}

}  // namespace
}  // namespace stackpack::test
