#include "dag/recent_stacks.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <span>

#include "capture/word_hash.h"

namespace stackpack::dag {

RecentStacks::RecentStacks(std::uint32_t slots) : slot_count_(slots) {
  assert((slots & (slots - 1)) == 0);
}

// Depth and modes in one word, 0 for a callstack that is not one to keep.
std::uint32_t RecentStacks::shape_of(const capture::StackView& stack) {
  static_assert(kDeepest <= 0xff && kMostRuns == 2);
  if (stack.depth() > kDeepest || stack.runs.size() > kMostRuns || stack.runs.empty()) {
    return 0;
  }
  const capture::ModeRun& first = stack.runs.front();
  const capture::ModeRun& last = stack.runs.back();
  return static_cast<std::uint32_t>(stack.depth()) << 24 | first.count << 16 |
         static_cast<std::uint32_t>(first.mode) << 8 | static_cast<std::uint32_t>(last.mode);
}

void RecentStacks::begin(const capture::StackView& stack, Place& place) const {
  place = {};
  if (resting_ > 0 || slot_count_ == 0) {
    return;
  }
  place.hashed = true;
  place.shape = shape_of(stack);
  if (place.shape == 0) {
    return;
  }
  const std::uint64_t hash = capture::hash_words(std::as_bytes(stack.addresses), place.shape);
  place.slot = static_cast<std::uint32_t>(hash >> 32) & (slot_count_ - 1);
  place.tag = static_cast<std::uint32_t>(hash);
  if (ready_) {
    __builtin_prefetch(&slots_[place.slot]);
  }
}

void RecentStacks::fetch(const Place& place) const {
  if (!ready_ || place.shape == 0) {
    return;
  }
  const Slot& slot = slots_[place.slot];
  if (slot.tag == place.tag && slot.shape == place.shape) {
    constexpr std::size_t kLine = 64 / sizeof(std::uint64_t);
    const std::uint64_t* const words = words_at(slot.position);
    for (std::size_t i = 0; i < (slot.shape >> 24); i += kLine) {
      __builtin_prefetch(words + i);
    }
  }
}

std::uint32_t RecentStacks::find(const capture::StackView& stack, Place& place) {
  if (resting_ > 0) {
    --resting_;
    place = {};
    return 0;
  }
  if (!place.hashed) {
    begin(stack, place);
  }
  if (place.shape == 0) {
    return 0;
  }
  if (++seen_ > kWindow) {
    resting_ = found_ < kWindow / 4 ? kRest : 0;
    seen_ = 0;
    found_ = 0;
  }
  place.keep = true;
  if (!ready_) {
    return 0;
  }
  // What has been overwritten since is further back than the ring is long.
  const Slot& slot = slots_[place.slot];
  const bool same = slot.tag == place.tag && slot.shape == place.shape &&
                    written_ - slot.position <= ring_words() &&
                    std::memcmp(words_at(slot.position), stack.addresses.data(),
                                stack.addresses.size_bytes()) == 0;
  found_ += same ? 1U : 0U;
  return same ? slot.node : 0;
}

// The position where `words` can stand without a break.
std::uint32_t RecentStacks::make_room(std::uint32_t words) {
  const std::uint32_t left = ring_words() - (written_ & (ring_words() - 1));
  const std::uint64_t end = std::uint64_t{written_} + (words <= left ? 0 : left) + words;
  if (end > 0xffff'ffff) {
    forget_all();  // positions start again, so that each says how old its callstack is
  } else if (words > left) {
    written_ += left;
  }
  const std::uint32_t position = written_;
  written_ += words;
  return position;
}

void RecentStacks::forget_all() {
  std::fill_n(slots_.data(), slot_count_, Slot{});
  written_ = 0;
}

void RecentStacks::keep(const capture::StackView& stack, const Place& place, std::uint32_t node) {
  if (!place.keep) {
    return;
  }
  ready_ = ready_ || (slots_.reserve(slot_count_) && ring_.reserve(ring_words()));
  if (!ready_) {
    return;
  }
  const std::uint32_t position = make_room(static_cast<std::uint32_t>(stack.depth()));
  std::copy(stack.addresses.begin(), stack.addresses.end(),
            ring_.data() + (position & (ring_words() - 1)));
  slots_[place.slot] = {place.tag, place.shape, node, position};
}

}  // namespace stackpack::dag
