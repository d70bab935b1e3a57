#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "dag/frame_word.h"

namespace stackpack::dag {

/// Estimates how many distinct frames there were, in one kibibyte (HyperLogLog).
///
/// The memory that freeze() will want depends on that number, and the builder, which has no frame
/// dictionary, must know it before it is too late. Standard error 3 %; estimate() adds 10 %.
class DistinctEstimate {
 public:
  void add(FrameWord word) {
    // murmur3's finalizer: the registers need every bit of the hash to be fair.
    std::uint64_t hash = word;
    hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdULL;
    hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    hash ^= hash >> 33;
    const auto rank = static_cast<std::uint8_t>(std::countl_zero(hash << kIndexBits | 1) + 1);
    std::uint8_t& best = registers_[hash >> (64 - kIndexBits)];
    best = std::max(best, rank);
  }

  /// An upper bound in all likelihood, given that `total` frames were added; never above `total`.
  [[nodiscard]] std::uint64_t estimate(std::uint64_t total) const {
    double sum = 0;
    unsigned zeros = 0;
    for (const std::uint8_t best : registers_) {
      sum += std::ldexp(1.0, -best);
      zeros += best == 0 ? 1 : 0;
    }
    constexpr double kCount = kRegisters;
    double distinct = 0.7213 / (1 + 1.079 / kCount) * kCount * kCount / sum;
    if (distinct < 2.5 * kCount && zeros > 0) {
      distinct = kCount * std::log(kCount / zeros);  // few frames: count the registers hit
    }
    return std::min(total, static_cast<std::uint64_t>(distinct * 1.1) + 16);
  }

 private:
  static constexpr unsigned kIndexBits = 10;
  static constexpr unsigned kRegisters = 1U << kIndexBits;
  std::array<std::uint8_t, kRegisters> registers_{};
};

}  // namespace stackpack::dag
