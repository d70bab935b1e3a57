#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace stackpack::core {

/// Sorts rows, ascending by `number_of(row)`, a std::uint64_t; equal ones stay as they are.
/// `scratch` is replaced.
///
/// A radix sort over the bits in which the numbers differ: fields of few bits in one number take as
/// many passes as their bits need, gaps between them none. Cost: 2 to 3 ns a number and pass of 11
/// bits; it needs less than 2^32 rows.
template <typename Row, typename NumberOf>
void radix_sort(std::vector<Row>& rows, std::vector<Row>& scratch, const NumberOf& number_of) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  std::uint64_t differing = 0;
  for (const Row& row : rows) {
    differing |= number_of(row) ^ number_of(rows.front());
  }
  scratch.resize(rows.size());
  while (differing != 0) {
    const auto shift = static_cast<unsigned>(std::countr_zero(differing));
    differing &= ~((std::uint64_t{kBuckets} - 1) << shift);
    std::array<std::uint32_t, kBuckets> next{};
    for (const Row& row : rows) {
      ++next[(number_of(row) >> shift) & (kBuckets - 1)];
    }
    std::exclusive_scan(next.begin(), next.end(), next.begin(), 0U);
    for (const Row& row : rows) {
      scratch[next[(number_of(row) >> shift) & (kBuckets - 1)]++] = row;
    }
    rows.swap(scratch);
  }
}

inline void sort_numbers(std::vector<std::uint64_t>& numbers, std::vector<std::uint64_t>& scratch) {
  radix_sort(numbers, scratch, [](std::uint64_t number) { return number; });
}

/// What a row is ordered by, and which row it is.
struct OrderKey {
  std::uint64_t value;
  std::uint32_t index;
};

/// Sorts `keys` by value. Values near each other, such as times or addresses, take a few passes
/// wherever they are: it is their distances from the lowest one that are compared.
inline void sort_by_value(std::vector<OrderKey>& keys, std::vector<OrderKey>& scratch) {
  std::uint64_t lowest = ~std::uint64_t{0};
  for (const OrderKey& key : keys) {
    lowest = std::min(lowest, key.value);
  }
  radix_sort(keys, scratch, [lowest](const OrderKey& key) { return key.value - lowest; });
}

}  // namespace stackpack::core
