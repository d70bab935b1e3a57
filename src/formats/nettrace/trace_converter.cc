#include "formats/nettrace/trace_converter.h"

#include <limits>
#include <memory>
#include <utility>

#include "bytes/byte_cursor.h"
#include "bytes/wide_text.h"
#include "capture/payload_schema.h"
#include "capture/wait_facts.h"
#include "formats/dotnet/event_fields.h"
#include "formats/dotnet/method_payload.h"
#include "formats/nettrace/nettrace_losses.h"
#include "formats/nettrace/payload_fields.h"
#include "formats/nettrace/varints.h"

namespace stackpack::nettrace {

namespace {

// A runtime does not walk further.
constexpr std::size_t kMostWalkedFrames = 100;

bool has_walked_frames(const EventUse& use) {
  return use.role != EventRole::kUniversalSample;
}

// Events that are worth keeping without a callstack.
bool is_measured(const EventUse& use) {
  return use.role == EventRole::kThreadSample || use.role == EventRole::kUniversalSample ||
         has_weight(use);
}

}  // namespace

TraceConverter::TraceConverter(const TraceHeader& header, capture::CallstackSink& sink)
    : header_(header),
      sink_(sink),
      losses_(sink.losses()),
      stacks_(header.pointer_size, sink.losses()),
      numbers_(header.version, sink.losses()),
      threads_(header, sink.system(), sink.losses()),
      universal_(header, sink.system(), sink.losses()),
      values_(sink.values(), sink.losses()),
      payloads_(sink.payloads()),
      knows_stacks_(sink.remembers_stacks()) {
  unknown_.metadata.provider_name = "unknown";
  if (header.version >= 4) {
    losses_.add(loss::kRecorderLostEvents, LossKind::kRecorder, 0);
  }
  describe();
}

void TraceConverter::describe() {
  capture::SystemRecorder& system = sink_.system();
  system.metadata("clock.wall_offset_ns", "0");
  system.metadata("nettrace.version", std::to_string(header_.version));
  system.metadata("nettrace.clock_frequency", std::to_string(header_.frequency));
  system.metadata("pointer.size", std::to_string(header_.pointer_size));
  if (header_.processors != 0) {
    system.metadata("cpu.count", std::to_string(header_.processors));
  }
  if (header_.version < kNewestVersion) {
    system.process_started(header_.pid, kUnknownId, kUnknownTime, false);
  }
}

void TraceConverter::read_names_again(io::ByteSource& source) {
  method_names_ = sink_.system().functions().add_source(
      std::make_unique<dotnet::MethodNames>(source, losses_, loss::kBadMethod));
}

Status TraceConverter::block(const Block& block) {
  switch (block.kind) {
    case BlockKind::kEvents:
      return events(block);
    case BlockKind::kMetadata:
      metadata_block(block);
      break;
    case BlockKind::kStacks:
      stacks_.add_block(block);
      break;
    case BlockKind::kSequencePoint:
      sequence_point(block);
      break;
    case BlockKind::kThreads:
      threads_.add_block(block, numbers_);
      break;
    case BlockKind::kRemovedThreads:
      threads_.remove_block(block, numbers_);
      break;
    case BlockKind::kUnknown:
      losses_.add(loss::kUnknownBlockKind, LossKind::kNotice, 1, block.offset);
      break;
    default:
      break;
  }
  return {};
}

void TraceConverter::count_end_of(const RowReader& rows) {
  switch (rows.end()) {
    case RowReader::End::kBadHeader:
      damage(loss::kBadBlockHeader, rows.offset());
      break;
    case RowReader::End::kBadRow:
      damage(loss::kBadEvent, rows.offset());
      break;
    case RowReader::End::kCutRow:
      damage(loss::kCutEvent, rows.offset());
      break;
    default:
      break;
  }
}

Status TraceConverter::events(const Block& block) {
  RowReader rows(block, header_.version);
  EventRow row;
  while (rows.next(row)) {
    if (header_.version < 4 && row.metadata == 0) {
      old_metadata(row);
    } else if (const Status taken = event(row); !taken) {
      return taken;
    }
  }
  count_end_of(rows);
  return {};
}

void TraceConverter::metadata_block(const Block& block) {
  if (header_.version < kNewestVersion) {
    RowReader rows(block, header_.version);
    EventRow row;
    while (rows.next(row)) {
      old_metadata(row);
    }
    count_end_of(rows);
    return;
  }
  bytes::ByteCursor in(block.content, block.offset);
  in.skip(in.read<std::uint16_t>());
  while (in.remaining() >= sizeof(std::uint16_t)) {
    const std::uint64_t offset = in.offset();
    EventMetadata metadata;
    if (read_metadata_row(in, metadata)) {
      add_metadata(std::move(metadata), offset);
    } else {
      damage(loss::kBadMetadata, offset);
    }
    if (!in.ok()) {
      break;
    }
  }
}

void TraceConverter::old_metadata(const EventRow& row) {
  std::optional<EventMetadata> metadata = read_metadata(header_.version, row.payload, row.offset);
  if (metadata) {
    add_metadata(std::move(*metadata), row.offset);
  } else {
    damage(loss::kBadMetadata, row.offset);
  }
}

void TraceConverter::add_metadata(EventMetadata metadata, std::uint64_t offset) {
  const std::uint32_t id = metadata.id;
  if (uses_.size() >= kMostKinds && !uses_.contains(id)) {
    damage(loss::kBadMetadata, offset);
    return;
  }
  const std::span<const std::byte> fields = std::exchange(metadata.fields, {});
  EventUse use = use_of(std::move(metadata));
  if (payloads_ != nullptr && payloads_->wants(use.metadata.provider_name)) {
    use.wanted = true;
    if (described_fields_ < kMostDescribedFields) {
      use.schema = read_schema(header_.version, fields, use.metadata.provider_name);
      if (use.schema.empty()) {
        use.schema =
            dotnet::event_fields(use.metadata.provider, use.metadata.event, use.metadata.version);
      }
      described_fields_ += use.schema.size();
    }
  }
  uses_.insert_or_assign(id, std::move(use));
}

void TraceConverter::sequence_point(const Block& block) {
  enum Flags : std::uint32_t { kForgetThreads = 1, kForgetMetadata = 2 };
  const bool newest = header_.version >= kNewestVersion;
  bytes::ByteCursor in(block.content, block.offset);
  in.skip(sizeof(std::uint64_t));
  const std::uint32_t flags = newest ? in.read<std::uint32_t>() : 0;
  const auto count = in.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    const std::uint64_t offset = in.offset();
    const std::uint64_t thread = newest ? in.read_varint() : in.read<std::uint64_t>();
    const std::uint32_t number = newest ? read_varint32(in) : in.read<std::uint32_t>();
    if (in.ok()) {
      numbers_.last_was(thread, number, offset);
    }
  }
  if (!in.ok()) {
    damage(loss::kBadSequencePoint, block.offset);
  } else {
    if ((flags & kForgetThreads) != 0) {
      threads_.forget();
      numbers_.forget();
    }
    if ((flags & kForgetMetadata) != 0) {
      uses_.clear();
    }
  }
  stacks_.forget();
}

EventUse& TraceConverter::use_of_row(const EventRow& row) {
  const auto found = uses_.find(row.metadata);
  if (found == uses_.end()) [[unlikely]] {
    damage(loss::kUnknownMetadata, row.offset);
    return unknown_;
  }
  return found->second;
}

Status TraceConverter::event(const EventRow& row) {
  if (header_.version >= 4) {
    numbers_.event(row.capture_thread, row.number, row.offset);
  }
  EventUse& use = use_of_row(row);
  const ThreadIdentity thread = threads_.find(row.thread, row.offset);
  facts(use, row, thread);
  const std::span<const std::uint64_t> addresses = callstack_of(row);
  if (use.valued) {
    values_.event({use.metadata.event, row.payload, header_.pointer_size,
                   header_.unix_ns(row.ticks), thread.pid, thread.tid, row.payload_offset,
                   !addresses.empty() && !use.bookkeeping});
  }
  if (use.handle_wait != dotnet::HandleWait::kNone) {
    if (const Status taken = add_wait(use, row, thread, addresses); !taken) {
      return taken;
    }
  }
  if (use.wanted) [[unlikely]] {
    const Status taken = payloads_->event(
        {header_.unix_ns(row.ticks), thread.pid, thread.tid, use.metadata.provider_name,
         event_title(use, kSampleOfUnknownType), &use.schema, row.payload, header_.pointer_size});
    if (!taken) {
      return taken;
    }
  }
  return sample(use, row, thread, addresses);
}

void TraceConverter::facts(const EventUse& use, const EventRow& row, const ThreadIdentity& thread) {
  switch (use.role) {
    case EventRole::kMethod:
      method(use, row, thread.pid);
      break;
    case EventRole::kUniversalSystem:
      if (!universal_.event(use.metadata, thread.pid, row.ticks,
                            {row.payload, row.payload_offset})) {
        damage(loss::kBadPayload, row.offset);
      }
      break;
    case EventRole::kModule:
      modules_.add_module(thread.pid, row.payload);
      break;
    case EventRole::kProcessInfo:
      process_info(row);
      break;
    default:
      break;
  }
}

void TraceConverter::method(const EventUse& use, const EventRow& row, std::uint32_t pid) {
  capture::FunctionFact fact;
  fact.pid = pid;
  fact.news = use.news;
  fact.time_ns = header_.unix_ns(row.ticks);
  const dotnet::MethodPayload payload{
      row.payload, use.metadata.version.value_or(0) == 0 ? std::nullopt : use.metadata.version};
  if (method_names_ != 0 && dotnet::read_method_but_name(payload, fact)) {
    fact.name_place = {method_names_, row.payload_offset,
                       static_cast<std::uint32_t>(row.payload.size())};
  } else if (dotnet::read_method({row.payload, std::nullopt}, fact, name_)) {
    fact.name = name_;
  } else {
    damage(loss::kBadMethod, row.offset);
    return;
  }
  has_rundown_ = has_rundown_ || use.metadata.provider == dotnet::Provider::kRundown;
  modules_.add_method(pid, dotnet::module_of_method(row.payload), fact.start, fact.size);
  sink_.system().functions().add(fact);
}

void TraceConverter::process_info(const EventRow& row) {
  bytes::ByteCursor in(row.payload, row.payload_offset);
  std::string command_line;
  const bool has_command_line = bytes::append_wide_text(in, command_line);
  const std::string system = bytes::read_wide_text(in);
  const std::string machine = bytes::read_wide_text(in);
  if (has_command_line && !command_line.empty()) {
    sink_.system().process_command_line(header_.pid, kUnknownTime, command_line);
    sink_.system().metadata("command_line", command_line);
  }
  if (!system.empty()) {
    sink_.system().metadata("os.name", system);
  }
  if (!machine.empty()) {
    sink_.system().metadata("machine", machine);
  }
}

std::uint32_t TraceConverter::event_row(EventUse& use, std::uint32_t type) {
  std::uint32_t& row = use.rows[type];
  if (row == EventUse::kNoRow) [[unlikely]] {
    const std::string title = &use == &unknown_ ? "unknown" : event_title(use, type);
    const auto [known, fresh] = event_rows_.try_emplace(title, 0);
    if (fresh) {
      known->second = sink_.add_event({title, has_weight(use)});
    }
    row = known->second;
  }
  return row;
}

// The addresses of an event's callstack; none when it has none, or nobody knows them.
std::span<const std::uint64_t> TraceConverter::callstack_of(const EventRow& row) {
  if (!row.inline_stack.empty()) {
    return stacks_.read_inline(row.inline_stack, row.offset);
  }
  if (row.stack == 0) {
    return {};
  }
  const StackTable::Found found = stacks_.find(row.stack);
  if (!found.known) [[unlikely]] {
    damage(loss::kUnknownStack, row.offset);
  }
  return found.addresses;
}

std::uint32_t TraceConverter::type_of_sample(const EventRow& row) {
  bytes::ByteCursor in(row.payload, row.payload_offset);
  const auto type = in.read<std::uint32_t>();
  has_thread_samples_ = true;
  return in.ok() && type < kSampleOfUnknownType ? type : std::uint32_t{kSampleOfUnknownType};
}

std::uint64_t TraceConverter::weight_of(const EventUse& use, const EventRow& row) {
  const auto weight = weight_in(use, row.payload, header_.pointer_size);
  if (!weight) [[unlikely]] {
    damage(loss::kBadPayload, row.offset);
    return 0;
  }
  return use.role == EventRole::kUniversalSample ? header_.ns_of(*weight) : *weight;
}

Status TraceConverter::sample(EventUse& use, const EventRow& row, const ThreadIdentity& thread,
                              std::span<const std::uint64_t> addresses) {
  if (use.bookkeeping) {
    bookkeeping_stacks_ += addresses.empty() ? 0U : 1U;
    return {};
  }
  if (addresses.empty() && !is_measured(use)) {
    ++without_callstack_;
    return {};
  }
  Sample sample;
  sample.time_ns = header_.unix_ns(row.ticks);
  sample.pid = thread.pid;
  sample.tid = thread.tid;
  // The processor is that of the thread that wrote the event down.
  const bool wrote_itself = header_.version >= 4 && row.thread == row.capture_thread;
  sample.cpu = wrote_itself ? row.processor : kUnknownId;
  sample.event = event_row(use, use.role == EventRole::kThreadSample ? type_of_sample(row) : 0);
  if (has_weight(use)) {
    sample.weight = weight_of(use, row);
  }
  if (use.role == EventRole::kUniversalSample && sample.pid == 0 && sample.tid == 0) {
    sample.flags |= kSampleIdle;
  }
  if (addresses.size() == kMostWalkedFrames && has_walked_frames(use)) {
    sample.flags |= kSampleIncomplete;
    ++cut_stacks_;
  }
  if (const Status added = with_callstack(sample, addresses); !added || !is_switch(use)) {
    return added;
  }
  return add_switch(sample, addresses);
}

// What a sink is given of a callstack.
TraceConverter::KnownStack TraceConverter::known_stack(std::span<const std::uint64_t> addresses) {
  KnownStack known;
  if (!knows_stacks_) {
    known.view = view_of(addresses);
    return known;
  }
  known.memo = recent_.find(std::as_bytes(addresses), 0);
  if (known.memo.known) {
    return known;
  }
  if (known.memo.slot != capture::StackMemo::kNone) {
    recent_.keep(std::as_bytes(addresses), 0, known.memo, false);
  }
  known.view = view_of(addresses);
  return known;
}

Status TraceConverter::with_callstack(const Sample& recorded,
                                      std::span<const std::uint64_t> addresses) {
  Sample sample = recorded;
  if (addresses.empty()) {
    sample.origin = StackOrigin::kNone;
    sample.flags |= kSampleEmptyChain;
    return sink_.add_sample(sample, {});
  }
  sample.origin = StackOrigin::kRecorded;
  const KnownStack known = known_stack(addresses);
  return sink_.add_sample(sample, known.view, known.memo);
}

// A thread waits for a handle, as the runtime says.
Status TraceConverter::add_wait(const EventUse& use, const EventRow& row,
                                const ThreadIdentity& thread,
                                std::span<const std::uint64_t> addresses) {
  capture::WaitFacts* const facts = sink_.wait_facts();
  if (facts == nullptr || thread.tid == 0) {
    return {};
  }
  capture::SchedRecord record;
  record.time_ns = header_.unix_ns(row.ticks);
  record.order = facts->next_order();
  record.tid = thread.tid;
  if (use.handle_wait == dotnet::HandleWait::kEnds) {
    record.kind = capture::SchedKind::kWaitEnd;
    return sink_.add_sched(record, {}, {});
  }
  bytes::ByteCursor in(row.payload, row.payload_offset);
  record.kind = capture::SchedKind::kWaitBegin;
  record.reason = facts->reason(dotnet::wait_reason(in.read<std::uint8_t>()));
  const KnownStack known = addresses.empty() ? KnownStack() : known_stack(addresses);
  return sink_.add_sched(record, known.view, known.memo);
}

// A thread leaves its processor, and is back after as long as the weight says. Whether it waits or
// was preempted is not in the event.
Status TraceConverter::add_switch(const Sample& sample, std::span<const std::uint64_t> addresses) {
  capture::WaitFacts* const facts = sink_.wait_facts();
  if (facts == nullptr || sample.tid == 0) {
    return {};
  }
  ++switches_;
  capture::SchedRecord record;
  record.time_ns = sample.time_ns;
  record.order = facts->next_order();
  record.cpu = sample.cpu;
  record.tid = sample.tid;
  record.reason = capture::WaitFacts::kUnknownReason;
  record.kind = capture::SchedKind::kOutStack;
  const KnownStack known = addresses.empty() ? KnownStack() : known_stack(addresses);
  if (const Status added = sink_.add_sched(record, known.view, known.memo); !added) {
    return added;
  }
  record.kind = capture::SchedKind::kSwitchOut;
  record.order = facts->next_order();
  if (const Status added = sink_.add_sched(record, {}, {}); !added) {
    return added;
  }
  constexpr std::uint64_t kLatest = std::numeric_limits<std::int64_t>::max();
  if (sample.time_ns > kLatest || sample.weight > kLatest - sample.time_ns) {
    return {};  // no time of any clock
  }
  record.kind = capture::SchedKind::kSwitchIn;
  record.time_ns += sample.weight;
  record.order = facts->next_order();
  return sink_.add_sched(record, {}, {});
}

capture::StackView TraceConverter::view_of(std::span<const std::uint64_t> addresses) {
  const auto mode_of = [&](std::uint64_t address) {
    return header_.pointer_size == 8 && address >= kFirstKernelAddress ? FrameMode::kKernel
                                                                       : FrameMode::kUser;
  };
  runs_.clear();
  for (const std::uint64_t address : addresses) {
    const FrameMode mode = mode_of(address);
    if (runs_.empty() || runs_.back().mode != mode) {
      runs_.push_back({mode, 0});
    }
    ++runs_.back().count;
  }
  return {addresses, runs_};
}

void TraceConverter::finish() {
  universal_.finish();
  modules_.finish(sink_.system());
  const auto notice = [&](std::string_view name, std::uint64_t count) {
    if (count != 0) {
      losses_.add(name, LossKind::kNotice, count);
    }
  };
  notice(loss::kBookkeepingStacks, bookkeeping_stacks_);
  notice(loss::kEventsWithoutCallstack, without_callstack_);
  notice(loss::kStacksCutByRuntime, cut_stacks_);
  notice(loss::kSwitchesWithoutState, switches_);
  notice(loss::kNoMethodNames, has_thread_samples_ && !has_rundown_ ? 1 : 0);
}

}  // namespace stackpack::nettrace
