#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "formats/etl/event/event_window.h"
#include "formats/etl/stacks/stack_keys.h"
#include "formats/etl/system/thread_states.h"
#include "scratch/spill_records.h"
#include "scratch/spill_space.h"
#include "stackpack/result.h"

namespace stackpack::etl {

/// A kernel half that is pending: the user half of its thread has not come.
struct PendingHalf {
  EventFacts event;
  StackPart kernel = kNoPart;
};

/// The pending kernel halves of all threads: a list for each.
///
/// Most are pending for microseconds. A thread that never leaves the kernel keeps its halves to
/// the end of the trace, and there can be millions: they are kept in a SpillSpace, so that waiting
/// costs disk, not memory, and no stack is decided early.
class PendingHalves {
 public:
  /// Both must outlive this. What fails in `space` is in its status().
  PendingHalves(scratch::SpillSpace& space, ThreadStates& threads)
      : threads_(threads), halves_(space) {}

  /// Takes over one use of `half.kernel`.
  void add(ThreadNumber thread, const PendingHalf& half);

  /// Gives everything that waits for the thread to `visit(const PendingHalf&)`, oldest first, and
  /// forgets it. The visitor takes over the uses, and adds nothing.
  template <typename Visit>
  Status take_all(ThreadNumber thread, Visit visit) {
    std::uint32_t number = begin_to_take(thread);
    while (number != 0) {
      const Listed listed = halves_.get(number);
      halves_.remove(number);
      number = listed.next;
      if (const Status done = visit(std::as_const(listed.half)); !done) {
        return done;
      }
    }
    return {};
  }

  /// The same with the halves of every thread, in the order of the threads' numbers.
  template <typename Visit>
  Status take_every(Visit visit) {
    if (many_threads_) {
      pending_threads_.clear();
    }
    std::sort(pending_threads_.begin(), pending_threads_.end());
    const std::size_t count = many_threads_ ? threads_.last() : pending_threads_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const ThreadNumber thread =
          many_threads_ ? static_cast<ThreadNumber>(i + 1) : pending_threads_[i];
      if (const Status done = take_all(thread, visit); !done) {
        return done;
      }
      threads_.at(thread).counted_as_pending = false;
    }
    pending_threads_.clear();
    many_threads_ = false;
    return {};
  }

 private:
  static constexpr std::size_t kMostThreads = std::size_t{1} << 16;

  struct alignas(64) Listed {
    PendingHalf half;
    std::uint32_t next = 0;
  };

  std::uint32_t begin_to_take(ThreadNumber thread);

  ThreadStates& threads_;
  scratch::SpillRecords<Listed> halves_;
  // Those with counted_as_pending, unless they are many.
  std::vector<ThreadNumber> pending_threads_;
  bool many_threads_ = false;
};

}  // namespace stackpack::etl
