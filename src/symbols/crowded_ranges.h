#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "capture/interval_lists.h"

namespace stackpack::symbols {

/// Ranges of which many have the same addresses: finds the one that is wanted of those that have an
/// address, without a look at each. Each has a key, which is for the user to choose.
///
/// Time: the square of the logarithm. Memory: some 32 bytes per range, and four for each of at most
/// 2 log n places in lists.
class CrowdedRanges {
 public:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  ///< not one of its addresses; above `begin`
    std::uint64_t key = 0;
    std::size_t place = 0;  ///< what is found
  };

  explicit CrowdedRanges(std::vector<Range> ranges);

  /// Of the ranges that have `address` and keys up to `key`, the last one of the highest key.
  [[nodiscard]] std::optional<Range> last_until(std::uint64_t address, std::uint64_t key) const;
  /// Of the ranges that have `address`, the first one of the lowest key.
  [[nodiscard]] std::optional<Range> first(std::uint64_t address) const;

 private:
  std::vector<Range> ranges_;  // by key, then place
  capture::IntervalLists lists_;
};

}  // namespace stackpack::symbols
