#include "formats/perf/switch_events.h"

#include <algorithm>

#include "capture/wait_rules.h"
#include "formats/perf/perf_losses.h"

namespace stackpack::perf {

using capture::SchedKind;
using capture::SchedRecord;

namespace {

constexpr std::uint32_t kTracepoint = 2;
constexpr std::uint32_t kSoftware = 1;
constexpr std::uint64_t kContextSwitches = 3;
constexpr std::size_t kMostProcessors = std::size_t{1} << 16;
constexpr std::uint16_t kMiscSwitchOut = 1U << 13;
constexpr std::uint16_t kMiscSwitchOutPreempt = 1U << 14;
constexpr std::uint64_t kInterruptFlags = 0x08 | 0x10;  // of common_flags: hardirq, softirq

bool is_wanted(std::string_view system, std::string_view name) {
  return system == "sched" && (name == "sched_switch" || name == "sched_waking" ||
                               name == "sched_wakeup" || name == "sched_wakeup_new");
}

std::uint32_t id_of(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}

bool is_switch(RecordType type) {
  return type == RecordType::kSwitch || type == RecordType::kSwitchCpuWide;
}

// What says at which time a processor was, besides switches.
bool is_of_threads_or_losses(RecordType type) {
  return type == RecordType::kLost || type == RecordType::kFork || type == RecordType::kComm ||
         type == RecordType::kExit || type == RecordType::kLostSamples;
}

}  // namespace

bool SwitchEvents::read_formats(bytes::ByteCursor tracing_data) {
  const bool read = read_tracepoint_formats(tracing_data, is_wanted, formats_);
  tracepoints_.clear();
  leaving_.clear();
  has_formats_ = true;
  for (const auto& [id, format] : formats_) {
    if (format.name == "sched_switch") {
      states_ = TaskStates(format.print_format);
    }
  }
  return read;
}

const SwitchEvents::Tracepoint& SwitchEvents::tracepoint(std::uint32_t number, const Attr& attr) {
  if (number >= tracepoints_.size()) {
    tracepoints_.resize(number + 1);
  }
  Tracepoint& point = tracepoints_[number];
  if (point.kind != Kind::kUnsorted) {
    return point;
  }
  point.kind = Kind::kOther;
  if (attr.type == kSoftware && attr.config == kContextSwitches) {
    point.kind = Kind::kOutStack;
  } else if (attr.type == kTracepoint) {
    const auto found = formats_.find(attr.config);
    if (found != formats_.end()) {
      const TracepointFormat& format = found->second;
      point.kind = format.name == "sched_switch"   ? Kind::kSwitch
                   : format.name == "sched_waking" ? Kind::kWaking
                   : format.name == "sched_wakeup" ? Kind::kWakeup
                                                   : Kind::kNewThread;
      point.previous = format.place_of("prev_pid");
      point.state = format.place_of("prev_state");
      point.next = format.place_of("next_pid");
      point.woken = format.place_of("pid");
      point.flags = format.place_of("common_flags");
    } else if (!has_formats_) {
      point.kind = Kind::kNoFormat;
    }
  }
  if (point.kind == Kind::kSwitch) {
    uses_samples_ = true;
    const bool is_sampled = attr.has_flag(attr_flag::kFrequency) || attr.sample_period > 1;
    sampled_events_ += is_sampled ? 1U : 0U;
  }
  return point;
}

// The letters of a state are always the same.
SwitchEvents::Leaving SwitchEvents::leaving(std::uint64_t state) {
  if (const auto known = leaving_.find(state); known != leaving_.end()) {
    return known->second;
  }
  const std::string letters = states_.letters(state);
  const bool preempted = states_.preempted(state);
  const bool runnable = preempted || letters == "R";
  Leaving result;
  if (letters.find_first_of("XZ") != std::string::npos) {
    result.flags = capture::kSchedExit;
  } else if (runnable) {
    result.flags = capture::kSchedRunnable;
  }
  result.reason = facts_->reason(runnable ? (preempted ? "R+" : "R") : letters);
  if (leaving_.size() < kMostLeaving) {
    leaving_.emplace(state, result);
  }
  return result;
}

SwitchEvents::Processor* SwitchEvents::processor(std::uint32_t cpu) {
  if (cpu == kUnknownId) {
    return nullptr;
  }
  std::uint32_t number = processor_numbers_.find(cpu);
  if (number == core::NumberTable<std::uint32_t>::kNone) {
    if (processors_.size() == kMostProcessors) {
      return nullptr;
    }
    number = processor_numbers_.number(cpu);
    processors_.emplace_back();
  }
  return &processors_[number];
}

// The clock of a processor may step back by some microseconds; its records are in order all the
// same.
std::uint64_t SwitchEvents::steady_time(Processor* known, std::uint64_t time) {
  if (known == nullptr) {
    return time;
  }
  if (time < known->sched) {
    ++steps_back_;
    return known->sched;
  }
  known->sched = time;
  return time;
}

SchedKind SwitchEvents::waking_of(Kind kind) {
  return kind == Kind::kWaking   ? SchedKind::kWaking
         : kind == Kind::kWakeup ? SchedKind::kWakeup
                                 : SchedKind::kNewThread;
}

inline void SwitchEvents::see_time(Processor* known, std::uint64_t time) {
  highest_ = std::max(highest_, time);
  if (known != nullptr) {
    known->last = std::max(known->last, time);
  }
}

// Whether a sample of another event shows that its thread runs: where nothing better does.
inline bool SwitchEvents::says_who_runs(const SampleFields& fields) const {
  return uses_samples_ && !has_records_ && !facts_->system_wide.value_or(false) &&
         static_cast<std::int32_t>(fields.tid) > 0;
}

std::optional<SwitchEvents::Found> SwitchEvents::of_sample(std::uint32_t number,
                                                           const AttrTable::Row& row,
                                                           const SampleFields& fields,
                                                           std::uint64_t record_offset) {
  const Tracepoint& point = tracepoint(number, row.attr);
  if (!row.layout.has(sample_bit::kTime)) {
    return std::nullopt;
  }
  Processor* const known = processor(fields.cpu);
  see_time(known, fields.time);
  Found found;
  SchedRecord& record = found.record;
  record.order = order_++;
  record.cpu = fields.cpu;
  record.tid = fields.tid;
  record.time_ns = steady_time(known, fields.time);
  bool good = true;
  switch (point.kind) {
    case Kind::kUnsorted:
    case Kind::kNoFormat:
      without_format_at_ = without_format_ == 0 ? record_offset : without_format_at_;
      ++without_format_;
      return std::nullopt;
    case Kind::kOther:
      if (!says_who_runs(fields)) {
        return std::nullopt;
      }
      record.kind = SchedKind::kSeen;
      found.has_stack = false;
      return found;
    case Kind::kOutStack:
      record.kind = SchedKind::kOutStack;
      return found;
    case Kind::kSwitch:
      good = fill_switch(point, fields, record);
      // A thread that has exited has no id any more.
      found.has_stack = fields.tid == record.tid || fields.tid == kUnknownId;
      break;
    case Kind::kWaking:
    case Kind::kWakeup:
    case Kind::kNewThread:
      record.kind = waking_of(point.kind);
      good = fill_waking(point, fields, record);
      break;
  }
  if (!good) {
    bad_at_ = bad_ == 0 ? record_offset : bad_at_;
    ++bad_;
    return std::nullopt;
  }
  return found;
}

bool SwitchEvents::fill_switch(const Tracepoint& tracepoint, const SampleFields& fields,
                               SchedRecord& record) {
  const auto previous = read_tracepoint_field(fields.raw, tracepoint.previous);
  const auto state = read_tracepoint_field(fields.raw, tracepoint.state);
  const auto next = read_tracepoint_field(fields.raw, tracepoint.next);
  if (!previous || !state || !next) {
    return false;
  }
  record.kind = SchedKind::kSwitch;
  record.tid = id_of(*previous);
  record.other = id_of(*next);
  const Leaving left = leaving(*state);
  record.flags |= left.flags;
  record.reason = left.reason;
  return true;
}

bool SwitchEvents::fill_waking(const Tracepoint& tracepoint, const SampleFields& fields,
                               SchedRecord& record) {
  const auto woken = read_tracepoint_field(fields.raw, tracepoint.woken);
  const auto flags = read_tracepoint_field(fields.raw, tracepoint.flags);
  if (!woken) {
    return false;
  }
  record.tid = id_of(*woken);
  record.other = fields.tid;
  record.flags = (flags.value_or(0) & kInterruptFlags) != 0 ? capture::kSchedInterrupt : 0;
  return true;
}

// Records that were lost until `time`.
void SwitchEvents::fill_gap(const Processor* known, std::uint64_t time, SchedRecord& event) const {
  event.kind = SchedKind::kGap;
  event.order |= std::uint64_t{1} << 63;  // after what happened at the time where it begins
  event.until_ns = time;
  event.time_ns = known == nullptr ? rounds_[0] : known->last;
  event.flags = event.time_ns == 0 && known != nullptr ? capture::kSchedFromStart : 0;
}

void SwitchEvents::fill_switch_record(const Record& record, SchedRecord& event) {
  const bool out = (record.misc & kMiscSwitchOut) != 0;
  has_records_ = true;
  facts_->has_wide_records |= static_cast<RecordType>(record.type) == RecordType::kSwitchCpuWide;
  event.kind = out ? SchedKind::kSwitchOut : SchedKind::kSwitchIn;
  if (out) {
    const bool preempted = (record.misc & kMiscSwitchOutPreempt) != 0;
    event.flags = preempted ? capture::kSchedRunnable : 0;
    event.reason = preempted ? facts_->reason("R+") : capture::WaitFacts::kUnknownReason;
  }
}

Status SwitchEvents::of_record(const Record& record, bytes::ByteCursor body,
                               const RecordTrailer& trailer) {
  const auto type = static_cast<RecordType>(record.type);
  const bool switches = is_switch(type);
  if (!switches && !is_of_threads_or_losses(type)) {
    return {};
  }
  SchedRecord event;
  event.order = order_++;
  event.cpu = trailer.cpu;
  const std::uint64_t time = trailer.time_ns == kUnknownTime ? 0 : trailer.time_ns;
  Processor* const known = processor(trailer.cpu);
  if (type == RecordType::kLost) {
    fill_gap(known, time, event);
    return trailer.time_ns == kUnknownTime ? Status() : sink_.add_sched(event, {}, {});
  }
  if (time != 0) {
    see_time(known, time);
  }
  if (switches && time != 0) {
    event.tid = trailer.tid;
    event.time_ns = steady_time(known, time);
    fill_switch_record(record, event);
    return sink_.add_sched(event, {}, {});
  }
  if (type == RecordType::kFork || type == RecordType::kExit) {
    const bool exits = type == RecordType::kExit;
    body.skip(8);  // pid, parent
    event.kind = exits ? SchedKind::kExit : SchedKind::kFork;
    event.tid = body.read<std::uint32_t>();
    body.skip(4);
    event.time_ns = body.read<std::uint64_t>();
    if (exits && time != 0) {
      event.time_ns = steady_time(known, time);
    }
    return body.ok() && event.time_ns != 0 ? sink_.add_sched(event, {}, {}) : Status();
  }
  return {};
}

// Each event id with the thread that it counts: none where a processor is.
void SwitchEvents::id_index(bytes::ByteCursor payload) {
  const auto count = payload.read<std::uint64_t>();
  bool all = true;
  bool any = false;
  for (std::uint64_t i = 0; i < count && payload.remaining() >= 32; ++i) {
    payload.skip(24);  // id, index, processor
    const auto tid = payload.read<std::uint64_t>();
    all = all && (tid == ~std::uint64_t{0} || tid == ~std::uint32_t{0});
    any = true;
  }
  if (facts_ != nullptr && any) {
    facts_->system_wide = facts_->system_wide.value_or(true) && all;
  }
}

void SwitchEvents::finished_round() {
  rounds_ = {rounds_[1], highest_};
}

void SwitchEvents::finish() {
  if (steps_back_ != 0 && (uses_samples_ || has_records_)) {
    sink_.losses().add(loss::kClockStepsBack, LossKind::kNotice, steps_back_);
  }
  if (sampled_events_ != 0) {
    sink_.losses().add(capture::kSampledSwitchEvents, LossKind::kNotice, sampled_events_);
  }
  if (bad_ != 0) {
    sink_.losses().add(loss::kBadWaitEvents, LossKind::kDamage, bad_, bad_at_);
  }
  if (without_format_ != 0) {
    sink_.losses().add(loss::kWaitEventsWithoutFormat, LossKind::kNotice, without_format_,
                       without_format_at_);
  }
}

}  // namespace stackpack::perf
