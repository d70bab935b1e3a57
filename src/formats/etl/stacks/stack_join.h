// Puts the halves of callstacks together, and callstacks and events.
//
// A thread's kernel stack is logged at once, its user stack only when the thread leaves the kernel,
// and only once for all the events of that stay, with the clock of the first of them. So kernel
// halves wait, per thread, and a user half with event clock f closes them: those with clock >= f
// get it; those before f belong to an earlier stay whose user half was never logged, and remain
// kernel stacks. Fragments that begin in kernel mode and end in user mode are complete and concern
// nobody else. The idle threads of all processors share id 0; they are told apart by processor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "capture/loss_counters.h"
#include "formats/etl/etl_sample_writer.h"
#include "formats/etl/event/event_window.h"
#include "formats/etl/stacks/pending_halves.h"
#include "formats/etl/stacks/stack_keys.h"
#include "formats/etl/stacks/stack_pairs.h"
#include "formats/etl/system/thread_states.h"
#include "scratch/spill_space.h"

namespace stackpack::etl {

/// One StackWalk event that belongs to an event.
struct Fragment {
  std::uint64_t event_clock = 0;
  std::uint64_t own_clock = 0;
  std::uint32_t pid = kNoId;
  std::uint32_t tid = kNoId;
  std::uint16_t processor = 0;
  std::uint64_t file_offset = 0;
};

class StackJoin {
 public:
  /// All references must outlive the join. What fails in `space` is in its status().
  StackJoin(scratch::SpillSpace& space, ThreadStates& threads, EventWindow& window, StackKeys& keys,
            SampleWriter& samples, capture::LossCounters& losses, std::uint8_t pointer_size)
      : threads_(threads),
        window_(window),
        keys_(keys),
        samples_(samples),
        losses_(losses),
        pairs_(space, keys, samples, counts_),
        pending_(space, threads, keys),
        pointer_size_(pointer_size) {}

  /// A fragment with its frames, leaf first. `kernel`: its last frame is a kernel address.
  Status inline_fragment(const Fragment& fragment, std::span<const std::uint64_t> frames,
                         bool kernel);

  /// The kernel half and the user half of one event, right after each other: what inline_fragment()
  /// makes of each. `fragment` is the kernel half's, with the own clock of the user half, which
  /// nobody asks of the other. The frames are as they are stored, 64 bits each: the last of the
  /// kernel half's is a kernel address, the first and the last of the user half's is none.
  /// Not `taken`: they concern other halves as well; nothing was done, and each is to be given by
  /// itself.
  Status both_halves(const Fragment& fragment, std::span<const std::byte> kernel_frames,
                     std::span<const std::byte> user_frames, bool& taken);

  /// A fragment that names a key.
  Status keyed_fragment(const Fragment& fragment, std::uint64_t key, bool kernel);

  /// The frames of a key.
  Status definition(std::uint64_t key, std::span<const std::uint64_t> frames,
                    std::uint64_t file_offset);

  /// Turns all that waits into kernel stacks.
  Status let_go();

  /// The end of the trace: what still waits remains a kernel stack.
  Status finish();

  [[nodiscard]] StackPairs& pairs() { return pairs_; }
  [[nodiscard]] const StackJoinCounters& counts() const { return counts_; }

  /// Profile samples for which at least one fragment came.
  [[nodiscard]] std::uint64_t samples_with_stack() const { return samples_with_stack_; }

 private:
  EventFacts claim_event(const Fragment& fragment, ThreadNumber thread, bool any_processor);
  // Halves go by reference: they are made just before, and copies would wait for that.
  Status kernel_half(const Fragment& fragment, const StackHalf& kernel);
  Status user_half(const Fragment& fragment, StackHalf& user);
  Status emit(const EventFacts& event, const StackHalf& kernel, StackHalf& user, bool borrowed);
  StackPart part_of(const StackHalf& half);
  void append(const StackHalf& half);

  ThreadStates& threads_;
  EventWindow& window_;
  StackKeys& keys_;
  SampleWriter& samples_;
  capture::LossCounters& losses_;
  StackJoinCounters counts_;
  StackPairs pairs_;
  PendingHalves pending_;
  std::uint8_t pointer_size_;
  std::uint64_t samples_with_stack_ = 0;
  std::vector<std::uint64_t> scratch_;
};

}  // namespace stackpack::etl
