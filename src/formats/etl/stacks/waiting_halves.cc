#include "formats/etl/stacks/waiting_halves.h"

#include <utility>

namespace stackpack::etl {

void WaitingHalves::add(ThreadNumber thread, const WaitingHalf& half) {
  const std::uint32_t number = halves_.add({half, 0});
  ThreadState& state = threads_.at(thread);
  if (state.first_waiting == 0) {
    state.first_waiting = number;
  } else {
    halves_.change(state.last_waiting, [number](Listed& last) { last.next = number; });
  }
  state.last_waiting = number;
  if (!state.counted_as_waiting) {
    state.counted_as_waiting = true;
    many_threads_ |= threads_that_wait_.size() == kMostThreads;
    if (!many_threads_) {
      threads_that_wait_.push_back(thread);
    }
  }
}

// The first half in the list of the thread, which is empty then.
std::uint32_t WaitingHalves::begin_to_take(ThreadNumber thread) {
  ThreadState& state = threads_.at(thread);
  state.last_waiting = 0;
  return std::exchange(state.first_waiting, 0);
}

}  // namespace stackpack::etl
