// Events added up by a name: by type, message, function or file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/sort_rows.h"

namespace stackpack::app {

struct ValueSum {
  std::string name;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ns = 0;       ///< in all, of those that have a duration
  std::uint64_t most_ns = 0;  ///< the longest of them
};

/// Sums by name.
class ValueSums {
 public:
  ValueSum& of(const std::string& name) {
    ValueSum& sum = sums_[name];
    sum.name = name;
    return sum;
  }

  /// The largest by `measure(const ValueSum&)`, equal ones by name; `limit` of them, 0: all.
  template <typename Measure>
  [[nodiscard]] std::vector<ValueSum> largest(std::size_t limit, const Measure& measure) const {
    std::vector<ValueSum> rows;
    for (const auto& [name, sum] : sums_) {
      rows.push_back(sum);
    }
    core::sort_rows(
        rows, [&measure](const ValueSum& a, const ValueSum& b) { return measure(a) > measure(b); });
    if (limit != 0 && rows.size() > limit) {
      rows.resize(limit);
    }
    return rows;
  }

  [[nodiscard]] std::size_t size() const { return sums_.size(); }

 private:
  std::map<std::string, ValueSum> sums_;
};

}  // namespace stackpack::app
