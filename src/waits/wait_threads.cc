#include "waits/wait_threads.h"

namespace stackpack::waits {

ThreadState* ThreadTable::find(std::uint32_t tid) {
  const std::uint32_t number = numbers_.find(tid);
  return number == core::NumberTable<std::uint32_t>::kNone ? nullptr : &threads_[number];
}

ThreadState* ThreadTable::get(std::uint32_t tid, std::uint64_t since) {
  std::uint32_t number = numbers_.find(tid);
  if (number == core::NumberTable<std::uint32_t>::kNone) {
    if (threads_.size() == kMostThreads) {
      return nullptr;
    }
    number = numbers_.number(tid);
    ThreadState& fresh = threads_.emplace_back();
    fresh.tid = tid;
    fresh.since = since;
  }
  ThreadState& thread = threads_[number];
  if (!thread.touched) {
    thread.touched = true;
    touched_.push_back(number);
  }
  return &thread;
}

void RunningThreads::set(std::uint32_t cpu, std::uint32_t tid) {
  std::uint32_t number = processors_.find(cpu);
  if (number == core::NumberTable<std::uint32_t>::kNone) {
    if (threads_.size() == kMost) {
      return;
    }
    number = processors_.number(cpu);
    threads_.emplace_back();
  }
  threads_[number] = tid;
}

void RunningThreads::clear() {
  processors_.clear();
  threads_.clear();
}

}  // namespace stackpack::waits
