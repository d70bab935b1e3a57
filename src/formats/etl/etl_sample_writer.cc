#include "formats/etl/etl_sample_writer.h"

#include <utility>

namespace stackpack::etl {

std::uint32_t SampleWriter::introduce(std::uint32_t number) {
  EventKind& kind = kinds_.at(number);
  kind.sink_event = rows_.row_of(name_of(kind, number), kind.use.weighted);
  kind.known_to_sink = true;
  return kind.sink_event;
}

void SampleWriter::rename_events() {
  for (std::uint32_t number = 0; number < kinds_.size(); ++number) {
    const EventKind& kind = kinds_.at(number);
    if (kind.known_to_sink && !(kind.counter.empty() && kind.title.empty())) {
      sink_.rename_event(kind.sink_event, name_of(kind, number));
    }
  }
}

Sample SampleWriter::sample_of(const EventFacts& event, StackOrigin origin) {
  Sample sample;
  sample.time_ns = clock_.unix_ns(event.clock);
  sample.pid = event.pid;
  sample.tid = event.tid;
  sample.cpu = event.cpu;
  sample.event = event_index(event.kind);
  sample.weight = event.weight;
  sample.origin = origin;
  sample.flags =
      static_cast<std::uint8_t>(((event.flags & kEventIdle) != 0 ? kSampleIdle : 0) |
                                ((event.flags & kEventOrphan) != 0 ? kSampleOrphanStack : 0));
  return sample;
}

capture::StackView SampleWriter::view_of(std::span<const std::uint64_t> frames) {
  runs_.clear();
  for (std::size_t begin = 0; begin < frames.size();) {
    const bool kernel = is_kernel_address(frames[begin], pointer_size_);
    std::size_t end = begin + 1;
    while (end < frames.size() && is_kernel_address(frames[end], pointer_size_) == kernel) {
      ++end;
    }
    runs_.push_back(
        {kernel ? FrameMode::kKernel : FrameMode::kUser, static_cast<std::uint32_t>(end - begin)});
    begin = end;
  }
  return {frames, runs_};
}

// What is known of a callstack lies in memory that left the processor's caches. A callstack waits
// until there are some, so that all of it is fetched at a time.
void SampleWriter::begin_in_group(const EventFacts& event, Reading reading) {
  Grouped& grouped = group_[grouped_];
  grouped.sample = sample_of(event, StackOrigin::kRecorded);
  grouped.begin = frames_.size();
  grouped.reading = reading;
  grouped.kind = event.kind;
  grouped.is_orphan = (event.flags & kEventOrphan) != 0;
}

// All frames of the callstack are there.
Status SampleWriter::end_in_group() {
  Grouped& grouped = group_[grouped_];
  grouped.end = frames_.size();
  grouped.prepared = knows_stacks_
                         ? recent_.prepare(std::as_bytes(frames_.frames().subspan(grouped.begin)),
                                           static_cast<std::uint8_t>(grouped.reading))
                         : 0;
  ++grouped_;
  return grouped_ == kTogether || frames_.size() >= kFramesTogether ? flush() : Status();
}

Status SampleWriter::flush() {
  const std::span<const Grouped> group = std::span(group_).first(std::exchange(grouped_, 0));
  for (const Grouped& grouped : group) {
    recent_.fetch(grouped.prepared);
  }
  for (const Grouped& grouped : group) {
    if (const Status given = give(grouped); !given) {
      return given;
    }
  }
  frames_.clear();
  return {};
}

Status SampleWriter::give(const Grouped& grouped) {
  const std::span<const std::uint64_t> frames =
      frames_.frames().subspan(grouped.begin, grouped.end - grouped.begin);
  const std::span<const std::byte> chain = std::as_bytes(frames);
  const auto reading = static_cast<std::uint8_t>(grouped.reading);
  const capture::StackMemo memo =
      knows_stacks_ ? recent_.find(chain, reading, grouped.prepared) : capture::StackMemo{};
  if (memo.known) {
    return give(grouped, {}, memo);
  }
  if (memo.slot != capture::StackMemo::kNone) {
    recent_.keep(chain, reading, memo, false);
  }
  if (grouped.reading != Reading::kAllUser) {
    return give(grouped, view_of(frames), memo);
  }
  runs_.assign(1, {FrameMode::kUser, static_cast<std::uint32_t>(frames.size())});
  return give(grouped, {frames, runs_}, memo);
}

Status SampleWriter::give(const Grouped& grouped, const capture::StackView& stack,
                          capture::StackMemo memo) {
  if (switches_ == nullptr) {
    return sink_.add_sample(grouped.sample, stack, memo);
  }
  const EventRole role = kinds_.at(grouped.kind).use.role;
  if (!switches_->wants_stack(role, grouped.is_orphan)) {
    return sink_.add_sample(grouped.sample, stack, memo);
  }
  if (!switches_->keeps_sample(role)) {
    return switches_->stack(grouped.sample, stack, memo);
  }
  if (const Status added = sink_.add_sample(grouped.sample, stack, memo); !added) {
    return added;
  }
  if (memo.slot == capture::StackMemo::kNone) {
    return switches_->stack(grouped.sample, stack, memo);
  }
  memo.known = true;
  return switches_->stack(grouped.sample, {}, memo);
}

Status SampleWriter::recorded(const EventFacts& event, std::span<const std::uint64_t> frames,
                              std::span<const std::uint64_t> more) {
  begin_in_group(event, reading_of_addresses());
  frames_.append(frames);
  frames_.append(more);
  return end_in_group();
}

Status SampleWriter::recorded_as_stored(const EventFacts& event, std::span<const std::byte> frames,
                                        std::span<const std::byte> more) {
  begin_in_group(event, reading_of_addresses());
  frames_.append(frames, sizeof(std::uint64_t));
  frames_.append(more, sizeof(std::uint64_t));
  return end_in_group();
}

Status SampleWriter::recorded_user(const EventFacts& event, std::span<const std::uint64_t> frames) {
  begin_in_group(event, Reading::kAllUser);
  frames_.append(frames);
  return end_in_group();
}

Status SampleWriter::ip_only(const EventFacts& event) {
  if (const Status flushed = flush(); !flushed) {
    return flushed;
  }
  return sink_.add_sample(sample_of(event, StackOrigin::kIpOnly), view_of({&event.ip, 1}));
}

Status SampleWriter::add_pending(const EventFacts& event, capture::PendingStack pending) {
  if (const Status flushed = flush(); !flushed) {
    return flushed;
  }
  if (const EventRole role = kinds_.at(event.kind).use.role;
      switches_ != nullptr && switches_->wants_stack(role, (event.flags & kEventOrphan) != 0)) {
    const Sample sample = sample_of(event, StackOrigin::kNone);
    const Status added = switches_->pending_stack(sample, pending);
    if (!added || !switches_->keeps_sample(role)) {
      return added;
    }
  }
  const bool has_ip = (event.flags & kEventIsSample) != 0;
  const std::span<const std::uint64_t> fallback(&event.ip, has_ip ? 1 : 0);
  return sink_.add_pending_sample(
      sample_of(event, has_ip ? StackOrigin::kIpOnly : StackOrigin::kNone), pending,
      view_of(fallback));
}

Status SampleWriter::resolve_pending(capture::PendingStack pending,
                                     std::span<const std::uint64_t> frames) {
  if (const Status flushed = flush(); !flushed) {
    return flushed;
  }
  return sink_.resolve_pending(pending, view_of(frames));
}

}  // namespace stackpack::etl
