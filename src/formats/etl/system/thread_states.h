#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/index_table.h"
#include "formats/etl/event/event_header.h"
#include "formats/etl/event/event_kinds.h"
#include "formats/etl/event/event_window.h"
#include "scratch/spill_records.h"
#include "scratch/spill_space.h"
#include "scratch/spill_table.h"

namespace stackpack::etl {

/// What is remembered of a thread. Thread 0 exists once per processor; events without a thread are
/// kept under kNoId, also per processor.
struct ThreadState {
  static constexpr std::uint32_t kPartBits = 0x7FFFFFFF;

  WindowIndex last_event = kNotInWindow;
  std::uint64_t last_clock = 0;    ///< of that event
  std::uint64_t closed_clock = 0;  ///< own clock of the last user half
  WindowIndex runtime_event[kRuntimeCount] = {kNotInWindow, kNotInWindow, kNotInWindow};
  std::uint32_t pid = kNoId;                 ///< from the Thread events
  std::uint32_t first_pending = 0;           ///< see PendingHalves
  std::uint32_t last_pending = 0;            ///< likewise
  std::uint32_t counted_as_pending : 1 = 0;  ///< likewise
  std::uint32_t closed_in : 31 = 0;  ///< part of the trace with the last user half, in 31 bits
};

/// The number of a thread, from 1 on.
using ThreadNumber = std::uint32_t;

/// The threads of a trace. It names as many as it likes: they are kept in a SpillSpace.
class ThreadStates {
 public:
  /// `space` must outlive this; its status() has what fails here.
  explicit ThreadStates(scratch::SpillSpace& space) : states_(space), table_(space) {}

  /// The number of a thread, which begins with a fresh state when it is new.
  ThreadNumber of(std::uint32_t tid, std::uint16_t processor) {
    const Place wanted{key_of(tid, processor), 0, 0};
    Place& recent = recent_[wanted.hash() % kRecent];
    if (recent.key != wanted.key || !recent.used()) {
      recent = find(wanted, tid, processor);
    }
    return recent.number;
  }

  /// The number of a thread that was met before; 0: it was not.
  ThreadNumber known(std::uint32_t tid, std::uint16_t processor) {
    return table_.find(Place{key_of(tid, processor), 0, 0}).number;
  }

  /// The state of a thread, to be changed at will until the next call for another thread.
  ThreadState& at(ThreadNumber thread) {
    AtHand& at_hand = at_hand_[thread % kRecent];
    if (at_hand.thread != thread) {
      exchange(at_hand, thread);
    }
    return at_hand.state;
  }

  /// The highest number of a thread: there is one for each up to it.
  [[nodiscard]] ThreadNumber last() const { return states_.last(); }

  /// Another part of the trace begins, with clocks of its own.
  void next_part() { ++part_; }

  /// The number of the part of the trace, from 1 on. There are fewer parts than buffers, and never
  /// as many as 31 bits can tell apart.
  [[nodiscard]] std::uint32_t part() const { return part_ & ThreadState::kPartBits; }

  /// Processors which logged events without a thread.
  [[nodiscard]] const std::vector<std::uint16_t>& processors_without_threads() const {
    return nobody_;
  }

 private:
  struct Place {
    std::uint64_t key = 0;
    ThreadNumber number = 0;
    std::uint32_t unused = 0;
    [[nodiscard]] bool used() const { return number != 0; }
    [[nodiscard]] std::uint64_t hash() const { return core::mix_bits(key); }
    [[nodiscard]] bool same_key(const Place& other) const { return key == other.key; }
  };

  struct AtHand {
    ThreadNumber thread = 0;
    ThreadState state;
  };

  static std::uint64_t key_of(std::uint32_t tid, std::uint16_t processor) {
    const bool per_processor = tid == 0 || tid == kNoId;
    return per_processor ? (std::uint64_t{1} << 48) | (std::uint64_t{processor} << 32) | tid
                         : std::uint64_t{tid};
  }

  Place find(Place place, std::uint32_t tid, std::uint16_t processor) {
    const Place known = table_.find(place);
    if (known.used()) {
      return known;
    }
    if (tid == kNoId) {
      nobody_.push_back(processor);
    }
    place.number = states_.add({});
    table_.put(place);
    return place;
  }

  void exchange(AtHand& at_hand, ThreadNumber thread) {
    if (at_hand.thread != 0) {
      states_.set(at_hand.thread, at_hand.state);
    }
    at_hand = {thread, states_.get(thread)};
  }

  static constexpr std::size_t kRecent = 512;

  scratch::SpillRecords<ThreadState> states_;
  scratch::SpillTable<Place> table_;
  std::vector<std::uint16_t> nobody_;
  std::array<Place, kRecent> recent_{};    // by hash
  std::array<AtHand, kRecent> at_hand_{};  // by number: theirs are newer than those in states_
  std::uint32_t part_ = 1;
};

}  // namespace stackpack::etl
