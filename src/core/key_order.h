#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace stackpack::core {

/// What a row is ordered by, and which row it is.
struct OrderKey {
  std::uint64_t value;
  std::uint32_t index;
};

/// Sorts `keys` by value; equal ones stay as they are. `scratch` is replaced.
///
/// A radix sort over the bits in which the values differ: values near each other, such as times or
/// addresses, take a few passes, equal ones none.
inline void sort_by_value(std::vector<OrderKey>& keys, std::vector<OrderKey>& scratch) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  std::uint64_t lowest = ~std::uint64_t{0};
  std::uint64_t highest = 0;
  for (const OrderKey& key : keys) {
    lowest = std::min(lowest, key.value);
    highest = std::max(highest, key.value);
  }
  scratch.resize(keys.size());
  const std::uint64_t span = keys.empty() ? 0 : highest - lowest;
  for (unsigned shift = 0; shift < 64 && (span >> shift) != 0; shift += kBits) {
    std::array<std::uint32_t, kBuckets> next{};
    const auto bucket_of = [&](const OrderKey& key) {
      return ((key.value - lowest) >> shift) & (kBuckets - 1);
    };
    for (const OrderKey& key : keys) {
      ++next[bucket_of(key)];
    }
    std::exclusive_scan(next.begin(), next.end(), next.begin(), 0U);
    for (const OrderKey& key : keys) {
      scratch[next[bucket_of(key)]++] = key;
    }
    keys.swap(scratch);
  }
}

}  // namespace stackpack::core
