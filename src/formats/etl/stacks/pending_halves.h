#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
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
/// Most are pending for microseconds: the newest half of a thread stands beside the lists, with its
/// frames, and is put into the thread's list only when another one comes. A thread that never
/// leaves the kernel keeps its halves to the end of the trace, and there can be millions: lists are
/// kept in a SpillSpace, so that waiting costs disk, not memory, and no stack is decided early.
class PendingHalves {
 public:
  /// All must outlive this. What fails in `space` is in its status().
  PendingHalves(scratch::SpillSpace& space, ThreadStates& threads, StackKeys& keys)
      : threads_(threads), keys_(keys), halves_(space) {}

  /// Takes over one use of `half.kernel`.
  void add(ThreadNumber thread, const PendingHalf& half) {
    if (newest_of(thread).thread == thread) {
      list(newest_of(thread));
    }
    append(thread, half);
  }

  /// A half with its frames, of which there are some.
  void add(ThreadNumber thread, const EventFacts& event, std::span<const std::uint64_t> frames) {
    if (frames.size() > kMostFramesBeside) {
      add(thread, {event, keys_.hold(frames)});
      return;
    }
    Newest& newest = newest_of(thread);
    if (newest.thread != 0) {
      list(newest);
    }
    newest.thread = thread;
    newest.event = event;
    newest.frames.assign(frames.begin(), frames.end());
  }

  /// Whether no half of the thread is pending.
  [[nodiscard]] bool none_of(ThreadNumber thread) {
    return newest_of(thread).thread != thread && threads_.at(thread).first_pending == 0;
  }

  /// Gives everything that waits for the thread to `visit(const EventFacts&, StackHalf)`, oldest
  /// first, and forgets it. The visitor takes over the uses, and adds nothing.
  template <typename Visit>
  Status take_all(ThreadNumber thread, Visit visit) {
    std::uint32_t number = begin_to_take(thread);
    while (number != 0) {
      const Listed listed = halves_.get(number);
      halves_.remove(number);
      number = listed.next;
      if (const Status done = visit(listed.half.event, StackHalf{listed.half.kernel, {}}); !done) {
        return done;
      }
    }
    Newest& newest = newest_of(thread);
    if (newest.thread != thread) {
      return {};
    }
    newest.thread = 0;
    return visit(std::as_const(newest.event), StackHalf{kNoPart, newest.frames});
  }

  /// The same with the halves of every thread, in the order of the threads' numbers.
  template <typename Visit>
  Status take_every(Visit visit) {
    for (Newest& newest : newest_) {
      if (newest.thread != 0) {
        list(newest);
      }
    }
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

  // The newest half of a thread, which is not in its list.
  struct Newest {
    ThreadNumber thread = 0;  // 0: none
    EventFacts event;
    std::vector<std::uint64_t> frames;
  };
  static constexpr std::size_t kNewest = 64;
  static constexpr std::size_t kMostFramesBeside = 256;

  [[nodiscard]] Newest& newest_of(ThreadNumber thread) { return newest_[thread % kNewest]; }
  void list(Newest& newest);
  void append(ThreadNumber thread, const PendingHalf& half);
  std::uint32_t begin_to_take(ThreadNumber thread);

  ThreadStates& threads_;
  StackKeys& keys_;
  std::array<Newest, kNewest> newest_;  // by thread
  scratch::SpillRecords<Listed> halves_;
  // Those with counted_as_pending, unless they are many.
  std::vector<ThreadNumber> pending_threads_;
  bool many_threads_ = false;
};

}  // namespace stackpack::etl
