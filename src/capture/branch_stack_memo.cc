#include "capture/branch_stack_memo.h"

#include <bit>

#include "bytes/hash.h"

namespace stackpack::capture {

void BranchStackMemo::make_room(std::size_t depth) {
  depth_ = std::max(kLeastDepth, std::bit_ceil(depth));
  const std::size_t slots =
      static_cast<std::size_t>(bytes_) / (sizeof(Slot) + depth_ * sizeof(StackedBranch));
  slots_.assign(std::max(kWays, std::bit_floor(slots)), {});
  stacks_ = {};
}

std::uint64_t BranchStackMemo::hash_of(const Key& key, std::span<const StackedBranch> stack) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  const std::uint64_t of_key =
      (key.user ^ std::rotl(key.kernel, 23) ^ std::rotl(std::uint64_t{key.event}, 47)) *
      kMultiplier;
  const std::uint64_t hash = bytes::xxh3_64(std::as_bytes(stack)) ^ of_key;
  return hash != 0 ? hash : 1;  // 0 is that of a free slot
}

// The one that did not come for the longest; all grow older. Those that came once take turns.
BranchStackMemo::Slot& BranchStackMemo::victim_among(std::span<Slot> ways, std::size_t first) {
  Slot* victim = &ways[first];
  for (Slot& slot : ways) {
    victim = slot.age < victim->age ? &slot : victim;
    slot.age = static_cast<std::uint8_t>(slot.age - (slot.age != 0 ? 1 : 0));
  }
  return *victim;
}

void BranchStackMemo::keep(Slot& slot, const Key& key, std::span<const StackedBranch> stack) {
  if (stacks_.empty()) {
    stacks_.resize(slots_.size() * depth_);
  }
  slot.key = key;
  slot.depth = static_cast<std::uint8_t>(stack.size());
  slot.age = kFresh;
  std::copy(stack.begin(), stack.end(), room_of(slot).begin());
}

bool BranchStackMemo::is(const Slot& slot, const Key& key, std::span<const StackedBranch> stack) {
  const std::span<const StackedBranch> kept = room_of(slot).first(slot.depth);
  return slot.key == key && std::equal(kept.begin(), kept.end(), stack.begin(), stack.end());
}

}  // namespace stackpack::capture
