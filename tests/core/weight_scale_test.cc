#include "core/weight_scale.h"

#include <limits>
#include <string>

#include <doctest/doctest.h>

using namespace stackpack;
using core::DecimalWeight;

namespace {

std::string text_of(const DecimalWeight& weight) {
  return core::decimal_text(weight.digits, weight.decimals) + (weight.rounded ? " rounded" : "");
}

}  // namespace

TEST_CASE("weights: a double has the digits that were written") {
  struct Case {
    double value;
    int shift;
    unsigned most;
    std::string text;
  };
  for (const Case& one :
       {Case{0.25, 0, 9, "0.25"}, Case{3.5, 0, 9, "3.5"}, Case{1234567.0, 0, 9, "1234567"},
        Case{0.1, 0, 9, "0.1"}, Case{0.1, 6, 0, "100000"}, Case{1e-9, 0, 9, "0.000000001"},
        Case{1e-10, 0, 9, "0 rounded"}, Case{5e-10, 0, 9, "0.000000001 rounded"},
        Case{1.23456789012, 0, 9, "1.23456789 rounded"}, Case{2.5, 0, 0, "3 rounded"},
        Case{1e15, 0, 9, "1000000000000000"}, Case{1e300, 0, 9, "18446744073709551615 rounded"},
        Case{1e-300, 0, 9, "0 rounded"}, Case{0, 6, 9, "0"}, Case{-1, 0, 9, "0"},
        Case{std::numeric_limits<double>::infinity(), 0, 9, "18446744073709551615 rounded"}}) {
    CAPTURE(one.value);
    CHECK(text_of(core::decimal_of(one.value, one.shift, one.most)) == one.text);
  }
}

TEST_CASE("weights: texts are digits with one point") {
  for (const auto& [text, weight] : {std::pair<std::string, std::string>{"3.5", "3.5"},
                                     {"0.250", "0.25"},
                                     {"7", "7"},
                                     {"7.", "7"},
                                     {"18446744073709551615", "18446744073709551615"},
                                     {"1.0000000001", "1 rounded"},
                                     {"0.12345678901234567890123", "0.123456789 rounded"},
                                     {"18446744073709551615.5", "18446744073709551615 rounded"}}) {
    CAPTURE(text);
    const auto parsed = core::parse_decimal(text);
    REQUIRE(parsed.has_value());
    CHECK(text_of(*parsed) == weight);
  }
  for (const std::string text :
       {"", ".", ".5", "-1", "+1", "1e3", "0x1", "1.2.3", " 1", "nan", "18446744073709551616"}) {
    CAPTURE(text);
    CHECK(!core::parse_decimal(text));
  }
}

TEST_CASE("weights: units of scaled numbers come back") {
  CHECK(core::scaled_unit("bytes", 0) == "bytes");
  CHECK(core::scaled_unit("bytes", 2) == "bytes*10^-2");
  for (const std::string unit : {"", "ns", "a*10^-3", "*10^-0", "x*10^-12", "x*10^-", "10^-2"}) {
    CAPTURE(unit);
    for (const unsigned decimals : {1U, 9U}) {
      const std::string scaled = core::scaled_unit(unit, decimals);
      CHECK(core::parse_unit(scaled).unit == unit);
      CHECK(core::parse_unit(scaled).decimals == decimals);
    }
  }
  for (const std::string unit : {"", "ns", "*10^-0", "x*10^-12", "x*10^-", "10^-2"}) {
    CHECK(core::parse_unit(unit).unit == unit);
    CHECK(core::parse_unit(unit).decimals == 0);
  }
}
