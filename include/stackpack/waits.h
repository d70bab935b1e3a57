// What threads do when they do not run: the intervals of a capture that records context switches.
// See docs/waits.md for what they mean, docs/format.md, section 6, for how they are stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stackpack/model.h"

namespace stackpack {

/// What a thread does during an interval.
enum class WaitState : std::uint8_t {
  kRunning = 0,
  kBlocked = 1,    ///< left its processor to wait; ends when somebody makes it able to run
  kWoken = 2,      ///< able to run after a block or its birth, and waits for a processor
  kPreempted = 3,  ///< left its processor able to run, and waits for one
  kAwake = 4,      ///< able to run; which part of it it ran is not recorded
  kUnknown = 5,    ///< nothing is known; with a reason, it blocked when the interval began
  kExited = 6,     ///< it has ended, and leaves its processor for good when this ends
};

/// `blocked`, `woken`, ...: as listings and exports have them.
constexpr std::string_view wait_state_name(WaitState state) {
  switch (state) {
    case WaitState::kRunning:
      return "running";
    case WaitState::kBlocked:
      return "blocked";
    case WaitState::kWoken:
      return "woken";
    case WaitState::kPreempted:
      return "preempted";
    case WaitState::kAwake:
      return "awake";
    case WaitState::kUnknown:
      return "unknown";
    case WaitState::kExited:
      return "exited";
  }
  return "?";
}
inline constexpr unsigned kWaitStateCount = 7;

/// Who ended a block.
enum class WakerKind : std::uint8_t {
  kNone = 0,       ///< not recorded
  kThread = 1,     ///< the thread
  kInterrupt = 2,  ///< a device or timer, whose interrupt came while the thread ran
  kDeferred = 3,   ///< a deferred procedure call of Windows, while the thread ran
};
inline constexpr unsigned kWakerKindCount = 4;

/// Bits of WaitInterval::flags.
enum WaitFlags : std::uint8_t {
  kWaitOpenStart = 1,  ///< began before the recording did
  kWaitOpenEnd = 2,    ///< lasts longer than the recording
  kWaitCut = 4,        ///< records are missing at its end
  kWaitNoWaking = 8,   ///< of a block: ends with the switch-in, as no waking was recorded
  kWaitHint = 16,      ///< the waker may be the one that is named: a later event tells of it
};
inline constexpr std::uint8_t kWaitFlagMask = 31;

/// One interval in the life of a thread. Intervals of a thread follow each other in time and do not
/// overlap; a block may have length 0.
struct WaitInterval {
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
  WaitState state = WaitState::kUnknown;
  std::uint8_t flags = 0;
  WakerKind waker_kind = WakerKind::kNone;
  std::uint32_t reason = 0;        ///< row of Reader::wait_reasons(); 0: none
  std::uint32_t waker = 0;         ///< a thread; 0 without a waker
  StackId stack = kNoStack;        ///< where the thread left its processor
  StackId waker_stack = kNoStack;  ///< of the waker, when it woke the thread

  friend bool operator==(const WaitInterval&, const WaitInterval&) = default;
};

/// Which intervals to visit. Every condition that is set must hold.
struct WaitQuery {
  std::uint64_t from_ns = 0;                ///< intervals that end before it are left out
  std::uint64_t to_ns = ~std::uint64_t{0};  ///< and those that begin after it
  std::optional<std::uint32_t> pid{};
  std::optional<std::uint32_t> tid{};
};

}  // namespace stackpack
