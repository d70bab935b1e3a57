#include "diff/discoveries.h"

#include <algorithm>
#include <vector>

namespace stackpack::diff {

namespace {

// The smallest k so that at most k tests can reach rate / k.
std::size_t testable(std::span<const TestedValue> tests, double rate) {
  std::vector<double> least;
  least.reserve(tests.size());
  for (const TestedValue& test : tests) {
    least.push_back(test.least_p);
  }
  std::sort(least.begin(), least.end());
  std::size_t k = 1;
  while (k < least.size() && least[k] <= rate / static_cast<double>(k)) {
    ++k;
  }
  return k;
}

}  // namespace

Discoveries discoveries_of(std::span<const TestedValue> tests, double rate) {
  Discoveries result;
  result.tests = testable(tests, rate);
  result.single_level = rate / static_cast<double>(result.tests);
  std::vector<double> values;
  for (const TestedValue& test : tests) {
    if (test.least_p <= result.single_level) {
      values.push_back(test.p);
    }
  }
  std::sort(values.begin(), values.end());
  for (std::size_t i = values.size(); i > 0; --i) {
    if (values[i - 1] <= static_cast<double>(i) * result.single_level) {
      result.found = i;
      break;
    }
  }
  result.level = result.single_level * static_cast<double>(std::max<std::size_t>(result.found, 1));
  return result;
}

}  // namespace stackpack::diff
