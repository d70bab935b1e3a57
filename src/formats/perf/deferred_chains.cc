#include "formats/perf/deferred_chains.h"

#include <utility>

namespace stackpack::perf {

namespace {

std::size_t bytes_of(const WaitingSample& sample) {
  constexpr std::size_t kNodeBytes = 64;  // of the two containers
  return sizeof(WaitingSample) + kNodeBytes + sample.addresses.size() * sizeof(std::uint64_t) +
         sample.runs.size() * sizeof(capture::ModeRun) +
         sample.counted.size() * sizeof(CountedEvent);
}

}  // namespace

void DeferredChains::hold(std::uint32_t tid, WaitingSample waiting) {
  bytes_ += bytes_of(waiting);
  threads_[tid].push_back(next_);
  waiting_.emplace(next_, Entry{tid, std::move(waiting)});
  ++next_;
}

WaitingSample DeferredChains::take(std::map<Number, Entry>::iterator entry) {
  WaitingSample sample = std::move(entry->second.sample);
  bytes_ -= bytes_of(sample);
  waiting_.erase(entry);
  return sample;
}

std::optional<WaitingSample> DeferredChains::take_excess(std::uint32_t tid) {
  const auto thread = threads_.find(tid);
  if (thread != threads_.end() && thread->second.size() > kMaxPerThread) {
    const Number oldest = thread->second.front();
    thread->second.pop_front();
    return take(waiting_.find(oldest));
  }
  return bytes_ > kMaxBytes ? take_oldest() : std::nullopt;
}

std::vector<WaitingSample> DeferredChains::take_thread(std::uint32_t tid) {
  std::vector<WaitingSample> samples;
  const auto thread = threads_.find(tid);
  if (thread == threads_.end()) {
    return samples;
  }
  samples.reserve(thread->second.size());
  for (const Number number : thread->second) {
    samples.push_back(take(waiting_.find(number)));
  }
  threads_.erase(thread);
  return samples;
}

std::optional<WaitingSample> DeferredChains::take_oldest() {
  if (waiting_.empty()) {
    return std::nullopt;
  }
  const auto oldest = waiting_.begin();
  const auto thread = threads_.find(oldest->second.tid);
  thread->second.pop_front();
  if (thread->second.empty()) {
    threads_.erase(thread);
  }
  return take(oldest);
}

}  // namespace stackpack::perf
