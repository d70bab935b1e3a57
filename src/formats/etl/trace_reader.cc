#include "formats/etl/trace_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "bytes/byte_cursor.h"
#include "formats/etl/etl_losses.h"
#include "formats/etl/event/doubtful_event.h"
#include "formats/etl/event/payload_pointer.h"

namespace stackpack::etl {

namespace {

constexpr std::uint16_t kClrStackWalkId = 82;

// Rundown events describe the past; nobody asks for a stack at them.
bool is_rundown(const EventView& event) {
  return event.type == 3 || event.type == 4;
}

}  // namespace

TraceReader::TraceReader(const LogFileHeader& header, capture::CallstackSink& sink,
                         const Shared& shared, const ReadOptions& options)
    : header_(header),
      sink_(sink),
      losses_(sink.losses()),
      group_(shared.group),
      space_(shared.space),
      threads_(space_),
      window_(std::max<std::size_t>(options.event_window, 1)),
      keys_(space_),
      switches_(sink, group_.clock()),
      samples_(sink, shared.rows, shared.recent, kinds_, group_.clock(), header.pointer_size),
      join_(space_, threads_, window_, keys_, samples_, losses_, header.pointer_size),
      stack_events_(join_, losses_, header.pointer_size),
      extended_(space_, keys_, join_.pairs(), samples_, losses_),
      titles_(shared.titles),
      payloads_(sink.payloads(), titles_, group_.clock()),
      keeps_values_(sink.values() != nullptr),
      runtime_values_(sink.values(), losses_),
      kernel_values_(sink.values(), losses_, group_.clock(), header.frequency) {
  samples_.use(switches_);
  if (sink.payloads() != nullptr) {
    titles_.learn_schemas(sink.payloads()->schemas());
  }
  group_.add_threads(threads_);
  count_recorder_losses();
}

void TraceReader::count_recorder_losses() {
  if (!EtlClock(header_).frequency_known()) {
    losses_.add(loss::kClockFrequencyUnknown, LossKind::kNotice, 1, 0);
  }
  losses_.add(loss::kRecorderLostEvents, LossKind::kRecorder, header_.events_lost, 0);
  losses_.add(loss::kRecorderLostBuffers, LossKind::kRecorder, header_.buffers_lost, 0);
  losses_.add(loss::kRecorderLostSamples, LossKind::kRecorder, 0);
}

void TraceReader::bad_payload(std::string_view counter, const EventPlace& place) {
  losses_.add(counter, LossKind::kDamage, 1, place.file_offset);
}

Status TraceReader::take(const EventView& event, const EventPlace& place) {
  EventUse use;
  const std::uint32_t kind = kinds_.classify(event, use);
  if (use.role == EventRole::kStackInline) {  // nothing but its stack is of interest
    ++counts_.events;
    return stack_events_.take(event, place, use.role);
  }
  EventFacts facts;
  facts.kind = kind;
  facts.clock = event.clock;
  facts.pid = event.pid;
  facts.tid = event.tid;
  facts.cpu = place.processor;
  ++counts_.events;
  if (use.role == EventRole::kProfile) [[likely]] {  // nothing but itself, either
    return profile_event(event, place, facts, use.role);
  }
  if (payloads_.active()) [[unlikely]] {
    if (const Status done = payloads_.event(event, kinds_.at(kind)); !done) {
      return done;
    }
  }
  if (!use.kept && !(use.valued && keeps_values_)) {
    not_kept_.add(event, place);
  }
  if (use.valued) {
    valued_event(event, place, facts, use);
  }
  if (use.method != MethodRole::kNone) [[unlikely]] {
    method_event(event, place, use.method);
  }
  if (event.cls == EventClass::kKernel && is_damaged_kind(event, place, use.role)) [[unlikely]] {
    bad_payload(loss::kDoubtfulKernelEvents, place);
  }
  if (!event.extended.empty()) {
    if (const Status done = extended_event(event, place, facts); !done) {
      return done;
    }
  }
  return take_by_role(event, place, facts, use);
}

// A damaged kind of event is a loss, and a payload that looks like a stack's is none: times of
// their own stand first in page faults, accesses to the registry and others. What tells is whether
// the event that such a stack would belong to is there.
bool TraceReader::is_damaged_kind(const EventView& event, const EventPlace& place, EventRole role) {
  switch (doubt_of(event, role)) {
    case Doubt::kNone:
      return false;
    case Doubt::kSure:
      return true;
    case Doubt::kLikeProfile: {
      const std::uint32_t tid = thread_sampled_by(event);
      return tid == 0 || (tid != kNoId && threads_.known(tid, place.processor) != 0);
    }
    case Doubt::kLikeStack: {
      const NamedEventPlace named = event_named_by(event);
      const ThreadNumber thread = threads_.known(named.tid, place.processor);
      return thread != 0 && window_.has_event(threads_.at(thread).last_event, named.clock);
    }
  }
  return false;
}

Status TraceReader::halves(const EventView& event, const EventView& following,
                           const EventPlace& place, bool& taken) {
  const Status done = stack_events_.take_halves(event, following, place, taken);
  if (taken) {
    kinds_.count_two(event, following);
    counts_.events += 2;
  }
  return done;
}

Status TraceReader::take_by_role(const EventView& event, const EventPlace& place, EventFacts& facts,
                                 const EventUse& use) {
  const EventRole role = use.role;
  const std::uint8_t runtime = use.runtime;
  if (switches_.active()) {
    if (const Status recorded = switch_record(event, place, role); !recorded) {
      return recorded;
    }
  }
  switch (role) {
    case EventRole::kStackInline:
    case EventRole::kStackRefKernel:
    case EventRole::kStackRefUser:
    case EventRole::kStackDefinition:
      return stack_events_.take(event, place, role);
    case EventRole::kProfile:
    case EventRole::kCounterProfile:
      return profile_event(event, place, facts, role);
    case EventRole::kClr:
      return clr_event(event, place, facts, runtime, event.id == kClrStackWalkId);
    case EventRole::kClassicClrStack:
      return clr_event(event, place, facts, runtime, true);
    case EventRole::kContextSwitch:
      if (!context_switch(event, place, facts)) {
        return {};
      }
      break;
    case EventRole::kReadyThread:
      ++counts_.ready_thread;
      break;
    case EventRole::kPlain:
      if (runtime != kNoRuntime) {
        return clr_event(event, place, facts, runtime, false);
      }
      break;
    case EventRole::kManifest:
      titles_.manifest_piece(event);
      break;
    case EventRole::kProcess:
    case EventRole::kThread:
    case EventRole::kImage:
      table_event(event, role);
      if (is_rundown(event)) {
        return {};
      }
      break;
    default:
      table_event(event, role);
      return {};
  }
  return remember(facts, threads_.of(facts.tid, place.processor));
}

Status TraceReader::switch_record(const EventView& event, const EventPlace& place, EventRole role) {
  constexpr std::uint8_t kThreadStart = 1;
  if (role == EventRole::kContextSwitch) {
    return switches_.handover(event, place.processor);
  }
  if (role == EventRole::kReadyThread) {
    return switches_.ready(event, place.processor);
  }
  if (role == EventRole::kThread && event.type == kThreadStart) {
    bytes::ByteCursor in(event.payload, place.file_offset);
    const auto first = in.read<std::uint32_t>();
    const auto second = in.read<std::uint32_t>();
    return in.ok() ? switches_.born(event, event.version == 0 ? first : second, place.processor)
                   : Status();
  }
  return {};
}

// Its stack is that of the thread switched to. False: the event is damaged.
bool TraceReader::context_switch(const EventView& event, const EventPlace& place,
                                 EventFacts& facts) {
  ++counts_.context_switches;
  bytes::ByteCursor in(event.payload, place.file_offset);
  facts.tid = in.read<std::uint32_t>();
  facts.pid = kNoId;
  if (!in.ok()) {
    bad_payload(loss::kBadContextSwitches, place);
  }
  return in.ok();
}

// What an event carries besides its payload: a title, a callstack.
Status TraceReader::extended_event(const EventView& event, const EventPlace& place,
                                   EventFacts& facts) {
  if (const std::string title = titles_.trace_logging_title(event); !title.empty()) {
    facts.kind = kinds_.of_title(facts.kind, title);
  }
  return extended_.event(event, facts, place.file_offset);
}

// What an event says besides its callstack, and what its samples weigh.
void TraceReader::valued_event(const EventView& event, const EventPlace& place, EventFacts& facts,
                               const EventUse& use) {
  const std::uint32_t tid = event.tid == kNoId ? kUnknownId : event.tid;
  const std::uint32_t pid = event.pid == kNoId ? kUnknownId : event.pid;
  if (event.cls == EventClass::kKernel) {
    kernel_values_.event(event, place, {pid, tid});
    return;
  }
  runtime_values_.event({event.id, event.payload, event.pointer_size,
                         group_.clock().unix_ns(event.clock), pid, tid, place.file_offset});
  if (use.weighted) {
    constexpr std::uint64_t kMost = ~std::uint32_t{0};
    const auto bytes = dotnet::allocated_bytes(event.id, event.payload, event.pointer_size);
    facts.weight = static_cast<std::uint32_t>(std::min(bytes.value_or(0), kMost));
  }
}

void TraceReader::method_event(const EventView& event, const EventPlace& place, MethodRole role) {
  if (role == MethodRole::kModule) {
    group_.methods().add_module(event.pid, event.payload);
    return;
  }
  capture::FunctionFact fact;
  if (method_names_ != 0 && place.stored_plain &&
      MethodReader::read_all_but_name(event, role, fact)) {
    fact.name_place = {method_names_, place.file_offset + (event.payload_position - event.position),
                       static_cast<std::uint32_t>(event.payload.size())};
  } else if (!methods_.read(event, role, fact)) {
    bad_payload(loss::kBadMethodEvents, place);
    return;
  }
  fact.time_ns = group_.clock().unix_ns(event.clock);
  if (fact.source == FunctionSource::kClr) {
    group_.methods().add_method(event.pid, dotnet::module_of_method(event.payload), fact.start,
                                fact.size);
  }
  sink_.system().functions().add(fact);
}

void TraceReader::table_event(const EventView& event, EventRole role) {
  switch (role) {
    case EventRole::kProcess:
      group_.kernel().process_event(event);
      break;
    case EventRole::kThread:
      group_.thread_event(event);
      break;
    case EventRole::kThreadName:
      group_.kernel().thread_name_event(event);
      break;
    case EventRole::kImage:
      group_.images().image_event(event);
      break;
    case EventRole::kImageId:
      group_.images().image_id_event(event);
      break;
    case EventRole::kSystemConfig:
      group_.images().system_config_event(event);
      break;
    case EventRole::kEventInfo:
      titles_.event_info(event);
      break;
    case EventRole::kHardwareConfig:
      group_.kernel().config_event(event);
      break;
    case EventRole::kInterval:
      group_.kernel().interval_event(event, kinds_);
      break;
    default:
      break;
  }
}

Status TraceReader::profile_event(const EventView& event, const EventPlace& place,
                                  EventFacts& facts, EventRole role) {
  bytes::ByteCursor in(event.payload, place.file_offset);
  facts.ip = read_pointer(in, event.pointer_size);
  facts.tid = in.read<std::uint32_t>();
  if (!in.ok()) {
    bad_payload(loss::kBadProfileEvents, place);
    return {};
  }
  std::uint8_t interrupt = 0;
  if (role == EventRole::kProfile) {
    const auto count = in.read<std::uint16_t>();
    interrupt = in.read<std::uint8_t>() & 3;
    facts.weight = count > 1 ? count : 1;
    ++counts_.timer_samples;
  } else {
    ++counts_.counter_samples;
    const auto source = in.read<std::uint16_t>();
    if (in.ok()) {
      facts.kind = kinds_.of_counter(facts.kind, source);
    }
  }
  facts.flags = kEventIsSample;
  if (facts.tid == 0 && interrupt == 0) {
    facts.flags |= kEventIdle;
  } else {
    ++counts_.samples_not_idle;
  }
  if (event.payload.size() != std::size_t{event.pointer_size} + kProfileBytes) {
    bad_payload(loss::kBadProfileEvents, place);  // a sample all the same
  }
  const ThreadNumber thread = threads_.of(facts.tid, place.processor);
  facts.pid = facts.tid == 0 ? 0 : threads_.at(thread).pid;
  return remember(facts, thread);
}

Status TraceReader::clr_event(const EventView& event, const EventPlace& place,
                              const EventFacts& facts, std::uint8_t runtime, bool stack_walk) {
  const ThreadNumber thread = threads_.of(facts.tid, place.processor);
  if (stack_walk && event.payload.size() >= 8) {
    return clr_stack(event, place, thread, runtime);
  }
  if (const Status done = remember(facts, thread); !done) {
    return done;
  }
  ThreadState& state = threads_.at(thread);
  state.runtime_event[runtime] = state.last_event;
  return {};
}

// The runtime walks the stack itself and logs it after the event it belongs to.
Status TraceReader::clr_stack(const EventView& event, const EventPlace& place, ThreadNumber thread,
                              std::uint8_t runtime) {
  bytes::ByteCursor in(event.payload, place.file_offset);
  in.skip(4);  // runtime instance, two reserved bytes
  const auto count = in.read<std::uint32_t>();
  const std::uint64_t bytes =
      std::min<std::uint64_t>(in.remaining(), std::uint64_t{count} * event.pointer_size);
  const std::span<const std::uint64_t> frames =
      frames_.read(in.read_bytes(bytes), event.pointer_size);
  ++counts_.clr_stacks;
  counts_.clr_frames += frames.size();

  EventFacts facts;
  const WindowIndex owner = std::exchange(threads_.at(thread).runtime_event[runtime], kNotInWindow);
  if (window_.holds(owner)) {
    facts = window_.at(owner).facts;
  } else {
    facts.clock = event.clock;
    facts.pid = event.pid;
    facts.tid = event.tid;
    facts.cpu = place.processor;
    facts.kind = EventKinds::kUnknownKind;
    facts.flags = kEventOrphan;
    ++counts_.clr_stacks_without_event;
    losses_.add(loss::kClrStacksWithoutEvent, LossKind::kNotice, 1, place.file_offset);
  }
  if (frames.empty()) {
    losses_.add(loss::kEmptyStackFragments, LossKind::kNotice, 1, place.file_offset);
    return {};
  }
  return samples_.recorded_user(facts, frames);
}

Status TraceReader::remember(const EventFacts& facts, ThreadNumber thread) {
  if (window_.full()) {
    if (const Status done = forget_oldest(); !done) {
      return done;
    }
  }
  ThreadState& state = threads_.at(thread);
  state.last_event = window_.add(facts, state.last_event, state.last_clock);
  state.last_clock = facts.clock;
  return {};
}

Status TraceReader::forget_oldest() {
  const RecentEvent& oldest = window_.oldest();
  window_.drop_oldest();
  if (oldest.taken || (oldest.facts.flags & kEventIsSample) == 0) {
    return {};
  }
  EventFacts facts = oldest.facts;
  if (facts.pid == kNoId) {  // the thread may have been introduced since
    facts.pid = threads_.at(threads_.of(facts.tid, facts.cpu)).pid;
  }
  return samples_.ip_only(facts);
}

Status TraceReader::next_part() {
  if (const Status done = join_.let_go(); !done) {
    return done;
  }
  while (!window_.empty()) {
    if (const Status done = forget_oldest(); !done) {
      return done;
    }
  }
  threads_.next_part();
  return space_.status();
}

Status TraceReader::finish() {
  not_kept_.report(losses_);
  kernel_values_.finish();
  if (const Status done = extended_.finish(); !done) {
    return done;
  }
  if (const Status done = join_.finish(); !done) {
    return done;
  }
  while (!window_.empty()) {
    if (const Status done = forget_oldest(); !done) {
      return done;
    }
  }
  if (const Status done = flush(); !done) {
    return done;
  }
  for (std::uint32_t kind = 0; kind < kinds_.size(); ++kind) {
    if (kinds_.at(kind).title.empty()) {
      kinds_.at(kind).title = titles_.title_of(kinds_.at(kind));
    }
  }
  samples_.rename_events();
  if (kinds_.at(EventKinds::kOtherKind).count != 0) {
    losses_.add(loss::kEventsOfUncountedKinds, LossKind::kNotice,
                kinds_.at(EventKinds::kOtherKind).count);
  }
  return space_.status();
}

void TraceReader::summarize(TraceSummary& summary) const {
  summary = counts_;
  summary.event_counts = kinds_.counts();
  for (const auto& [type, count] : extended_.item_counts()) {
    summary.event_counts["ext_item_type_" + std::to_string(type)] = count;
  }
  const StackJoinCounters& join = join_.counts();
  summary.fragments_inline = join.fragments_inline;
  summary.key_references = join.key_references;
  summary.key_definitions = join.key_definitions;
  summary.undefined_references = join.undefined_references;
  summary.joined_stacks = join.joined;
  summary.kernel_only = join.kernel_only;
  summary.user_only = join.user_only;
  summary.kernel_and_user = join.kernel_and_user;
  summary.borrowed_user_halves = join.borrowed;
  summary.stale_kernel_halves = join.stale;
  summary.late_user_halves = join.late;
  summary.joined_frames = join.frames;
  summary.extended_items = extended_.items();
  summary.extended_items_with_match_id = extended_.items_with_match_id();
  summary.extended_stacks = extended_.joined();
  summary.extended_frames = extended_.frames();
  summary.samples_with_stack = join_.samples_with_stack();
  summary.samples_without_stack =
      counts_.timer_samples + counts_.counter_samples - summary.samples_with_stack;
}

}  // namespace stackpack::etl
