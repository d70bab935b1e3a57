// Call chains that came lately, in the source's own form.
//
// Most samples repeat a chain that came before, of this thread or another one. A chain that is
// found here need not be decoded, handed over or interned again: what it costs is a hash of its
// bytes and a comparison with those kept. Bytes decide, never the hash alone.
//
// Where chains are new as a rule, keeping them costs more than it saves. So the share of chains
// that were found is watched, and below one in eight the cache rests for a while.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/callstack_sink.h"
#include "io/growable_block.h"

namespace stackpack::capture {

/// Memory: kBytes and 16 bytes per slot; nothing until there is a chain. Bytes are touched as they
///         are needed.
class RecentChains {
 public:
  static constexpr std::uint32_t kSlots = StackMemo::kSlots;
  static constexpr std::size_t kBytes = std::size_t{4} << 20;  ///< of all chains that are kept
  static constexpr std::size_t kLongest = 4096;                ///< bytes; longer ones are not kept

  /// Looks for the chain of the 8-byte words `chain`. `reading` is what else its frames depend on:
  /// chains of other readings are others.
  /// known: it is the one which was kept last in this slot. Otherwise the slot is the chain's to
  /// keep() in, or kNone.
  StackMemo find(std::span<const std::byte> chain, std::uint8_t reading);

  /// For sources that have several chains before they need an answer: prepare() each, fetch() each,
  /// then find() each with what prepare() returned, so that what the search needs comes from memory
  /// meanwhile. The answer is the same.
  [[nodiscard]] std::uint64_t prepare(std::span<const std::byte> chain, std::uint8_t reading) const;
  void fetch(std::uint64_t prepared) const;
  StackMemo find(std::span<const std::byte> chain, std::uint8_t reading, std::uint64_t prepared);

  /// Keeps the chain for which find() gave a slot just now, with one fact to remember.
  void keep(std::span<const std::byte> chain, std::uint8_t reading, StackMemo memo, bool fact);

  /// The fact that was kept with a known chain.
  [[nodiscard]] bool fact(StackMemo memo) { return entry(memo.slot).fact; }

 private:
  struct Entry {
    std::uint64_t position = 0;  // of its first byte, counted over all that was ever kept
    std::uint32_t tag = 0;       // from the hash; most chains that are not there end here
    std::uint16_t words = 0;     // 0: empty
    std::uint8_t reading = 0;
    bool fact = false;
  };
  static constexpr std::uint32_t kWays = 4;
  struct alignas(64) Set {  // one cache line
    std::array<Entry, kWays> entries;
  };
  static constexpr std::uint32_t kSets = kSlots / kWays;
  static constexpr std::uint32_t kWindow = 4096;        // chains after which the share is looked at
  static constexpr std::uint32_t kRest = 16 * kWindow;  // chains that it rests

  static std::uint32_t set_of(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> 32) % kSets;
  }
  static bool may_keep(std::span<const std::byte> chain) {
    return !chain.empty() && chain.size() <= kLongest;
  }
  bool rests();
  StackMemo look_up(std::span<const std::byte> chain, std::uint8_t reading, std::uint64_t hash);
  Entry& entry(std::uint32_t slot) { return sets_[slot / kWays].entries[slot % kWays]; }

  std::vector<Set> sets_;
  io::GrowableArray<std::byte> ring_;
  std::uint64_t end_ = 0;  // position of the next byte
  std::uint32_t tag_ = 0;  // of the chain that find() looked for
  std::uint32_t seen_ = 0;
  std::uint32_t found_ = 0;
  std::uint32_t resting_ = 0;
};

}  // namespace stackpack::capture
