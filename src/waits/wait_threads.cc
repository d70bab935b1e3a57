#include "waits/wait_threads.h"

namespace stackpack::waits {

ThreadState* ThreadTable::find(std::uint32_t tid) {
  const auto known = numbers_.find(tid);
  return known == numbers_.end() ? nullptr : &threads_[known->second];
}

ThreadState* ThreadTable::get(std::uint32_t tid, std::uint64_t since) {
  auto known = numbers_.find(tid);
  if (known == numbers_.end()) {
    if (threads_.size() == kMostThreads) {
      return nullptr;
    }
    known = numbers_.emplace(tid, static_cast<std::uint32_t>(threads_.size())).first;
    ThreadState& fresh = threads_.emplace_back();
    fresh.tid = tid;
    fresh.since = since;
  }
  ThreadState& thread = threads_[known->second];
  if (!thread.touched) {
    thread.touched = true;
    touched_.push_back(known->second);
  }
  return &thread;
}

}  // namespace stackpack::waits
