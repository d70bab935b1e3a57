#include "spk/stack_predictor.h"

#include <algorithm>
#include <bit>

namespace stackpack::spk {

void StackPredictor::begin_block(std::size_t samples) {
  slots_.assign(std::bit_ceil(2 * samples + 2), {});
  Guesses none{};
  none.fill(kNoStack);
  lists_.assign(1, none);
  thread_ = 0;
  begin_thread();
}

void StackPredictor::begin_thread() {
  ++thread_;
  latest_ = kNoStack;
}

std::size_t StackPredictor::slot_of(StackId latest) const {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  const std::uint64_t hash = (std::uint64_t{thread_} << 32 | latest) * kMultiplier;
  std::size_t slot = (hash >> 24) & (slots_.size() - 1);
  while (slots_[slot].thread != 0 &&
         (slots_[slot].thread != thread_ || slots_[slot].latest != latest)) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

const StackPredictor::Guesses& StackPredictor::guesses() const {
  return lists_[latest_ == kNoStack ? 0 : slots_[slot_].list];
}

void StackPredictor::update(StackId stack) {
  if (latest_ != kNoStack) {
    Slot& slot = slots_[slot_];
    if (slot.list == 0) {
      slot = {thread_, latest_, static_cast<std::uint32_t>(lists_.size())};
      lists_.push_back(lists_.front());
    }
    // Move to the front: the last guess falls off when the stack is not among them.
    Guesses& guesses = lists_[slot.list];
    const auto found = std::find(guesses.begin(), guesses.end() - 1, stack);
    std::move_backward(guesses.begin(), found, found + 1);
    guesses.front() = stack;
  }
  latest_ = stack;
  slot_ = slot_of(stack);
}

}  // namespace stackpack::spk
