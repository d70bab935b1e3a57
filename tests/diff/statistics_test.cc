#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "diff/share_test.h"
#include "diff/significance.h"
#include "support/source_folder.h"

namespace stackpack::test {
namespace {

using diff::Interval;
using diff::Portion;

// What scipy says: a name, arguments and results, by statistics_reference.py.
struct Expected {
  std::string name;
  std::vector<double> values;
};

std::vector<Expected> reference() {
  std::vector<Expected> rows;
  std::ifstream file(source_folder() + "/tests/diff/statistics_reference.tsv");
  std::string line;
  while (std::getline(file, line)) {
    Expected row;
    std::size_t at = line.find('\t');
    row.name = line.substr(0, at);
    while (at != std::string::npos) {
      row.values.push_back(std::strtod(line.c_str() + at + 1, nullptr));
      at = line.find('\t', at + 1);
    }
    rows.push_back(row);
  }
  return rows;
}

bool near(double value, double expected, double precision = 1e-7) {
  return value == expected || std::abs(value - expected) <= precision * std::abs(expected);
}

// Whether src/diff says the same.
bool agrees(const Expected& row) {
  const std::vector<double>& v = row.values;
  if (row.name == "digamma") {
    return near(diff::digamma(v[0]), v[1], 1e-10);
  }
  if (row.name == "trigamma") {
    return near(diff::trigamma(v[0]), v[1], 1e-10) &&
           near(diff::inverse_trigamma(v[1]), v[0], 1e-9);
  }
  if (row.name == "upper_tail") {
    return near(diff::upper_tail(v[0], v[1]), v[2], 1e-9);
  }
  if (row.name == "upper_quantile") {
    return near(diff::upper_quantile(v[0], v[1]), v[2], 1e-9);
  }
  if (row.name == "signed_root") {
    return near(diff::signed_root({v[0], v[1]}, {v[2], v[3]}), v[4]);
  }
  if (row.name == "difference" || row.name == "ratio") {
    const Portion from{v[0], v[1]};
    const Portion to{v[2], v[3]};
    const Interval found = row.name == "ratio" ? diff::ratio_interval(from, to, v[4])
                                               : diff::difference_interval(from, to, v[4]);
    return near(found.low, v[5], 1e-5) && near(found.high, v[6], 1e-5);
  }
  if (row.name == "least_growth") {
    return near(diff::least_growth({v[0], v[1]}, v[2], v[3]), v[4]);
  }
  if (row.name == "prior") {
    std::vector<diff::Scatter> scatters;
    const auto count = static_cast<std::size_t>(v[0]);
    for (std::size_t i = 0; i < count; ++i) {
      scatters.push_back({v[1 + 2 * i], v[2 + 2 * i]});
    }
    const diff::OverdispersionPrior prior = diff::prior_of(scatters);
    return near(prior.factor, v[1 + 2 * count]) && near(prior.freedom, v[2 + 2 * count]);
  }
  if (row.name == "discoveries") {
    std::vector<diff::TestedValue> tests;
    for (std::size_t i = 0; i < static_cast<std::size_t>(v[1]); ++i) {
      tests.push_back({v[2 + i], 0});
    }
    return diff::discoveries_of(tests, v[0]).found == static_cast<std::size_t>(v.back());
  }
  return false;
}

TEST_SUITE("statistics of comparisons") {
  TEST_CASE("comparisons: what scipy says") {
    const std::vector<Expected> rows = reference();
    CHECK(rows.size() > 140);
    for (const Expected& row : rows) {
      CAPTURE(row.name);
      CAPTURE(row.values);
      CHECK(agrees(row));
    }
  }

  TEST_CASE("comparisons: a bound is where the test changes its mind") {
    const Portion from{40, 2000};
    const Portion to{75, 1900};
    const double root = diff::signed_root(from, to);
    const Interval at = diff::difference_interval(from, to, root);
    CHECK(std::abs(at.low) < 1e-9);
    CHECK(diff::difference_interval(from, to, root * 1.01).low < 0);
    CHECK(diff::difference_interval(from, to, root * 0.99).low > 0);
    CHECK(std::abs(diff::ratio_interval(from, to, root).low - 1) < 1e-9);
  }

  TEST_CASE("comparisons: nothing on a side, and all of it") {
    const Interval appeared = diff::difference_interval({0, 1000}, {20, 1000}, 3);
    CHECK(appeared.low > 0);
    CHECK(appeared.high < 0.1);
    CHECK(std::isinf(diff::ratio_interval({0, 1000}, {20, 1000}, 3).high));
    CHECK(diff::ratio_interval({0, 1000}, {20, 1000}, 3).low > 1);
    CHECK(diff::ratio_interval({20, 1000}, {0, 1000}, 3).low == 0);
    const Interval all = diff::difference_interval({1000, 1000}, {1000, 1000}, 3);
    CHECK(all.low < 0);
    CHECK(all.high > 0);
    CHECK(diff::signed_root({1000, 1000}, {1000, 1000}) == 0);
    const Interval none = diff::difference_interval({0, 1000}, {0, 1000}, 3);
    CHECK(none.low < 0);
    CHECK(none.high > 0);
    CHECK(diff::least_growth({1000, 1000}, 1000, 3) == 1);
  }

  TEST_CASE("comparisons: tests without a chance are left out, and do not weigh on the others") {
    std::vector<diff::TestedValue> tests(1000, {0.9, 0.2});
    tests.push_back({0.004, 1e-9});
    const diff::Discoveries found = diff::discoveries_of(tests, 0.01);
    CHECK(found.tests == 1);
    CHECK(found.found == 1);
    CHECK(found.level == doctest::Approx(0.01));
    CHECK(diff::discoveries_of({}, 0.01).found == 0);
    // Two that could reach the level of one, of which one could reach that of two.
    const std::vector<diff::TestedValue> few{{0.9, 1e-4}, {0.9, 4e-3}, {0.9, 8e-3}, {0.9, 9e-3}};
    CHECK(diff::discoveries_of(few, 0.01).tests == 2);
  }

  TEST_CASE("comparisons: scatter of few runs is drawn towards that of all, and is never below 1") {
    const diff::OverdispersionPrior prior{2, 10};
    const diff::Overdispersion own = diff::moderated({30, 5}, prior);
    CHECK(own.factor == doctest::Approx(40.0 / 10));
    CHECK(own.freedom == 10);
    CHECK(diff::moderated({30, 5}, {2, 3}).factor == doctest::Approx(36.0 / 8));
    CHECK(diff::moderated({30, 5}, {2, diff::kInfiniteFreedom}).freedom == 10);
    CHECK(diff::moderated({}, {2, 7}).freedom == 7);
    CHECK(diff::moderated({0, 5}, {0.5, 10}).factor == 1);
    const std::vector<diff::Scatter> few(2, {6, 2});
    CHECK(diff::prior_of(few).factor == doctest::Approx(3));
    CHECK(diff::prior_of({}).factor == 1);
  }
}

}  // namespace
}  // namespace stackpack::test
