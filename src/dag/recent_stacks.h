// Whole callstacks that came lately, and their nodes.
//
// Many samples repeat a callstack that another thread, or the same one some time ago, was in. What
// such a callstack costs is a hash of its addresses and a comparison with those kept: it is found
// by its frames, never by the hash alone.
//
// Where callstacks are new as a rule, keeping them costs more than it saves. So the share of
// callstacks that were found is watched, and below one in four the cache rests for a while.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "capture/stack_view.h"
#include "io/growable_block.h"

namespace stackpack::dag {

class RecentStacks {
 public:
  static constexpr std::uint32_t kEntries = 4096;
  static constexpr std::uint32_t kDeepest = 96;  ///< deeper ones are not kept
  static constexpr std::uint32_t kMostRuns = 2;  ///< nor those of more changes of mode

  /// `enabled` false: finds nothing, keeps nothing, takes no memory. Else memory is taken as it is
  /// used: most builders see few callstacks, or none after they were frozen.
  explicit RecentStacks(bool enabled);

  /// Where a callstack would be kept, if it is one to keep.
  struct Place {
    std::uint32_t slot = 0;
    std::uint32_t tag = 0;
    bool keep = false;
  };

  /// The node of a callstack that is kept, or 0. `stack` is not empty. `place` is for keep().
  [[nodiscard]] std::uint32_t find(const capture::StackView& stack, Place& place);

  /// Keeps a callstack for which find() failed, in the place of another one.
  void keep(const capture::StackView& stack, const Place& place, std::uint32_t node);

  static constexpr std::uint64_t bytes_of(bool enabled) {
    return enabled ? std::uint64_t{kEntries} * (sizeof(Entry) + sizeof(std::uint32_t)) : 0;
  }
  [[nodiscard]] std::uint64_t memory_bytes() const { return bytes_of(enabled_); }

 private:
  struct Entry {
    std::uint32_t node = 0;
    std::uint32_t depth = 0;
    std::array<capture::ModeRun, kMostRuns> runs{};
    std::array<std::uint64_t, kDeepest> addresses{};
  };
  static constexpr std::uint32_t kWindow = 4'096;  // callstacks after which the share is looked at
  static constexpr std::uint32_t kRest = 16 * kWindow;  // callstacks that it rests

  bool enabled_;
  io::GrowableArray<Entry> entries_;  // none before the first callstack is kept
  std::vector<std::uint32_t> tags_;   // per entry, from the hash; most misses end here
  std::uint32_t seen_ = 0;            // in this window
  std::uint32_t found_ = 0;
  std::uint32_t resting_ = 0;  // callstacks left to rest
};

}  // namespace stackpack::dag
