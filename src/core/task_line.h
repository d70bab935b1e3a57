#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::core {

/// A bounded line of tasks: one owner puts them in, threads take them out in the same order, and
/// the owner collects each one when it needs it.
///
/// All hand-offs between threads of a conversion are made with this class and OrderedPipeline.
///
/// Threads: the owner's calls come from one thread. A thread is started by the submit() that can
///          use it. When the system refuses one, the line does with those it has; without any, the
///          owner runs its tasks itself in collect(). What comes out is the same.
/// Errors:  an exception of a task (std::bad_alloc) becomes its Error, see core::guarded().
/// Memory:  nothing is allocated for a task; tasks belong to the owner.
class TaskLine {
 public:
  /// A place in the line. The owner keeps it where it is from submit() to collect().
  class Task {
   public:
    Task() = default;
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;

    /// For the work: how much of `most_held` the result takes until it is collected.
    void set_weight(std::size_t weight) { weight_ = weight; }

   private:
    friend class TaskLine;
    enum class State : std::uint8_t { kIdle, kQueued, kRunning, kDone };

    State state_ = State::kIdle;  // guarded by the line's mutex
    std::size_t weight_ = 0;      // the work's while it runs, else guarded by the line's mutex
    Task* next_ = nullptr;        // guarded by the line's mutex
    Status status_;               // likewise as weight_
  };

  /// `worker` is below the number of threads, and no two calls at a time have the same one.
  using Work = std::function<Status(unsigned worker, Task& task)>;

  /// What collect() does with a task that no thread has begun.
  enum class IfNotBegun : std::uint8_t {
    kWait,     ///< waits for a thread: the work keeps its order and its worker
    kRunHere,  ///< runs it as worker 0: only for work that does not care who does it
  };

  /// How often each side waited for the other.
  struct Waits {
    std::uint64_t owner = 0;    ///< collect() found its task unfinished
    std::uint64_t workers = 0;  ///< a thread found nothing to do
  };

  /// `threads` 0: all tasks run in collect().
  /// No thread begins a task while finished ones of `most_held` weight are not collected; 0: no
  /// bound. With a bound, collect with kRunHere: the task that is waited for may be held back.
  /// An idle thread is woken when `wake_at` tasks wait, which spares it and the owner the waking
  /// for each; above 1, collect with kRunHere, too.
  TaskLine(unsigned threads, Work work, std::size_t most_held = 0, std::size_t wake_at = 1);
  TaskLine(const TaskLine&) = delete;
  TaskLine& operator=(const TaskLine&) = delete;

  /// Forgets tasks that were not begun, and waits for those that were.
  ~TaskLine();

  /// Puts a task into the line, which is not in it now.
  void submit(Task& task);

  /// Whether collect() would return at once.
  [[nodiscard]] bool is_done(const Task& task) const;

  /// Waits for a submitted task and takes it out of the line. Result: what the work returned.
  Status collect(Task& task, IfNotBegun if_not_begun = IfNotBegun::kWait);

  /// Ends the threads as the destructor does; no submit() may follow.
  void stop();

  /// After stop().
  [[nodiscard]] Waits waits() const { return waits_; }

 private:
  void start_thread();
  void run(unsigned worker);
  void unlink(Task& task);
  [[nodiscard]] bool may_begin() const {
    return first_ != nullptr && (most_held_ == 0 || held_ < most_held_);
  }

  const Work work_;
  const unsigned most_threads_;
  const std::size_t most_held_;
  const std::size_t wake_at_;

  mutable std::mutex mutex_;
  std::condition_variable work_came_;
  std::condition_variable task_done_;
  Task* first_ = nullptr;  // guarded by mutex_, as all that follows
  Task* last_ = nullptr;
  std::size_t queued_ = 0;
  std::size_t held_ = 0;
  unsigned idle_ = 0;  // threads that wait for work
  bool closed_ = false;
  Waits waits_;
  bool refused_ = false;              // the owner's: no further thread is asked for
  std::vector<std::thread> threads_;  // the owner's; last: they use everything above
};

}  // namespace stackpack::core
