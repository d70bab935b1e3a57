#include "cli/check_expression.h"

#include <doctest/doctest.h>

namespace stackpack::cli {

TEST_SUITE_BEGIN("cli.check_expression");

TEST_CASE("conditions are read") {
  using Operator = CheckExpression::Operator;
  struct Case {
    const char* text;
    const char* key;
    Operator op;
    double number;
  };
  const Case cases[] = {
      {"ratios.total>=50", "ratios.total", Operator::kGreaterEqual, 50},
      {"a==0", "a", Operator::kEqual, 0},
      {" a.b  !=  1.5 ", "a.b", Operator::kNotEqual, 1.5},
      {"a<1e3", "a", Operator::kLess, 1000},
      {"a<=-2", "a", Operator::kLessEqual, -2},
      {"a>64KiB", "a", Operator::kGreater, 65536},
  };
  for (const Case& test : cases) {
    CAPTURE(test.text);
    const std::optional<CheckExpression> check = parse_check(test.text);
    REQUIRE(check);
    CHECK(check->key == test.key);
    CHECK(check->op == test.op);
    CHECK(check->number == test.number);
  }
  for (const char* text : {"", "a", "a=1", "==1", "a==", "a==x", "a>=1 b", "a!1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_check(text));
  }
}

TEST_CASE("every operator has both answers") {
  const auto answer = [](const char* text, double value) {
    const std::optional<CheckExpression> check = parse_check(text);
    REQUIRE(check);
    return holds(*check, value);
  };
  CHECK(answer("a==2", 2));
  CHECK_FALSE(answer("a==2", 3));
  CHECK(answer("a!=2", 3));
  CHECK_FALSE(answer("a!=2", 2));
  CHECK(answer("a<2", 1));
  CHECK_FALSE(answer("a<2", 2));
  CHECK(answer("a<=2", 2));
  CHECK_FALSE(answer("a<=2", 3));
  CHECK(answer("a>2", 3));
  CHECK_FALSE(answer("a>2", 2));
  CHECK(answer("a>=2", 2));
  CHECK_FALSE(answer("a>=2", 1));
}

TEST_CASE("numbers are found by path, array elements by name") {
  const JsonFigures figures(
      R"({"n":7,"o":{"x":1.5,"s":"text"},"events":[{"name":"cpu-clock","samples":4},)"
      R"({"name":"a.b","samples":5},{"name":"a","b":{"samples":6}}]})");
  CHECK(figures.find("n") == 7.0);
  CHECK(figures.find("o.x") == 1.5);
  CHECK(figures.find("events.cpu-clock.samples") == 4.0);
  CHECK(figures.find("events.a.b.samples") == 5.0);
  for (const char* key :
       {"", "o", "o.s", "o.y", "n.x", "events", "events.cpu", "events.cpu-clock"}) {
    CAPTURE(key);
    CHECK_FALSE(figures.find(key));
  }
}

TEST_SUITE_END();

}  // namespace stackpack::cli
