#include "spk/stack_predictor.h"

#include <algorithm>
#include <bit>

namespace stackpack::spk {

void StackPredictor::begin_thread(std::size_t samples) {
  ++thread_;
  const std::size_t slots = std::bit_ceil(2 * samples + 2);
  if (thread_ == 0 || slots > slots_.size()) {
    slots_.assign(std::max(slots, slots_.size()), {});
    thread_ = 1;
  }
  mask_ = slots - 1;
  Guesses none{};
  none.fill(kNoStack);
  lists_.assign(1, none);
  latest_ = kNoStack;
}

std::size_t StackPredictor::slot_of(StackId latest) const {
  const Slot* const slots = slots_.data();
  std::size_t slot = (latest * 0x9E3779B97F4A7C15 >> 40) & mask_;
  while (slots[slot].thread == thread_ && slots[slot].latest != latest) {
    slot = (slot + 1) & mask_;
  }
  return slot;
}

const StackPredictor::Guesses& StackPredictor::guesses() const {
  const bool known = latest_ != kNoStack && slots_[slot_].thread == thread_;
  return lists_[known ? slots_[slot_].list : 0];
}

void StackPredictor::update(StackId stack) {
  if (latest_ != kNoStack) {
    Slot& slot = slots_[slot_];
    if (slot.thread != thread_) {
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
