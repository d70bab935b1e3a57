#include "app/convert/sink_queue.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/fetch_ahead.h"

namespace stackpack::app {

namespace {

constexpr std::size_t kSampleReadAhead = 24;  // samples between fetching one and taking it

template <typename T>
void make_room(std::vector<T>& items, std::size_t more) {
  if (items.capacity() - items.size() < more) {
    items.reserve(std::max(2 * items.capacity(), items.size() + more));
  }
}

}  // namespace

std::size_t SinkQueue::Batch::bytes() const {
  return entries.size() * sizeof(Entry) + samples.size() * sizeof(Sample) +
         addresses.size() * sizeof(std::uint64_t) + runs.size() * sizeof(capture::ModeRun) +
         sched.size() * sizeof(capture::SchedRecord);
}

void SinkQueue::Batch::clear() {
  entries.clear();
  samples.clear();
  addresses.clear();
  runs.clear();
  events.clear();
  sched.clear();
}

SinkQueue::SinkQueue(capture::CallstackSink& sink)
    : sink_(sink),
      pipeline_(
          1, kBatches, [this](unsigned, Batch& batch) { return deliver(batch); },
          [](Batch& batch) {
            batch.clear();
            return Status();
          }) {}

SinkQueue::~SinkQueue() {
  if (!finished_) {
    const Status ignored = core::guarded([this] { return finish(); });
    static_cast<void>(ignored);
  }
}

std::uint32_t SinkQueue::add_event(const Event& event) {
  add_event_entry(Kind::kEvent, 0, event);
  return event_count_++;
}

void SinkQueue::rename_event(std::uint32_t index, std::string_view name) {
  add_event_entry(Kind::kRename, index, {std::string(name), false});
}

void SinkQueue::add_event_entry(Kind kind, std::uint32_t number, Event event) {
  make_room(filling().entries, 1);
  filling().events.push_back(std::move(event));
  filling().entries.push_back({kind, number, 0, 0});
}

Status SinkQueue::add_sample(const Sample& sample, const capture::StackView& stack,
                             capture::StackMemo memo) {
  return push_sample(memo.known ? Kind::kKnownSample : Kind::kSample, sample, memo.slot, stack);
}

capture::PendingStack SinkQueue::open_pending() {
  filling().entries.push_back({Kind::kOpenPending, 0, 0, 0});
  return static_cast<capture::PendingStack>(promise_count_++);
}

Status SinkQueue::add_pending_sample(const Sample& sample, capture::PendingStack pending,
                                     const capture::StackView& fallback) {
  return push_sample(Kind::kPendingSample, sample, static_cast<std::uint32_t>(pending), fallback);
}

Status SinkQueue::resolve_pending(capture::PendingStack pending, const capture::StackView& stack) {
  return push(Kind::kResolve, static_cast<std::uint32_t>(pending), stack);
}

Status SinkQueue::add_sched(const capture::SchedRecord& record, const capture::StackView& stack,
                            capture::StackMemo memo) {
  make_room(filling().sched, 1);
  filling().sched.push_back(record);
  return push(memo.known ? Kind::kKnownSched : Kind::kSched, memo.slot, stack);
}

Status SinkQueue::add_pending_sched(const capture::SchedRecord& record,
                                    capture::PendingStack pending) {
  make_room(filling().sched, 1);
  filling().sched.push_back(record);
  return push(Kind::kPendingSched, static_cast<std::uint32_t>(pending), {});
}

Status SinkQueue::push_sample(Kind kind, const Sample& sample, std::uint32_t number,
                              const capture::StackView& stack) {
  make_room(filling().samples, 1);
  core::fetch_ahead(filling().samples);
  filling().samples.push_back(sample);
  return push(kind, number, stack);
}

Status SinkQueue::push(Kind kind, std::uint32_t number, const capture::StackView& stack) {
  Batch& batch = filling();
  // Memory runs out here or not at all: an entry without its addresses would take those of others.
  make_room(batch.entries, 1);
  if (!stack.empty()) {  // most callstacks are known, and come as numbers
    make_room(batch.addresses, stack.addresses.size());
    make_room(batch.runs, stack.runs.size());
    batch.addresses.insert(batch.addresses.end(), stack.addresses.begin(), stack.addresses.end());
    batch.runs.insert(batch.runs.end(), stack.runs.begin(), stack.runs.end());
  }
  core::fetch_ahead(batch.entries);
  // Field by field where it stays: a copy would be read before its fields are out of the processor.
  Entry& entry = batch.entries.emplace_back();
  entry.kind = kind;
  entry.number = number;
  entry.addresses = static_cast<std::uint32_t>(stack.addresses.size());
  entry.runs = static_cast<std::uint32_t>(stack.runs.size());
  return batch.bytes() < kBatchBytes ? Status{} : pipeline_.submit();
}

Status SinkQueue::finish() {
  finished_ = true;
  const Status finished = pipeline_.finish();
  pipeline_.stop();
  return finished;
}

Status SinkQueue::deliver(const Batch& batch) {
  std::span<const std::uint64_t> addresses = batch.addresses;
  std::span<const capture::ModeRun> runs = batch.runs;
  NextOf next;
  for (const Entry& entry : batch.entries) {
    const capture::StackView stack{addresses.first(entry.addresses), runs.first(entry.runs)};
    addresses = addresses.subspan(entry.addresses);
    runs = runs.subspan(entry.runs);
    const bool joins = take_together(batch, entry, stack, next);
    if (joins && together_.size() < kTogether) {
      continue;
    }
    Status delivered = deliver_samples();
    delivered = delivered && !joins ? deliver_alone(batch, entry, stack, next) : delivered;
    if (!delivered) {
      return delivered;
    }
  }
  return deliver_samples();
}

// False: the entry is none of those that are delivered together.
bool SinkQueue::take_together(const Batch& batch, const Entry& entry,
                              const capture::StackView& stack, NextOf& next) {
  const bool known = entry.kind == Kind::kKnownSample || entry.kind == Kind::kKnownSched;
  const bool sched = entry.kind == Kind::kSched || entry.kind == Kind::kKnownSched;
  if (!known && !sched && entry.kind != Kind::kSample) {
    return false;
  }
  capture::CallstackSink::StackedSample& joined = together_.emplace_back();  // as in push()
  joined.stack = stack;
  joined.memo.slot = entry.number;
  joined.memo.known = known;
  if (sched) {
    joined.sched = &batch.sched[next.sched++];
  } else {
    joined.sample = &batch.samples[next.sample++];
    __builtin_prefetch(
        &batch.samples[std::min(next.sample + kSampleReadAhead, batch.samples.size() - 1)]);
  }
  return true;
}

Status SinkQueue::deliver_alone(const Batch& batch, const Entry& entry,
                                const capture::StackView& stack, NextOf& next) {
  const auto pending = static_cast<capture::PendingStack>(entry.number);
  switch (entry.kind) {
    case Kind::kPendingSched:
      return sink_.add_pending_sched(batch.sched[next.sched++], pending);
    case Kind::kPendingSample:
      return sink_.add_pending_sample(batch.samples[next.sample++], pending, stack);
    case Kind::kResolve:
      return sink_.resolve_pending(pending, stack);
    case Kind::kOpenPending:
      sink_.open_pending();
      return {};
    case Kind::kEvent:
      sink_.add_event(batch.events[next.event++]);
      return {};
    case Kind::kRename:
      sink_.rename_event(entry.number, batch.events[next.event++].name);
      return {};
    case Kind::kSample:
    case Kind::kKnownSample:
    case Kind::kSched:
    case Kind::kKnownSched:
      break;  // together with others
  }
  return {};
}

Status SinkQueue::deliver_samples() {
  const Status added = sink_.add_samples(together_);
  together_.clear();
  return added;
}

}  // namespace stackpack::app
