#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/number_table.h"
#include "stackpack/model.h"
#include "stackpack/waits.h"

namespace stackpack::waits {

/// Who makes a thread able to run.
struct Waker {
  WakerKind kind = WakerKind::kNone;
  bool hint = false;
  std::uint32_t tid = 0;
  StackId stack = kNoStack;
};

/// What is known of a thread while its events come.
struct ThreadState {
  enum class State : std::uint8_t {
    kNone,  // nothing happened to it yet
    kRunning,
    kBlocked,
    kWoken,
    kPreempted,
    kAwake,
    kUnknown,
    kExited,
  };
  static constexpr std::size_t kMostHeld = 4;

  State state = State::kNone;
  bool open = true;       // the interval began before the recording
  bool has_pend = false;  // it was woken while it ran
  bool touched = false;   // since the last gap
  bool switch_seen = false;
  std::uint8_t held_count = 0;
  std::uint32_t tid = 0;
  std::uint32_t reason = 0;
  std::uint64_t since = 0;
  StackId stack = kNoStack;
  StackId out_stack = kNoStack;  // announced for the next switch-out
  Waker pend;
  Waker waker;
  std::array<WaitInterval, kMostHeld> held;  // until their callstack comes with the switch-in
};

/// Threads by their ids, in the order in which they were met.
/// Memory: kMostThreads entries at most.
class ThreadTable {
 public:
  static constexpr std::size_t kMostThreads = std::size_t{1} << 18;

  /// Null: not known.
  [[nodiscard]] ThreadState* find(std::uint32_t tid);
  /// A new one has no state, and begins at `since`. Null: there is no room for one more.
  ThreadState* get(std::uint32_t tid, std::uint64_t since);

  [[nodiscard]] std::vector<ThreadState>& threads() { return threads_; }

  /// Visits those that get() gave since the last call.
  template <typename Visit>
  void take_touched(const Visit& visit) {
    for (const std::uint32_t number : touched_) {
      threads_[number].touched = false;
      visit(threads_[number]);
    }
    touched_.clear();
  }

 private:
  std::vector<ThreadState> threads_;
  core::NumberTable<std::uint32_t> numbers_;
  std::vector<std::uint32_t> touched_;
};

/// Which thread should run on each processor.
/// Memory: kMost entries at most.
class RunningThreads {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  /// Null: not known.
  [[nodiscard]] const std::uint32_t* find(std::uint32_t cpu) const {
    const std::uint32_t number = processors_.find(cpu);
    return number == core::NumberTable<std::uint32_t>::kNone ? nullptr : &threads_[number];
  }
  /// Nothing, where there is no room for one more.
  void set(std::uint32_t cpu, std::uint32_t tid);
  void clear();

 private:
  core::NumberTable<std::uint32_t> processors_;
  std::vector<std::uint32_t> threads_;  // by number of the processor
};

}  // namespace stackpack::waits
