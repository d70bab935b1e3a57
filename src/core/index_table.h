// The one hash table of the project: from a value to the index of an element that the caller keeps.
// Whatever gives values dense numbers, or keeps something for each value, is made of it. (What has
// other needs has its own page: NodeMap and PathSearch, which are probed side by side, SpillTable,
// which lies in a file, and the caches of docs/caches.md, which forget.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stackpack::core {

/// A good spread of the bits of `value` (finalizer of splitmix64).
constexpr std::uint64_t mix_bits(std::uint64_t value) {
  value ^= value >> 30;
  value *= 0xBF58476D1CE4E5B9;
  value ^= value >> 27;
  value *= 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

/// One multiplication: enough for values that differ in their low bits, as ids and addresses do.
constexpr std::uint64_t spread_bits(std::uint64_t value) {
  const std::uint64_t product = value * 0x9E3779B97F4A7C15;
  return product >> 32 ^ product;
}

/// Open addressing from hashes to indexes of a vector which the caller owns: the table keeps no
/// keys, the caller compares. Linear probing, at most half full, nothing is ever erased.
///
/// Memory: 8 to 16 bytes an index, none before the first one.
class IndexTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// The index whose element `matches(index)`, or kNone.
  template <typename Matches>
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, const Matches& matches) const {
    if (slots_.empty()) {
      return kNone;
    }
    return slots_[slot_of(hash, matches)];
  }

  /// Asks for the memory where a hash is looked for first.
  void prefetch(std::uint64_t hash) const {
    if (!slots_.empty()) {
      __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
    }
  }

  /// The index that is compared first, or kNone: what is likely to be found.
  [[nodiscard]] std::uint32_t first_for(std::uint64_t hash) const {
    return slots_.empty() ? kNone : slots_[hash & (slots_.size() - 1)];
  }

  /// Adds an index that is not there. `hash_of(index)` is asked for the others when it grows.
  template <typename HashOf>
  void insert(std::uint64_t hash, std::uint32_t index, const HashOf& hash_of) {
    make_room(hash_of);
    place(hash, index);
    ++count_;
  }

  /// The index whose element `matches(index)`; when there is none, `fresh`, which is added: the
  /// caller appends the element then.
  template <typename Matches, typename HashOf>
  std::uint32_t find_or_insert(std::uint64_t hash, std::uint32_t fresh, const Matches& matches,
                               const HashOf& hash_of) {
    make_room(hash_of);
    std::uint32_t& slot = slots_[slot_of(hash, matches)];
    if (slot == kNone) {
      slot = fresh;
      ++count_;
    }
    return slot;
  }

  [[nodiscard]] std::size_t size() const { return count_; }

  /// Whether the next index makes it grow.
  [[nodiscard]] bool full() const { return (count_ + 1) * 2 > slots_.size(); }
  [[nodiscard]] std::size_t slot_count() const { return slots_.size(); }
  /// Slots that it has after it has grown.
  [[nodiscard]] std::size_t next_slot_count() const {
    return slots_.empty() ? kFirstSize : slots_.size() * 2;
  }

  /// Doubles the room.
  template <typename HashOf>
  void grow(const HashOf& hash_of) {
    std::vector<std::uint32_t> old(next_slot_count(), kNone);
    old.swap(slots_);
    for (const std::uint32_t other : old) {
      if (other != kNone) {
        place(hash_of(other), other);
      }
    }
  }

  /// Forgets all, and keeps the room of the first ones only.
  void clear() {
    if (!slots_.empty()) {
      slots_.assign(kFirstSize, kNone);
      count_ = 0;
    }
  }

  /// The same, and gives its memory back.
  void release() {
    slots_ = {};
    count_ = 0;
  }

 private:
  static constexpr std::size_t kFirstSize = 256;

  template <typename HashOf>
  void make_room(const HashOf& hash_of) {
    if (full()) {
      grow(hash_of);
    }
  }

  // The slot of the element, or the free one where it would go.
  template <typename Matches>
  [[nodiscard]] std::size_t slot_of(std::uint64_t hash, const Matches& matches) const {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != kNone && !matches(slots_[at])) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }

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

}  // namespace stackpack::core
