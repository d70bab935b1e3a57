#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "app/listing/text_output.h"
#include "stackpack/diff.h"

namespace stackpack {

namespace {

std::string problem_of_gate(std::string_view text) {
  std::string problem;
  const auto rules = parse_gate_rules(text, &problem);
  return rules ? std::string("none") : problem;
}

}  // namespace

TEST_SUITE("gate file") {
  TEST_CASE("gate file: all that it can say") {
    const auto rules = parse_gate_rules(R"(# ours
fail-if = ["total cpu +3%", 'function of run()::{lambda(int)#1} cpu +5%']
allow = [
  "(everything) up to +50ms",  # reads the new format
  "app!parse",
]
baseline = "perf/base"
last = 7
strict = true
[rename]
app_a = "app_b"
"libfoo.so.1" = "libbar.so.2"
)");
    REQUIRE(rules.has_value());
    REQUIRE(rules->conditions.size() == 2);
    CHECK(rules->conditions[0].whole);
    CHECK(rules->conditions[1].pattern == "run()::{lambda(int)#1}");
    REQUIRE(rules->allowed.size() == 2);
    CHECK(rules->allowed[0].measure == GateMeasure::kCost);
    CHECK(rules->allowed[0].limit == 50e6);
    CHECK(rules->allowed[1].pattern == "app!parse");
    CHECK(rules->renames == std::vector<std::pair<std::string, std::string>>{
                                {"app_a", "app_b"}, {"libfoo.so.1", "libbar.so.2"}});
    CHECK(rules->baseline == "perf/base");
    CHECK(rules->last == 7);
    CHECK(rules->strict);
  }

  TEST_CASE("gate file: an empty one says nothing") {
    const auto rules = parse_gate_rules("# nothing yet\n");
    REQUIRE(rules.has_value());
    CHECK(rules->conditions.empty());
    CHECK_FALSE(rules->last.has_value());
    CHECK_FALSE(rules->strict);
  }

  TEST_CASE("gate file: what is wrong is named with line, column and word") {
    struct Case {
      std::string_view text;
      std::string_view problem;
    };
    const std::vector<Case> cases = {
        {"fail-if = [\n  'share +1pp',\n  \"total cup +3%\"]",
         "line 3, column 10: 'total cup +3%': word 2, `cup`: "},
        {"fail-if = ['\xc3\xa9 cpu +3%']", "line 1, column 13: '\xc3\xa9 cpu +3%': word 1"},
        {"fail-if = ['function of \xc3\xa9 cup +3%']", "line 1, column 25: "},
        {"fail-if = [\"total\\u0020cup +3%\"]", "line 1, column 12: 'total cup +3%': word 2"},
        {"fail-if = ['']", "line 1, column 13: '': it is empty"},
        {"fail-if = 'total cpu +3%'", "line 1, column 11: `fail-if` is an array of texts"},
        {"allow = ['f', 3]", "line 1, column 15: `allow` is an array of texts"},
        {"allow = ['f up to 3']", "line 1, column 10: 'f up to 3': `up to` without an amount"},
        {"allow = [' ']", "line 1, column 10: ' ': a change has a PATTERN"},
        {"\nfail_if = []", "line 2, column 1: unknown key `fail_if`; there are fail-if, allow"},
        {"rename = 'a=b'", "line 1, column 10: `rename` is a table"},
        {"[rename]\nlibfoo.so = 'x'", "line 2, column 1: `libfoo`: a rename is"},
        {"[rename]\na = ''", "line 2, column 1: `a`: a rename is"},
        {"baseline = ''", "line 1, column 12: `baseline`"},
        {"baseline = \"a\\u0000b\"", "line 1, column 12: `baseline`"},
        {"last = -1", "line 1, column 8: `last`"},
        {"last = 1.0", "line 1, column 8: `last`"},
        {"strict = 'yes'", "line 1, column 10: `strict` is true or false"},
        {"fail-if total cpu +3%", "line 1, column 9: "},
        {"strict = true\nstrict = true", "line 2, column "},
        {"allow = [[[[[[[[[[[[[[[[[[[[[[[[\"x\"]]]]]]]]]]]]]]]]]]]]]]]]]]", "line 1, column "},
        {"allow = ['\xff']", "line 1, column "},
    };
    for (const Case& wrong : cases) {
      CAPTURE(wrong.text);
      const std::string problem = problem_of_gate(wrong.text);
      CHECK_MESSAGE(problem.starts_with(wrong.problem), problem);
    }
  }

  TEST_CASE("gate file: neither long files nor deep keys are read") {
    const std::string spaces(1U << 16U, ' ');
    CHECK(parse_gate_rules(spaces).has_value());
    const auto long_one = parse_gate_rules(spaces + " ");
    REQUIRE_FALSE(long_one.has_value());
    CHECK(long_one.error().code == ErrorCode::kLimit);
    std::string key = "\na";
    for (int i = 0; i < 100; ++i) {
      key += ".a";
    }
    CHECK(problem_of_gate(key + " = 1") ==
          "line 2, column 1: unknown key `a`; there are fail-if, "
          "allow, rename, baseline, last and strict");
    const auto deep = parse_gate_rules(key + ".a = 1");
    REQUIRE_FALSE(deep.has_value());
    CHECK(deep.error().code == ErrorCode::kLimit);
    CHECK(deep.error().offset == 202);
  }

  TEST_CASE("gate file: paths in it go from its folder") {
    CHECK(app::path_beside("ci/gate.toml", "base") == "ci/base");
    CHECK(app::path_beside("gate.toml", "base") == "base");
    CHECK(app::path_beside("-", "base") == "base");
  }
}

}  // namespace stackpack
