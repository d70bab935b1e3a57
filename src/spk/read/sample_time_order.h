#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spk/format/sample_block.h"

namespace stackpack::spk {

/// Samples in groups, one after the other.
struct GroupedTimes {
  std::span<const std::uint64_t> times;  ///< per stored position
  std::span<const std::size_t> begin;    ///< per group and one past: stored position
  std::uint64_t first = 0;               ///< the earliest time
  std::uint64_t last = 0;                ///< the latest time
  bool ascending = false;                ///< in each group
};

/// Finds the order of the capture from the times of groups and the column of corrections.
/// Keeps its scratch between calls. Threads: one at a time.
class SampleTimeOrder {
 public:
  /// `corrections`: per sample, below the number of groups; none when all are 0. Into `stored`
  /// (replaced): per sample, in the order of the capture, its stored position.
  /// False: the corrections take a sample from a group that has none left.
  [[nodiscard]] bool find(const GroupedTimes& grouped, std::span<const std::uint32_t> corrections,
                          std::vector<std::uint32_t>& stored);

 private:
  [[nodiscard]] bool sort_by_time(const GroupedTimes& grouped, std::vector<std::uint32_t>& stored);
  [[nodiscard]] static bool merge(const GroupedTimes& grouped,
                                  std::span<const std::uint32_t> corrections,
                                  std::vector<std::uint32_t>& stored);

  std::vector<std::uint32_t> next_;  // per bucket of times
};

}  // namespace stackpack::spk
