#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stackpack::spk {

/// Replaces the numbers of a column by their ranks among its distinct numbers, without sorting the
/// column: the numbers are looked up in a hash as they come, and only the distinct ones are sorted.
/// Keeps its memory between columns. Cost: about 2 ns a number where few are distinct.
class ValueRanks {
 public:
  /// `ranks[i]` becomes the rank of `value_of(i)`, i below `count` (less than 2^32).
  template <typename ValueOf>
  void rank(std::size_t count, const ValueOf& value_of, std::vector<std::uint32_t>& ranks) {
    values_.clear();
    slots_.assign(kFirstSlots, 0);
    ranks.resize(count);
    std::uint32_t* const out = ranks.data();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t value = value_of(i);
      out[i] = i > 0 && value == values_[out[i - 1]] ? out[i - 1] : number(value);
    }
    order_.resize(values_.size());
    rank_of_.resize(values_.size());
    for (std::uint32_t k = 0; k < order_.size(); ++k) {
      order_[k] = {values_[k], k};
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
  static constexpr std::size_t kFirstSlots = 256;

  [[nodiscard]] std::size_t home(std::uint64_t value) const {
    const std::uint64_t product = value * 0x9E3779B97F4A7C15;
    return static_cast<std::size_t>(product >> 32 ^ product) & (slots_.size() - 1);
  }

  // The number of a value in order of appearance.
  std::uint32_t number(std::uint64_t value) {
    std::size_t slot = home(value);
    for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
      if (values_[slots_[slot] - 1] == value) {
        return slots_[slot] - 1;
      }
    }
    values_.push_back(value);
    slots_[slot] = static_cast<std::uint32_t>(values_.size());
    if (2 * values_.size() > slots_.size()) {
      grow();
    }
    return static_cast<std::uint32_t>(values_.size() - 1);
  }

  void grow() {
    slots_.assign(2 * slots_.size(), 0);
    for (std::uint32_t k = 0; k < values_.size(); ++k) {
      std::size_t slot = home(values_[k]);
      while (slots_[slot] != 0) {
        slot = (slot + 1) & (slots_.size() - 1);
      }
      slots_[slot] = k + 1;
    }
  }

  std::vector<std::uint64_t> values_;  // by appearance; then ascending
  std::vector<std::uint32_t> slots_;   // number + 1; 0 = empty
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order_;
  std::vector<std::uint32_t> rank_of_;
};

}  // namespace stackpack::spk
