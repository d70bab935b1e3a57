// A hash table in a SpillSpace.
//
// Open addressing with linear probing. The place of an entry is given by the high bits of its hash,
// so that a table of twice the size has the entries in the same order: growing reads the old pages
// and writes the new ones one after the other, however few of them are in memory.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "scratch/spill_records.h"
#include "scratch/spill_space.h"

namespace stackpack::scratch {

/// A set of entries with different keys.
///
/// Entry: as a SpillArray wants it, with `bool used() const` (false when it is all zeros),
/// `std::uint64_t hash() const` (all bits of which are good, of the key alone) and
/// `bool same_key(const Entry&) const`.
template <typename Entry>
class SpillTable {
 public:
  /// `space` must outlive this.
  explicit SpillTable(SpillSpace& space) : entries_(space) {}

  /// The entry with the key of `like`; one that is not used when there is none.
  [[nodiscard]] Entry find(const Entry& like) const { return entries_.get(place_of(like)); }

  /// Adds the entry, or puts it in the place of the one with the same key. True: added.
  bool put(const Entry& entry) {
    const std::uint64_t place = place_of(entry);
    const bool added = !entries_.get(place).used();
    entries_.set(place, entry);
    if (added && ++count_ * 8 > slots() * 5) {
      grow();
    }
    return added;
  }

  /// Removes the entry with the key of `like`, and returns it.
  Entry take(const Entry& like) {
    std::uint64_t hole = place_of(like);
    const Entry taken = entries_.get(hole);
    if (!taken.used()) {
      return taken;
    }
    // Those after it that could not have their own place move up.
    for (std::uint64_t at = next(hole);; at = next(at)) {
      const Entry entry = entries_.get(at);
      if (!entry.used()) {
        break;
      }
      if (distance(home(entry), at) >= distance(hole, at)) {
        entries_.set(hole, entry);
        hole = at;
      }
    }
    entries_.set(hole, Entry{});
    --count_;
    return taken;
  }

  [[nodiscard]] std::uint64_t size() const { return count_; }

 private:
  static constexpr std::size_t kPerPage = SpillArray<Entry>::kPerPage;

  [[nodiscard]] std::uint64_t slots() const { return std::uint64_t{1} << bits_; }
  [[nodiscard]] std::uint64_t home(const Entry& entry) const {
    return entry.hash() >> (64 - bits_);
  }
  [[nodiscard]] std::uint64_t next(std::uint64_t place) const {
    return (place + 1) & (slots() - 1);
  }
  [[nodiscard]] std::uint64_t distance(std::uint64_t from, std::uint64_t to) const {
    return (to - from) & (slots() - 1);
  }

  // Where the entry with that key is, or would be.
  [[nodiscard]] std::uint64_t place_of(const Entry& like) const {
    for (std::uint64_t at = home(like);; at = next(at)) {
      const Entry entry = entries_.get(at);
      if (!entry.used() || entry.same_key(like)) {
        return at;
      }
    }
  }

  void grow() {
    SpillArray<Entry> old = std::exchange(entries_, SpillArray<Entry>(entries_.space()));
    const std::uint64_t old_slots = slots();
    ++bits_;
    std::array<Entry, kPerPage> page;
    for (std::uint64_t first = 0; first < old_slots; first += kPerPage) {
      for (std::uint64_t i = 0; i < kPerPage; ++i) {
        page[i] = old.get(first + i);
      }
      old.give_back_page_of(first);
      for (const Entry& entry : page) {
        if (entry.used()) {
          entries_.set(place_of(entry), entry);
        }
      }
    }
  }

  SpillArray<Entry> entries_;
  unsigned bits_ = std::bit_width(kPerPage) - 1;  // of the number of slots: a page at first
  std::uint64_t count_ = 0;
};

/// Byte strings of any length in a SpillSpace, each in a chain of blocks.
class SpillChains {
 public:
  /// `space` must outlive this.
  explicit SpillChains(SpillSpace& space) : blocks_(space) {}

  /// The number of a chain with these bytes: 0 for no bytes. The length is for the caller to keep.
  std::uint32_t add(std::span<const std::byte> bytes);

  /// The bytes of a chain, which are as many as `into`.
  void read(std::uint32_t chain, std::span<std::byte> into) const;

  void remove(std::uint32_t chain);

 private:
  struct Block {
    std::uint32_t next = 0;
    std::array<std::byte, 124> bytes{};
  };

  SpillRecords<Block> blocks_;
};

}  // namespace stackpack::scratch
