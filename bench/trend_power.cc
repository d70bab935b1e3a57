// How soon growth from commit to commit is found: trend_power [SERIES [SCATTER_PERCENT]]
//
// Series of 50 commits that each cost so many percent more than the one before, the median of their
// runs scattering by SCATTER_PERCENT (1). After each commit it is asked whether the whole has
// grown: as `stackpack trend` does, by a threshold of 5 % to the commit before, and by one to the
// median of the first five. A line by growth: how many series have found something after the last
// commit, and after how many commits half of those had. Without growth these are false alarms.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "diff/change_points.h"

namespace {

constexpr std::size_t kCommits = 50;
constexpr std::size_t kFirst = 5;
constexpr double kPercent = 100;
constexpr double kThreshold = 1.05;
constexpr double kMistakes = 0.01;

using Values = std::span<const double>;

bool grown_by_trend(Values values) {
  const auto points = stackpack::diff::change_points(values, kMistakes);
  return std::any_of(points.begin(), points.end(),
                     [](const auto& point) { return point.after > point.before; });
}

bool grown_to_the_one_before(Values values) {
  return values.size() > 1 && values.back() > kThreshold * values[values.size() - 2];
}

bool grown_to_the_first(Values values) {
  if (values.size() <= kFirst) {
    return false;
  }
  std::vector<double> first(values.begin(), values.begin() + kFirst);
  std::sort(first.begin(), first.end());
  return values.back() > kThreshold * first[kFirst / 2];
}

// After how many commits it is found; 0: never.
std::size_t found_after(Values values, bool (*grown)(Values)) {
  for (std::size_t count = 1; count <= values.size(); ++count) {
    if (grown(values.first(count))) {
      return count;
    }
  }
  return 0;
}

std::string text_of(std::vector<std::size_t> found) {
  const auto all = static_cast<double>(found.size());
  std::erase(found, std::size_t{0});
  std::sort(found.begin(), found.end());
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%5.1f %% %4zu",
                static_cast<double>(found.size()) / all * kPercent,
                found.empty() ? std::size_t{0} : found[found.size() / 2]);
  return text.data();
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t series = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 2000;
  const double scatter = (count > 2 ? std::strtod(arguments[2], nullptr) : 1) / kPercent;
  std::printf("%zu series of %zu commits, scatter %.1f %%: found by the last commit, and after\n",
              series, kCommits, scatter * kPercent);
  std::printf("growth   trend         5 %% to the one before   5 %% to the first five\n");
  for (const double growth : {0.0, 0.1, 0.2, 0.5, 1.0, 2.0}) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> noise(1, scatter);
    std::vector<std::vector<std::size_t>> found(3);
    for (std::size_t i = 0; i < series; ++i) {
      std::vector<double> values;
      for (std::size_t commit = 0; commit < kCommits; ++commit) {
        values.push_back(std::pow(1 + growth / kPercent, static_cast<double>(commit)) *
                         noise(random));
      }
      found[0].push_back(found_after(values, grown_by_trend));
      found[1].push_back(found_after(values, grown_to_the_one_before));
      found[2].push_back(found_after(values, grown_to_the_first));
    }
    std::printf("%4.1f %%   %s  %s            %s\n", growth, text_of(found[0]).c_str(),
                text_of(found[1]).c_str(), text_of(found[2]).c_str());
  }
  return 0;
}
