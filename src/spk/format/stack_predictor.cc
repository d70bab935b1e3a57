#include "spk/format/stack_predictor.h"

#include <algorithm>
#include <bit>
#include <cstring>

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

unsigned StackPredictor::find(StackId stack) const {
  const Guesses& list = guesses();
  unsigned found = 0;  // a bit for each guess
  for (unsigned i = 0; i < kStackGuesses; ++i) {
    found |= (list[i] == stack ? 1U : 0U) << i;
  }
  return found == 0 ? kStackGuesses : static_cast<unsigned>(std::countr_zero(found));
}

void StackPredictor::update(StackId stack, unsigned guess) {
  if (latest_ != kNoStack) {
    Slot& slot = slots_[slot_];
    if (slot.thread != thread_) {
      slot = {thread_, latest_, static_cast<std::uint32_t>(lists_.size())};
      lists_.push_back(lists_.front());
    }
    // Move to the front: the last guess falls off when the stack is not among them.
    Guesses& guesses = lists_[slot.list];
    StackId* const first = guesses.data();
    std::memmove(first + 1, first, std::min(guess, kStackGuesses - 1) * sizeof(StackId));
    guesses.front() = stack;
  }
  latest_ = stack;
  slot_ = slot_of(stack);
}

}  // namespace stackpack::spk
