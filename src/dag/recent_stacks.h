// Whole callstacks that came lately, and their nodes.
//
// Many samples repeat a callstack that another thread, or the same one some time ago, was in. What
// such a callstack costs is a hash of its addresses and a comparison with those kept: it is found
// by its frames, never by the hash alone.
//
// The addresses stand one callstack behind the other in a ring: a new one overwrites the oldest. A
// slot, found by the hash, says where. Slots and ring are too large for the processor's near
// caches, so a look-up has three steps (begin, fetch, find), and the caller has other look-ups in
// between: the waits for memory overlap.
//
// Where callstacks are new as a rule, keeping them costs more than it saves. So the share of
// callstacks that were found is watched, and below one in four the cache rests for a while.
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/stack_view.h"
#include "io/growable_block.h"

namespace stackpack::dag {

class RecentStacks {
 public:
  static constexpr std::uint32_t kDeepest = 255;  ///< deeper ones are not kept
  static constexpr std::uint32_t kMostRuns = 2;   ///< nor those of more changes of mode

  /// How many slots, a power of two. For each the ring has kWordsPerSlot addresses.
  static constexpr std::uint32_t kMostSlots = 32'768;
  static constexpr std::uint32_t kLeastSlots = 4'096;
  static constexpr std::uint32_t kWordsPerSlot = 32;

  /// `slots` 0: finds nothing, keeps nothing, takes no memory. Else memory is taken as it is used:
  /// most builders see few callstacks, or none after they were frozen.
  explicit RecentStacks(std::uint32_t slots);

  /// Where a callstack would be kept, if it is one to keep.
  struct Place {
    std::uint32_t slot = 0;
    std::uint32_t tag = 0;
    std::uint32_t shape = 0;  ///< depth and modes
    bool hashed = false;
    bool keep = false;
  };

  /// Step 1, may be left out: hashes a callstack, which is not empty, and fetches its slot.
  void begin(const capture::StackView& stack, Place& place) const;

  /// Step 2, may be left out: fetches the addresses that are kept there.
  void fetch(const Place& place) const;

  /// The node of a callstack that is kept, or 0. `place` is new or has been through begin(); it is
  /// for keep() then.
  [[nodiscard]] std::uint32_t find(const capture::StackView& stack, Place& place);

  /// Keeps a callstack for which find() failed, in the place of another one.
  void keep(const capture::StackView& stack, const Place& place, std::uint32_t node);

  static constexpr std::uint64_t bytes_of(std::uint32_t slots) {
    return slots * std::uint64_t{sizeof(Slot) + kWordsPerSlot * sizeof(std::uint64_t)};
  }
  [[nodiscard]] std::uint64_t memory_bytes() const { return bytes_of(slot_count_); }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t shape = 0;  // 0: empty
    std::uint32_t node = 0;
    std::uint32_t position = 0;  // of the first address: words written to the ring before it
  };
  static constexpr std::uint32_t kWindow = 4'096;  // callstacks after which the share is looked at
  static constexpr std::uint32_t kRest = 16 * kWindow;  // callstacks that it rests

  [[nodiscard]] static std::uint32_t shape_of(const capture::StackView& stack);
  [[nodiscard]] std::uint32_t ring_words() const { return slot_count_ * kWordsPerSlot; }
  [[nodiscard]] const std::uint64_t* words_at(std::uint32_t position) const {
    return ring_.data() + (position & (ring_words() - 1));
  }
  [[nodiscard]] std::uint32_t make_room(std::uint32_t words);
  void forget_all();

  std::uint32_t slot_count_;
  bool ready_ = false;  // there is memory; none before the first callstack is kept
  io::GrowableArray<Slot> slots_;
  io::GrowableArray<std::uint64_t> ring_;
  std::uint32_t written_ = 0;  // words, those skipped at the ring's end included
  std::uint32_t seen_ = 0;     // in this window
  std::uint32_t found_ = 0;
  std::uint32_t resting_ = 0;  // callstacks left to rest
};

}  // namespace stackpack::dag
