#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/etl/event_window.h"
#include "formats/etl/stack_keys.h"
#include "formats/etl/thread_states.h"
#include "io/spill_file.h"
#include "stackpack/result.h"

namespace stackpack::etl {

/// The kernel halves that wait, of all threads.
///
/// Most wait for microseconds. A thread that never leaves the kernel keeps its halves waiting to
/// the end of the trace, and there can be millions: beyond kMostInMemory the longest queues go to a
/// scratch file, so that waiting costs disk, not memory, and no stack is decided early.
class WaitingHalves {
 public:
  static constexpr std::size_t kMostInMemory = std::size_t{1} << 15;

  WaitingHalves(ThreadStates& threads, StackKeys& keys, const std::string& scratch_directory)
      : threads_(threads), keys_(keys), scratch_(scratch_directory) {}

  /// Takes over one use of `half.kernel`.
  Status add(ThreadState& thread, const WaitingHalf& half);

  /// Gives everything that waits for the thread to `visit(const WaitingHalf&)`, oldest first, and
  /// forgets it. The visitor takes over the uses.
  template <typename Visit>
  Status take_all(ThreadState& thread, Visit visit) {
    const std::vector<SpilledHalves> blocks = std::move(thread.spilled);
    thread.spilled.clear();
    for (const SpilledHalves& block : blocks) {
      std::vector<WaitingHalf> halves;
      if (const Status read = read_back(block, halves); !read) {
        return read;
      }
      for (const WaitingHalf& half : halves) {
        if (const Status done = visit(half); !done) {
          return done;
        }
      }
    }
    // The visitor may not add to the list, so that its memory can be used again.
    in_memory_ -= thread.waiting.size();
    for (const WaitingHalf& half : thread.waiting) {
      if (const Status done = visit(half); !done) {
        return done;
      }
    }
    thread.waiting.clear();
    return {};
  }

 private:
  Status spill_longest();
  Status spill(ThreadState& thread);
  Status read_back(const SpilledHalves& block, std::vector<WaitingHalf>& halves);

  ThreadStates& threads_;
  StackKeys& keys_;
  io::SpillFile scratch_;
  std::size_t in_memory_ = 0;
};

}  // namespace stackpack::etl
