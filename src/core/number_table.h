#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/index_table.h"

namespace stackpack::core {

/// The hash of a number for NumberTable.
struct SpreadBits {
  std::uint64_t operator()(std::uint64_t value) const { return spread_bits(value); }
};

/// Distinct values, numbered densely in the order of their arrival.
///
/// `Hash` gives 64 bits of which the low ones are spread well. Memory: the values, and 8 to 16
/// bytes each.
template <typename Value, typename Hash = SpreadBits>
class NumberTable {
 public:
  static constexpr std::uint32_t kNone = IndexTable::kNone;

  /// The number of a value, or kNone.
  [[nodiscard]] std::uint32_t find(const Value& value) const {
    return index_.find(Hash()(value), [&](std::uint32_t i) { return values_[i] == value; });
  }

  /// The number of a value, which is added when it is new: size() is one more then.
  std::uint32_t number(const Value& value) {
    const std::uint32_t number = index_.find_or_insert(
        Hash()(value), static_cast<std::uint32_t>(values_.size()),
        [&](std::uint32_t i) { return values_[i] == value; },
        [this](std::uint32_t i) { return Hash()(values_[i]); });
    if (number == values_.size()) {
      values_.push_back(value);
    }
    return number;
  }

  [[nodiscard]] const Value& operator[](std::uint32_t number) const { return values_[number]; }
  /// By number. Valid until a value is added.
  [[nodiscard]] std::span<const Value> values() const { return values_; }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] bool empty() const { return values_.empty(); }

  /// Forgets all values, and keeps the room that they had.
  void clear() {
    values_.clear();
    index_.clear();
  }

  /// Forgets all values and gives the memory back.
  void release() {
    values_ = {};
    index_.release();
  }

 private:
  std::vector<Value> values_;
  IndexTable index_;
};

}  // namespace stackpack::core
