#include "core/task_line.h"

#include <new>
#include <system_error>
#include <utility>

#include "core/guard.h"

namespace stackpack::core {

TaskLine::TaskLine(unsigned threads, Work work, std::size_t most_held, std::size_t wake_at)
    : work_(std::move(work)), most_threads_(threads), most_held_(most_held), wake_at_(wake_at) {
  threads_.reserve(threads);
}

TaskLine::~TaskLine() {
  stop();
}

void TaskLine::stop() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    first_ = nullptr;
    last_ = nullptr;
    queued_ = 0;
  }
  work_came_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

// The system may refuse a thread, or the memory of one.
void TaskLine::start_thread() {
  try {
    threads_.emplace_back([this, worker = static_cast<unsigned>(threads_.size())] { run(worker); });
  } catch (const std::system_error&) {
    refused_ = true;
  } catch (const std::bad_alloc&) {
    refused_ = true;
  }
}

void TaskLine::submit(Task& task) {
  bool needs_thread = false;
  bool enough = false;
  {
    const std::lock_guard lock(mutex_);
    task.state_ = Task::State::kQueued;
    task.next_ = nullptr;
    (last_ != nullptr ? last_->next_ : first_) = &task;
    last_ = &task;
    ++queued_;
    needs_thread = idle_ == 0;
    enough = queued_ >= wake_at_;
  }
  if (needs_thread && !refused_ && threads_.size() < most_threads_) {
    start_thread();
  }
  if (enough) {
    work_came_.notify_one();
  }
}

bool TaskLine::is_done(const Task& task) const {
  const std::lock_guard lock(mutex_);
  return task.state_ == Task::State::kDone;
}

void TaskLine::run(unsigned worker) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!may_begin() && !closed_) {
      ++waits_.workers;
      ++idle_;
      work_came_.wait(lock, [this] { return may_begin() || closed_; });
      --idle_;
    }
    if (closed_) {
      return;
    }
    Task& task = *first_;
    unlink(task);
    task.state_ = Task::State::kRunning;
    lock.unlock();
    Status status = guarded([&] { return work_(worker, task); });
    lock.lock();
    task.status_ = status;
    task.state_ = Task::State::kDone;
    held_ += task.weight_;
    task_done_.notify_one();
  }
}

void TaskLine::unlink(Task& task) {
  Task* before = nullptr;
  for (Task* at = first_; at != &task; at = at->next_) {
    before = at;
  }
  (before != nullptr ? before->next_ : first_) = task.next_;
  if (last_ == &task) {
    last_ = before;
  }
  --queued_;
}

Status TaskLine::collect(Task& task, IfNotBegun if_not_begun) {
  std::unique_lock lock(mutex_);
  const bool here = threads_.empty() || if_not_begun == IfNotBegun::kRunHere;
  if (task.state_ == Task::State::kQueued && here) {
    unlink(task);
    task.state_ = Task::State::kIdle;
    lock.unlock();
    return guarded([&] { return work_(0, task); });
  }
  if (task.state_ != Task::State::kDone) {
    ++waits_.owner;
    task_done_.wait(lock, [&task] { return task.state_ == Task::State::kDone; });
  }
  task.state_ = Task::State::kIdle;
  const bool was_full = most_held_ != 0 && held_ >= most_held_;
  held_ -= task.weight_;
  const bool enough = queued_ >= wake_at_;
  const Status status = std::exchange(task.status_, {});
  lock.unlock();
  if (was_full && enough) {
    work_came_.notify_one();
  }
  return status;
}

}  // namespace stackpack::core
