#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stackpack::etl {

/// A good spread of the bits of `value` (finalizer of splitmix64).
constexpr std::uint64_t mix_bits(std::uint64_t value) {
  value ^= value >> 30;
  value *= 0xBF58476D1CE4E5B9;
  value ^= value >> 27;
  value *= 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

/// Open addressing from hashes to indexes of a vector which the caller owns: the table keeps no
/// keys, the caller compares. Linear probing, at most half full, nothing is ever erased.
class IndexTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  IndexTable() : slots_(kFirstSize, kNone) {}

  /// The index whose element `matches(index)`, or kNone.
  template <typename Matches>
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, Matches matches) const {
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == kNone || matches(slots_[at])) {
        return slots_[at];
      }
    }
  }

  /// Adds an index that is not there. `hash_of(index)` is asked for the others when it grows.
  template <typename HashOf>
  void insert(std::uint64_t hash, std::uint32_t index, HashOf hash_of) {
    if ((count_ + 1) * 2 > slots_.size()) {
      const std::vector<std::uint32_t> old = std::move(slots_);
      slots_.assign(old.size() * 2, kNone);
      for (const std::uint32_t other : old) {
        if (other != kNone) {
          place(hash_of(other), other);
        }
      }
    }
    place(hash, index);
    ++count_;
  }

  void clear() {
    slots_.assign(kFirstSize, kNone);
    count_ = 0;
  }

 private:
  static constexpr std::size_t kFirstSize = 256;

  void place(std::uint64_t hash, std::uint32_t index) {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != kNone) {
      at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at] = index;
  }

  std::vector<std::uint32_t> slots_;
  std::size_t count_ = 0;
};

}  // namespace stackpack::etl
