#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/number_table.h"

namespace stackpack::spk {

/// Replaces the numbers of a column by their ranks among its distinct numbers, without sorting the
/// column: the numbers are looked up in a hash as they come, and only the distinct ones are sorted.
/// Keeps its memory between columns. Cost: about 2 ns a number where few are distinct.
class ValueRanks {
 public:
  /// `ranks[i]` becomes the rank of `value_of(i)`, i below `count` (less than 2^32).
  template <typename ValueOf>
  void rank(std::size_t count, const ValueOf& value_of, std::vector<std::uint32_t>& ranks) {
    numbers_.clear();
    ranks.resize(count);
    std::uint32_t* const out = ranks.data();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t value = value_of(i);
      out[i] = i > 0 && value == numbers_[out[i - 1]] ? out[i - 1] : numbers_.number(value);
    }
    order_.resize(numbers_.size());
    rank_of_.resize(numbers_.size());
    values_.resize(numbers_.size());
    for (std::uint32_t k = 0; k < order_.size(); ++k) {
      order_[k] = {numbers_[k], k};
    }
    std::sort(order_.begin(), order_.end());
    for (std::uint32_t rank = 0; rank < order_.size(); ++rank) {
      values_[rank] = order_[rank].first;
      rank_of_[order_[rank].second] = rank;
    }
    const std::uint32_t* const rank_of = rank_of_.data();
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = rank_of[out[i]];
    }
  }

  /// The distinct numbers of the latest column, ascending. Valid until the next one.
  [[nodiscard]] std::span<const std::uint64_t> values() const { return values_; }

 private:
  core::NumberTable<std::uint64_t> numbers_;  // by appearance
  std::vector<std::uint64_t> values_;         // ascending
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order_;
  std::vector<std::uint32_t> rank_of_;
};

}  // namespace stackpack::spk
