#include "formats/etl/stacks/pending_halves.h"

#include <utility>

namespace stackpack::etl {

void PendingHalves::append(ThreadNumber thread, const PendingHalf& half) {
  const std::uint32_t number = halves_.add({half, 0});
  ThreadState& state = threads_.at(thread);
  if (state.first_pending == 0) {
    state.first_pending = number;
  } else {
    halves_.change(state.last_pending, [number](Listed& last) { last.next = number; });
  }
  state.last_pending = number;
  if (!state.counted_as_pending) {
    state.counted_as_pending = true;
    many_threads_ |= pending_threads_.size() == kMostThreads;
    if (!many_threads_) {
      pending_threads_.push_back(thread);
    }
  }
}

// Puts the half at the end of its thread's list.
void PendingHalves::list(Newest& newest) {
  append(std::exchange(newest.thread, 0), {newest.event, keys_.hold(newest.frames)});
}

// The first half in the list of the thread, which is empty then.
std::uint32_t PendingHalves::begin_to_take(ThreadNumber thread) {
  ThreadState& state = threads_.at(thread);
  state.last_pending = 0;
  return std::exchange(state.first_pending, 0);
}

}  // namespace stackpack::etl
