// From records of switches and wakings to intervals in which threads run, wait and are able to run.
//
// The engine knows no capture format. Two kinds of records lead to the same intervals:
//
//   kSwitch, kSwitchOut, kSwitchIn, kWaking, ...: the callstack comes when a thread leaves, the
//       thread that wakes is named (Linux);
//   kHandover, kReady, kStackOf: the callstack comes when the thread runs again, and who wakes is
//       who runs on the processor (Windows).
//   kWaitBegin, kWaitEnd: what programs say of their own waits; of no use beside the others.
//
// What the records do not say stays unknown and is counted: a switch-in that is missing makes an
// interval `awake` or `unknown`, never a guess.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "capture/wait_facts.h"
#include "core/number_table.h"
#include "stackpack/model.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"
#include "waits/wait_losses.h"

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

/// A record with the id of its callstack.
struct SchedEvent : capture::SchedRecord {
  StackId stack = kNoStack;
};

/// What must be known of all records before the first is taken.
struct WaitPlan {
  bool system_wide = false;    ///< the switches of all threads are recorded
  bool has_switches = false;   ///< kSwitch
  bool has_records = false;    ///< kSwitchOut or kSwitchIn
  bool has_wakings = false;    ///< kWaking: kWakeup says the same later
  bool has_births = false;     ///< kNewThread: kFork says the same
  bool has_handovers = false;  ///< kHandover: callstacks come with switch-ins
  /// Of a recording of some threads: those that it is of, and of no other anything is claimed.
  /// Null: all. Must outlive the engine.
  const core::NumberTable<std::uint32_t>* own_threads = nullptr;
  std::uint64_t start_ns = 0;  ///< of the first record that is no kFork, kExit, kSeen or kGap
  std::uint64_t end_ns = 0;    ///< of the last one
};

/// Takes records in order of time and gives intervals, each when it is over.
///
/// Memory: what ThreadTable takes, and some bytes for each processor.
class WaitEngine {
 public:
  using Emit = std::function<void(const WaitInterval&)>;

  WaitEngine(const WaitPlan& plan, Emit emit);

  void take(const SchedEvent& event);

  /// The intervals that last until the end. Call once, after the last record.
  void finish();

  [[nodiscard]] const WaitCounters& counters() const { return counters_; }

 private:
  using State = ThreadState::State;

  struct Stack {
    std::uint32_t tid = 0;
    std::uint32_t cpu = 0;
    StackId stack = kNoStack;
  };

  ThreadState* thread(std::uint32_t tid);
  void close(ThreadState& thread, std::uint64_t to, std::uint8_t flag = 0, const Waker& waker = {});
  void give(ThreadState& thread, const WaitInterval& interval);
  void go(ThreadState& thread, State state, std::uint64_t at, std::uint32_t reason = 0,
          StackId stack = kNoStack);
  void release(ThreadState& thread, StackId stack);
  void break_run(std::uint32_t tid, std::uint64_t at);
  void gap(std::uint64_t from, std::uint64_t until);
  void apply_first_gaps();
  void dispatch(const SchedEvent& event);

  // Callstacks at switch-outs.
  void on_out_stack(const SchedEvent& event);
  void on_wakeup(const SchedEvent& event);
  void on_fork(const SchedEvent& event);
  void on_exit(const SchedEvent& event);
  void on_switch(const SchedEvent& event);
  void on_switch_out(const SchedEvent& event);
  void on_switch_in(const SchedEvent& event);
  void on_seen(const SchedEvent& event);
  [[nodiscard]] bool knows_switches() const {
    return plan_.has_switches || plan_.has_records || plan_.has_handovers;
  }
  void on_wait_begin(const SchedEvent& event);
  void on_wait_end(const SchedEvent& event);
  void leave(ThreadState& thread, const SchedEvent& event, StackId stack);
  void enter(std::uint32_t tid, std::uint64_t at);
  [[nodiscard]] bool has_ended(std::uint32_t tid);
  void wake(const SchedEvent& event, const Waker& waker, bool is_new);
  void close_awake(ThreadState& thread, std::uint64_t at);

  // Callstacks at switch-ins (wait_engine_handovers.cc).
  void on_handover(const SchedEvent& event);
  void hand_out(const SchedEvent& event);
  void hand_in(const SchedEvent& event, StackId stack);
  [[nodiscard]] Waker readier_of(const SchedEvent& event);
  void on_ready(const SchedEvent& event);
  void on_born(const SchedEvent& event);
  void keep_stack(const SchedEvent& event);
  [[nodiscard]] StackId stack_of(std::uint32_t tid, std::uint32_t cpu) const;

  WaitPlan plan_;
  Emit emit_;
  WaitCounters counters_;
  ThreadTable threads_;
  RunningThreads running_;
  std::vector<Stack> stacks_;  // of events at stacks_at_
  std::uint64_t stacks_at_ = 0;
  std::uint64_t known_from_;  // of a thread that was never met, nothing before it is claimed
  std::uint64_t gap_until_ = 0;
  bool in_gap_ = false;
  std::uint64_t first_gap_until_ = 0;  // of gaps from the start on
  bool has_first_gap_ = false;
};

}  // namespace stackpack::waits
