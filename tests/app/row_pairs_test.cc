#include <string>
#include <vector>

#include <doctest/doctest.h>

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

/// The names of the rows that functions of both sides belong to, in their order.
std::vector<std::vector<std::string>> rows_of_functions(const std::vector<std::string>& before,
                                                        const std::vector<std::string>& after) {
  const Result<RowTable> table =
      app::pair_rows(side_of_functions(before), side_of_functions(after), DiffGrain::kFunction);
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
    const Result<RowTable> table =
        app::pair_rows(before, side_of_functions({lambda(1), lambda(2)}), DiffGrain::kFunction);
    REQUIRE(table.has_value());
    CHECK(table->names[table->old_rows[1]].name == kLambdas);
    CHECK(table->names[table->old_rows[2]].name == lambda(1));
    CHECK(table->old_rows[1] == table->new_rows[1]);
    CHECK(table->old_rows[1] == table->new_rows[2]);
  }
}

}  // namespace
}  // namespace stackpack::test
