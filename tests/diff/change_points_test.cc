#include "diff/change_points.h"

#include <cstddef>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace stackpack::test {
namespace {

std::vector<double> noise(std::size_t count, double level, double deviation, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(level, deviation);
  std::vector<double> values(count);
  for (double& value : values) {
    value = normal(random);
  }
  return values;
}

std::vector<double> joined(std::vector<double> first, const std::vector<double>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

TEST_CASE("change points: a step is found at its place, and back") {
  const auto values =
      joined(joined(noise(20, 100, 1, 1), noise(15, 110, 1, 2)), noise(15, 103, 1, 3));
  const auto points = diff::change_points(values, 0.001);
  REQUIRE(points.size() == 2);
  CHECK(points[0].index == 20);
  CHECK(points[0].before == doctest::Approx(100).epsilon(0.01));
  CHECK(points[0].after == doctest::Approx(110).epsilon(0.01));
  CHECK(points[1].index == 35);
  CHECK(points[1].after == doctest::Approx(103).epsilon(0.01));
}

TEST_CASE("change points: an unchanged series has one as often as its level says") {
  constexpr int kSeries = 4000;
  constexpr double kLevel = 0.01;
  int alarms = 0;
  for (unsigned seed = 0; seed < kSeries; ++seed) {
    alarms += diff::change_points(noise(30, 1e6, 10, seed), kLevel).empty() ? 0 : 1;
  }
  CHECK(alarms <= kSeries * kLevel);
  CHECK(alarms >= 2);  // it is a test, and not deaf
}

TEST_CASE("change points: one value is no new level") {
  auto values = noise(40, 100, 1, 7);
  for (const std::size_t at : {std::size_t{0}, std::size_t{20}, std::size_t{38}, std::size_t{39}}) {
    auto disturbed = values;
    disturbed[at] = 200;
    CHECK(diff::change_points(disturbed, 0.01).empty());
  }
  values[38] = 110;
  values[39] = 111;
  REQUIRE(diff::change_points(values, 0.01).size() == 1);
  CHECK(diff::change_points(values, 0.01).front().index == 38);
}

TEST_CASE("change points: counters that do not vary") {
  const std::vector<double> constant(10, 0.1);
  CHECK(diff::change_points(constant, 0.5).empty());
  std::vector<double> stepped(10, 1e15);
  for (std::size_t i = 6; i < stepped.size(); ++i) {
    stepped[i] += 1e6;
  }
  const auto points = diff::change_points(stepped, 1e-9);
  REQUIRE(points.size() == 1);
  CHECK(points.front().index == 6);
  CHECK(points.front().p == 0);
}

TEST_CASE("change points: a few values have none") {
  CHECK_FALSE(diff::surest_level(std::vector<double>{1, 1, 9}).has_value());
  CHECK_FALSE(diff::surest_level(std::vector<double>{}).has_value());
  CHECK(diff::change_points(std::vector<double>{1, 1, 9}, 1).empty());
  CHECK(diff::surest_level(std::vector<double>{1, 1.1, 9, 9.1})->begin == 2);
}

TEST_CASE("change points: a level that goes back to what it was is found with both its ends") {
  const auto values = joined(joined(noise(12, 40, 2, 4), noise(14, 47, 2, 5)), noise(12, 40, 2, 6));
  const auto points = diff::change_points(values, 0.001);
  REQUIRE(points.size() == 2);
  CHECK(points[0].index == 12);
  CHECK(points[1].index == 26);
  CHECK(points[1].after == doctest::Approx(40).epsilon(0.05));
}

}  // namespace stackpack::test
