#include "app/convert/sink_queue.h"

#include <utility>

namespace stackpack::app {

std::size_t SinkQueue::Batch::bytes() const {
  return entries.size() * sizeof(Entry) + addresses.size() * sizeof(std::uint64_t) +
         runs.size() * sizeof(capture::ModeRun);
}

void SinkQueue::Batch::clear() {
  entries.clear();
  addresses.clear();
  runs.clear();
  events.clear();
}

SinkQueue::SinkQueue(capture::CallstackSink& sink)
    : sink_(sink), empty_(kBatches - 1), thread_([this] { run(); }) {}

SinkQueue::~SinkQueue() {
  if (!finished_) {
    const Status ignored = finish();
    static_cast<void>(ignored);
  }
}

std::uint32_t SinkQueue::add_event(const Event& event) {
  filling_.events.push_back(event);
  filling_.entries.push_back({Kind::kEvent, {}, 0, 0, 0});
  return event_count_++;
}

void SinkQueue::rename_event(std::uint32_t index, std::string_view name) {
  filling_.events.push_back({std::string(name), false});
  filling_.entries.push_back({Kind::kRename, {}, index, 0, 0});
}

Status SinkQueue::add_sample(const Sample& sample, const capture::StackView& stack,
                             capture::StackMemo memo) {
  return push(memo.known ? Kind::kKnownSample : Kind::kSample, sample, memo.slot, stack);
}

capture::PendingStack SinkQueue::open_pending() {
  filling_.entries.push_back({Kind::kOpenPending, {}, 0, 0, 0});
  return static_cast<capture::PendingStack>(promise_count_++);
}

Status SinkQueue::add_pending_sample(const Sample& sample, capture::PendingStack pending,
                                     const capture::StackView& fallback) {
  return push(Kind::kPendingSample, sample, static_cast<std::uint32_t>(pending), fallback);
}

Status SinkQueue::resolve_pending(capture::PendingStack pending, const capture::StackView& stack) {
  return push(Kind::kResolve, {}, static_cast<std::uint32_t>(pending), stack);
}

Status SinkQueue::push(Kind kind, const Sample& sample, std::uint32_t number,
                       const capture::StackView& stack) {
  filling_.entries.push_back({kind, sample, number,
                              static_cast<std::uint32_t>(stack.addresses.size()),
                              static_cast<std::uint32_t>(stack.runs.size())});
  filling_.addresses.insert(filling_.addresses.end(), stack.addresses.begin(),
                            stack.addresses.end());
  filling_.runs.insert(filling_.runs.end(), stack.runs.begin(), stack.runs.end());
  return filling_.bytes() < kBatchBytes ? Status{} : hand_over();
}

Status SinkQueue::hand_over() {
  std::unique_lock lock(mutex_);
  if (empty_.empty()) {
    ++stalls_.source_waited;
    changed_.wait(lock, [this] { return !empty_.empty(); });
  }
  ready_.push_back(std::move(filling_));
  filling_ = std::move(empty_.back());
  empty_.pop_back();
  const Status status = status_;
  lock.unlock();
  changed_.notify_all();
  return status;
}

Status SinkQueue::finish() {
  finished_ = true;
  {
    const std::lock_guard lock(mutex_);
    ready_.push_back(std::move(filling_));
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
  filling_ = {};
  empty_.clear();
  return status_;
}

void SinkQueue::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (ready_.empty() && !closed_) {
      ++stalls_.sink_waited;
      changed_.wait(lock, [this] { return !ready_.empty() || closed_; });
    }
    if (ready_.empty()) {
      return;
    }
    Batch batch = std::move(ready_.front());
    ready_.pop_front();
    const bool failed = !status_;
    lock.unlock();
    const Status delivered = failed ? Status{} : deliver(batch);
    batch.clear();
    lock.lock();
    if (!delivered) {
      status_ = delivered;
    }
    empty_.push_back(std::move(batch));
    changed_.notify_all();
  }
}

Status SinkQueue::deliver(const Batch& batch) {
  std::span<const std::uint64_t> addresses = batch.addresses;
  std::span<const capture::ModeRun> runs = batch.runs;
  std::size_t event = 0;
  for (const Entry& entry : batch.entries) {
    const capture::StackView stack{addresses.first(entry.addresses), runs.first(entry.runs)};
    addresses = addresses.subspan(entry.addresses);
    runs = runs.subspan(entry.runs);
    if (entry.kind == Kind::kSample || entry.kind == Kind::kKnownSample) {
      together_.push_back({&entry.sample, stack, {entry.number, entry.kind == Kind::kKnownSample}});
      if (together_.size() < kTogether) {
        continue;
      }
    }
    if (const Status added = deliver_samples(); !added) {
      return added;
    }
    const auto promise = static_cast<capture::PendingStack>(entry.number);
    Status status;
    switch (entry.kind) {
      case Kind::kSample:
      case Kind::kKnownSample:
        break;
      case Kind::kPendingSample:
        status = sink_.add_pending_sample(entry.sample, promise, stack);
        break;
      case Kind::kOpenPending:
        sink_.open_pending();
        break;
      case Kind::kResolve:
        status = sink_.resolve_pending(promise, stack);
        break;
      case Kind::kEvent:
        sink_.add_event(batch.events[event++]);
        break;
      case Kind::kRename:
        sink_.rename_event(entry.number, batch.events[event++].name);
        break;
    }
    if (!status) {
      return status;
    }
  }
  return deliver_samples();
}

Status SinkQueue::deliver_samples() {
  const Status added = sink_.add_samples(together_);
  together_.clear();
  return added;
}

}  // namespace stackpack::app
