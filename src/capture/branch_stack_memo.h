// Branch stacks that come again byte for byte, counted in place of being added up each time.
//
// Loops whose stacks have no cycles repeat few stacks. A stack is kept when its hash comes a second
// time, so that stacks which never come again cost a hash and no copy.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stackpack/branches.h"

namespace stackpack::capture {

/// Memory: `bytes` of configure(), most of it taken when the first stack comes again. Threads: one.
class BranchStackMemo {
 public:
  /// What stacks are told apart by besides their branches.
  struct Key {
    std::uint32_t event = 0;
    std::uint64_t user = 0;  ///< spaces of addresses
    std::uint64_t kernel = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };

  /// A stack that was counted. `stack` is valid during the visit.
  struct Counted {
    Key key;
    std::span<const StackedBranch> stack;
    std::uint32_t times = 0;    ///< at most kMostTimes
    std::uint64_t time_ns = 0;  ///< the latest
    std::uint64_t offset = 0;   ///< the first
  };
  static constexpr std::uint32_t kMostTimes = std::uint32_t{1} << 24;

  void configure(std::uint64_t bytes) { bytes_ = bytes; }

  /// Counts a stack that is known: true. False: the caller adds it up. `take(const Counted&)` gets
  /// what makes room for others, before anything is counted.
  template <typename Take>
  bool count(const Key& key, std::span<const StackedBranch> stack, std::uint64_t time_ns,
             std::uint64_t offset, const Take& take) {
    if (stack.empty() || stack.size() > kMostDepth) {
      return false;
    }
    if (stack.size() > depth_) {
      flush(take);
      make_room(stack.size());
    }
    const std::uint64_t hash = hash_of(key, stack);
    const std::span<Slot> ways = ways_of(hash);
    const auto found = std::find_if(ways.begin(), ways.end(),
                                    [hash](const Slot& slot) { return slot.hash == hash; });
    if (found == ways.end()) {
      Slot& victim = victim_among(ways, static_cast<std::size_t>(hash >> 62U));
      take_out(victim, take);
      victim = {};
      victim.hash = hash;
      return false;
    }
    if (found->depth == 0) {
      keep(*found, key, stack);
      return false;
    }
    if (!is(*found, key, stack)) {
      return false;
    }
    found->age = kFresh;
    found->time_ns = found->times == 0 ? time_ns : std::max(found->time_ns, time_ns);
    found->offset = found->times == 0 ? offset : std::min(found->offset, offset);
    if (++found->times == kMostTimes) {
      take_out(*found, take);
    }
    return true;
  }

  /// All that was counted; nothing is afterwards.
  template <typename Take>
  void flush(const Take& take) {
    for (Slot& slot : slots_) {
      take_out(slot, take);
    }
  }

 private:
  static constexpr std::size_t kWays = 4;
  static constexpr std::uint8_t kFresh = 15;  // misses of its set that a stack outlives
  static constexpr std::size_t kLeastDepth = 32;
  static constexpr std::size_t kMostDepth = 64;

  struct Slot {
    std::uint64_t hash = 0;
    Key key;
    std::uint64_t time_ns = 0;
    std::uint64_t offset = 0;
    std::uint32_t times = 0;
    std::uint8_t depth = 0;  // 0: the stack was not kept
    std::uint8_t age = 0;
  };

  /// Forgets all, for stacks of so many branches.
  void make_room(std::size_t depth);
  static std::uint64_t hash_of(const Key& key, std::span<const StackedBranch> stack);
  [[nodiscard]] std::span<Slot> ways_of(std::uint64_t hash) {
    return std::span(slots_).subspan((hash & (slots_.size() / kWays - 1)) * kWays, kWays);
  }
  static Slot& victim_among(std::span<Slot> ways, std::size_t first);
  [[nodiscard]] std::span<StackedBranch> room_of(const Slot& slot) {
    return std::span(stacks_).subspan(static_cast<std::size_t>(&slot - slots_.data()) * depth_,
                                      depth_);
  }
  void keep(Slot& slot, const Key& key, std::span<const StackedBranch> stack);
  [[nodiscard]] bool is(const Slot& slot, const Key& key, std::span<const StackedBranch> stack);

  template <typename Take>
  void take_out(Slot& slot, const Take& take) {
    if (slot.times != 0) {
      take(Counted{slot.key, room_of(slot).first(slot.depth), slot.times, slot.time_ns,
                   slot.offset});
      slot.times = 0;
    }
  }

  std::uint64_t bytes_ = 0;
  std::size_t depth_ = 0;  // branches that a stack has room for
  std::vector<Slot> slots_;
  std::vector<StackedBranch> stacks_;  // by slot
};

}  // namespace stackpack::capture
