// The events of the last moments, in case a stack comes for one of them.
//
// A stack is an event of its own and names the clock and the thread of the event it belongs to; it
// comes a few microseconds later, a user half up to half a second later. So every event that may
// get a stack is remembered for a while: the window is a ring of a fixed number of events. When an
// event leaves it without a stack, its fate is clear: a profile sample becomes ip-only, anything
// else is no sample at all. The joining of stack halves does not depend on the window; only the
// question does which event a stack is filed under.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "formats/etl/event/event_header.h"

namespace stackpack::etl {

/// Bits of EventFacts::flags.
enum EventFlags : std::uint8_t {
  kEventIsSample = 1,  ///< a profile event: a sample with or without a stack
  kEventIdle = 2,      ///< taken in the idle thread, and not in an interrupt
  kEventOrphan = 4,    ///< made up for a stack whose event was not found
};

/// What a sample needs to know of its event.
struct EventFacts {
  std::uint64_t clock = 0;
  std::uint64_t ip = 0;  ///< of profile events
  std::uint32_t pid = kNoId;
  std::uint32_t tid = kNoId;
  std::uint32_t kind = 0;
  std::uint32_t weight = 1;
  std::uint16_t cpu = 0;
  std::uint8_t flags = 0;
};

/// Number of an event in the window, counted from the start of the trace.
using WindowIndex = std::uint64_t;
inline constexpr WindowIndex kNotInWindow = ~WindowIndex{0};

struct RecentEvent {
  EventFacts facts;
  WindowIndex previous = kNotInWindow;  ///< the event before it of the same thread
  bool taken = false;                   ///< a stack came for it
  bool previous_is_earlier = false;     ///< `previous` has a smaller clock
};

class EventWindow {
 public:
  /// `capacity` is rounded up to a power of two. Memory comes in chunks, as it is needed.
  explicit EventWindow(std::size_t capacity) : mask_(std::bit_ceil(capacity) - 1) {}

  [[nodiscard]] bool full() const { return next_ - oldest_ > mask_; }
  [[nodiscard]] bool empty() const { return next_ == oldest_; }

  /// Adds an event; the window must not be full. The event gets the next number. `previous` is the
  /// one before it of its thread, and had that clock.
  WindowIndex add(const EventFacts& facts, WindowIndex previous, std::uint64_t previous_clock) {
    const auto slot = static_cast<std::size_t>(next_ & mask_);
    if (slot / kChunk == chunks_.size()) {
      chunks_.push_back(std::make_unique<Chunk>());
    }
    // The search for an event goes on to the one before only where this says so: it left the
    // caches of the processor long ago.
    const bool earlier = holds(previous) && previous_clock < facts.clock;
    (*chunks_[slot / kChunk])[slot % kChunk] = {facts, previous, false, earlier};
    return next_++;
  }

  [[nodiscard]] const RecentEvent& oldest() { return at(oldest_); }
  void drop_oldest() { ++oldest_; }

  [[nodiscard]] bool holds(WindowIndex index) const {
    return index != kNotInWindow && index >= oldest_ && index < next_;
  }
  /// The event with that number, which the window must hold.
  [[nodiscard]] RecentEvent& at(WindowIndex index) {
    const auto slot = static_cast<std::size_t>(index & mask_);
    return (*chunks_[slot / kChunk])[slot % kChunk];
  }

  /// The event with exactly this clock which no stack has taken yet, in the chain of events that
  /// ends with `last`; null when there is none. The chain goes back in time; the search gives up
  /// after kMostSteps.
  RecentEvent* find_free(WindowIndex last, std::uint64_t clock) {
    RecentEvent* found = nullptr;
    for (unsigned step = 0; step < kMostSteps && holds(last); ++step) {
      RecentEvent& event = at(last);
      if (event.facts.clock < clock) {
        break;
      }
      if (event.facts.clock == clock) {
        found = event.taken ? found : &event;  // the earliest one of them: go on
        if (event.previous_is_earlier) {
          break;
        }
      }
      last = event.previous;
    }
    return found;
  }

  /// Whether there is an event with exactly this clock in that chain, taken or not.
  bool has_event(WindowIndex last, std::uint64_t clock) {
    for (unsigned step = 0; step < kMostSteps && holds(last); ++step) {
      const RecentEvent& event = at(last);
      if (event.facts.clock <= clock) {
        return event.facts.clock == clock;
      }
      last = event.previous;
    }
    return false;
  }

 private:
  static constexpr unsigned kMostSteps = 1024;
  static constexpr std::size_t kChunk = 4096;
  using Chunk = std::array<RecentEvent, kChunk>;

  std::uint64_t mask_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  WindowIndex oldest_ = 0;
  WindowIndex next_ = 0;
};

}  // namespace stackpack::etl
