#include "formats/perf/sample_converter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "formats/perf/attr_table.h"
#include "formats/perf/dump_registers.h"
#include "formats/perf/field_tallies.h"
#include "formats/perf/offcpu_samples.h"
#include "formats/perf/partial_record.h"
#include "formats/perf/perf_losses.h"
#include "formats/perf/record_trailer.h"
#include "formats/perf/tracepoint_values.h"

namespace stackpack::perf {

namespace {

// A sample that leaves bytes of its record unread is believed if fields are announced which we do
// not know, or if its stack begins at its instruction pointer, as stacks do. Anything else is
// another record with a damaged type.
bool believable(const SampleLayout& layout, const SampleFields& fields,
                const capture::StackView& stack) {
  return (layout.sample_type & ~sample_bit::kAllKnown) != 0 ||
         (layout.has(sample_bit::kIp) && !stack.empty() && stack.addresses.front() == fields.ip);
}

// An ip of 0 was not recorded.
bool is_usable_ip(std::uint64_t ip) {
  return ip != 0 && !is_context_marker(ip);
}

// Whether a chain that begins at `first` does not begin where the sample was taken.
bool is_apart(const SampleLayout& layout, std::uint64_t ip, std::uint64_t first) {
  return layout.has(sample_bit::kIp) && first != ip && is_usable_ip(ip);
}

// What the frames of a chain depend on besides its entries: those before the first marker are in
// the mode of the sample.
std::uint8_t reading_of(FrameMode mode, bool ip_in_front, bool is_precise) {
  constexpr unsigned kIpInFront = 128;
  constexpr unsigned kIsPrecise = 64;
  return static_cast<std::uint8_t>(static_cast<unsigned>(mode) | (ip_in_front ? kIpInFront : 0U) |
                                   (is_precise ? kIsPrecise : 0U));
}

// Of an event that was asked to be precise, or that the processor made so: the ip is that of an
// instruction before the one at which the interrupt came.
bool is_precise(const Record& record, const SampleLayout& layout) {
  constexpr unsigned kExactIp = 1U << 14;  // PERF_RECORD_MISC_EXACT_IP
  return layout.is_precise || (record.misc & kExactIp) != 0;
}

// How many frames of a chain stand where a precise ip belongs. A chain begins where the interrupt
// came. That is the same function, some instructions later; or one that has been called since, by
// the instruction at the ip: then its return address is next. Else it is what the function at the
// ip has returned to, which is its caller. Functions are not known here: what is far away is
// another one.
std::uint32_t frames_in_place_of(const Frame& ip, const capture::StackView& stack) {
  constexpr std::uint64_t kNearBytes = 4'096;
  constexpr std::uint64_t kLongestCall = 8;
  if (stack.runs.front().mode != ip.mode) {
    return 0;
  }
  if (stack.runs.front().count > 1 && stack.addresses[1] - ip.address - 1 < kLongestCall) {
    return 2;
  }
  const std::uint64_t first = stack.addresses.front();
  const std::uint64_t distance = first > ip.address ? first - ip.address : ip.address - first;
  return distance < kNearBytes ? 1 : 0;
}

Sample sample_of(const SampleFields& fields, std::uint32_t event) {
  Sample sample;
  sample.time_ns = fields.time;
  sample.pid = fields.pid;
  sample.tid = fields.tid;
  sample.cpu = fields.cpu;
  sample.event = event;
  sample.weight = fields.period;
  if (fields.pid == 0 && fields.tid == 0) {
    sample.flags |= kSampleIdle;
  }
  return sample;
}

}  // namespace

// Of a sample that was read in part, the dump alone may have bytes that are not there.
SampleFit SampleConverter::read_fields(const Record& record, const SampleLayout& layout) {
  // With branches, there are two ways to read what follows them.
  if (record.partial != nullptr && layout.has(sample_bit::kBranchStack)) {
    record.partial->load_all();
  }
  const SampleFit fit = read_sample(record.payload, layout, fields_);
  if (record.partial == nullptr || (record.partial->status() && fit == SampleFit::kExact &&
                                    fields_.dump.begin <= record.partial->head() &&
                                    fields_.dump.end >= record.partial->tail())) {
    return fit;
  }
  record.partial->load_all();
  // Where it cannot be read, reading ends with this record.
  return record.partial->status() ? read_sample(record.payload, layout, fields_)
                                  : SampleFit::kOverrun;
}

Status SampleConverter::convert_sample(const Record& record) {
  const AttrTable::Row* row = context_.attrs.of_sample(record.payload);
  if (row == nullptr) {
    context_.reject(record, skip::kUnknownEventId);
    return {};
  }
  const SampleLayout& layout = row->layout;
  const SampleFit fit = read_fields(record, layout);
  if (fit == SampleFit::kOverrun) {
    context_.reject(record, skip::kBadSamples);
    return {};
  }
  if (row->period != 1) [[unlikely]] {
    fields_.period = row->period;
  }
  if (fit == SampleFit::kExact && row->not_kept != 0) [[unlikely]] {
    not_kept_.add(context_, *row, record, fields_);
  }
  if (fit == SampleFit::kExact && fields_.branch_count != 0) {
    if (const Status added = branches_.add(layout, row->event, record.offset, fields_); !added) {
      return added;
    }
  }
  set_time(*row);
  note_time(record, *row);
  if (row->not_kept != 0 || kept_) [[unlikely]] {
    note_fields(record, layout);
  }
  note_branch_stack();
  counts_ = layout.reads_counters;
  if (counts_ && !count_events(record, layout)) [[unlikely]] {
    return {};
  }
  const FrameMode mode = mode_of_misc(record.misc);
  const std::optional<std::uint64_t> first = first_address(fields_.chain, fields_.chain_entries);
  const bool apart = first && is_apart(layout, fields_.ip, *first);
  const std::span<const std::byte> key = apart ? chain_with_ip() : fields_.chain.rest();
  const std::uint8_t reading = reading_of(mode, apart, is_precise(record, layout));
  Sample sample = sample_of(fields_, row->event);
  const bool unwinds = context_.unwinder != nullptr && fields_.dump.usable();
  // A chain that is known says nothing of a user part that is still to be unwound.
  const bool may_know =
      first && knows_stacks_ && fit == SampleFit::kExact && !uses_branch_stack(layout) && !unwinds;
  capture::StackMemo memo = may_know ? recent_.find(key, reading) : capture::StackMemo{};
  if (memo.known) {
    if (apart) {
      count_front(record.offset);
    }
    return emit_known(sample, memo);
  }
  chain_.decode(fields_.chain, fields_.chain_entries, mode);
  if (fit == SampleFit::kSlack) [[unlikely]] {
    if (!accept_slack(record, layout)) {
      return {};
    }
    not_kept_.add(context_, *row, record, fields_);
    if (const Status added = branches_.add(layout, row->event, record.offset, fields_); !added) {
      return added;
    }
    note_branch_stack();
  }
  if (notices_unknown_context(record)) [[unlikely]] {
    memo = {};  // every such entry counts
  }
  use_branch_stack(layout, fields_, mode);
  if (layout.has(sample_bit::kCallchain) && chain_.stack().empty()) {
    sample.flags |= kSampleEmptyChain;
  }
  if (chain_.cookie()) [[unlikely]] {
    return hold(sample, record, layout, fields_);
  }
  const BesideChain beside = beside_chain(record, layout, mode);
  if (unwinds && !chain_.has_user_frames() && unwind(record, sample)) {
    begin_at_ip(beside);
    return give(sample, chain_.stack(), {});
  }
  if (chain_.stack().empty()) {
    memo = {};
  } else if (memo.slot != capture::StackMemo::kNone) {
    recent_.keep(key, reading, memo, chain_.has_user_frames());
  }
  return emit(sample, memo, beside);
}

// A record without a time has its place as one, or, where others have times, the latest of these.
void SampleConverter::set_time(const AttrTable::Row& row) {
  if (!row.layout.has(sample_bit::kTime)) [[unlikely]] {
    fields_.time = context_.time_of_record(latest_);
  }
}

// What a chain is known by whose leaf is the ip, not its first entry.
std::span<const std::byte> SampleConverter::chain_with_ip() {
  const std::span<const std::byte> chain = fields_.chain.rest();
  const auto ip = std::bit_cast<std::array<std::byte, sizeof(fields_.ip)>>(fields_.ip);
  key_.assign(ip.begin(), ip.end());
  key_.insert(key_.end(), chain.begin(), chain.end());
  return key_;
}

// The leaf is where the sample was taken: the chain may hold the user part alone, or begin where
// the processor was when the interrupt of a precise event came.
void SampleConverter::begin_at_ip(const BesideChain& beside) {
  const std::optional<Frame>& ip = beside.ip;
  const capture::StackView stack = chain_.stack();
  if (ip && is_usable_ip(ip->address) && stack.addresses.front() != ip->address) {
    chain_.put_in_front(*ip, beside.is_precise ? frames_in_place_of(*ip, stack) : 0);
    count_front(beside.offset);
  }
}

void SampleConverter::count_front(std::uint64_t offset) {
  first_without_ip_offset_ = chains_without_ip_ == 0 ? offset : first_without_ip_offset_;
  ++chains_without_ip_;
}

// Times that stand for none become that of the latest sample: the sums came after all of them. And
// what the sample says of switches.
void SampleConverter::note_time(const Record& record, const AttrTable::Row& row) {
  if (row.layout.has(sample_bit::kRaw)) [[unlikely]] {
    read_offcpu_sample(row, fields_);
  }
  if (fields_.time >= kNoSampleTime) [[unlikely]] {
    context_.notice(loss::kOffCpuSumsWithoutTime, 1, record.offset);
    fields_.time = latest_;
  }
  latest_ = std::max(latest_, fields_.time);
  if (row.layout.has(sample_bit::kTime)) {
    context_.first_sample_ns = std::min(context_.first_sample_ns, fields_.time);
  }
  if (context_.tracepoints != nullptr && row.layout.has(sample_bit::kRaw)) [[unlikely]] {
    const std::size_t number = context_.attrs.number_of(row);
    context_.tracepoints->add(number, row, fields_, record.offset);
  }
  sched_.reset();
  if (context_.switches != nullptr && !context_.attrs.without_times()) {
    const auto number = static_cast<std::uint32_t>(context_.attrs.number_of(row));
    // Most samples have none, and then nothing of it is copied.
    const auto found = context_.switches->of_sample(number, row, fields_, record.offset);
    if (found) {
      sched_ = found;
    }
  }
}

void SampleConverter::note_fields(const Record& record, const SampleLayout& layout) {
  kept_.reset();
  if (recorder_ != nullptr && (layout.sample_type & kFieldsWithSample) != 0) [[unlikely]] {
    kept_ = read_kept_fields(record.payload, layout, fields_);
    if (kept_->has(SampleField::kControlGroup)) {
      note_control_group(record);
    }
  }
}

// The branch stack of the sample, where it was kept, is one of its fields.
void SampleConverter::note_branch_stack() {
  const FieldRow stack = branches_.take_kept();
  if (stack.present == 0 || recorder_ == nullptr) [[likely]] {
    return;
  }
  if (!kept_) {
    kept_.emplace();
  }
  for (const SampleField field : {SampleField::kBranchStack, SampleField::kBranchCycles}) {
    if (stack.has(field)) {
      kept_->set(field, stack.value(field));
    }
  }
}

// The recorder knows groups by numbers of its own.
void SampleConverter::note_control_group(const Record& record) {
  const auto number =
      recorder_->control_groups().number_of(kept_->value(SampleField::kControlGroup));
  if (number) {
    kept_->set(SampleField::kControlGroup, *number);
    return;
  }
  kept_->clear(SampleField::kControlGroup);
  if (kept_->present == 0) {
    kept_.reset();
  }
  context_.notice(loss::kControlGroupsOverLimit, 1, record.offset);
}

// What the sample has besides its chain.
SampleConverter::BesideChain SampleConverter::beside_chain(const Record& record,
                                                           const SampleLayout& layout,
                                                           FrameMode mode) const {
  BesideChain beside;
  beside.has_dump = fields_.dump.usable();
  if (layout.has(sample_bit::kIp)) {
    beside.ip = Frame{mode, fields_.ip};
  }
  beside.is_precise = is_precise(record, layout);
  beside.offset = record.offset;
  return beside;
}

// Whether the chain that was decoded last has entries that name no known context.
bool SampleConverter::notices_unknown_context(const Record& record) {
  if (chain_.unknown_contexts() == known_contexts_) {
    return false;
  }
  first_context_offset_ = known_contexts_ == 0 ? record.offset : first_context_offset_;
  known_contexts_ = chain_.unknown_contexts();
  return true;
}

// Appends the user part that the dump has. False: the dump is of no use, and the sample is what it
// is without.
bool SampleConverter::unwind(const Record& record, Sample& sample) {
  constexpr std::uint64_t kNarrowAbi = 1;
  if (fields_.dump.abi == kNarrowAbi) {
    context_.unwinder->pass_over(capture::unwind_loss::kNarrow, record.offset);
    return false;
  }
  if (!read_dump_registers(fields_.dump, thread_)) {
    context_.unwinder->pass_over(capture::unwind_loss::kOtherMachine, record.offset);
    return false;
  }
  set_unread(record);
  thread_.pid = fields_.pid;
  thread_.time_ns = fields_.time;
  thread_.offset = record.offset;
  thread_.in_kernel = mode_of_misc(record.misc) == FrameMode::kKernel;
  const capture::UnwoundStack unwound = context_.unwinder->unwind(thread_);
  if (unwound.frames.empty()) {
    return false;
  }
  chain_.append_user(unwound.frames);
  sample.origin = StackOrigin::kUnwound;
  if (!unwound.complete) {
    sample.flags |= kSampleIncomplete;
  }
  return true;
}

// How much of the dump is there, and how the rest is read.
void SampleConverter::set_unread(const Record& record) {
  thread_.loaded = thread_.stack.size();
  if (PartialRecord* const partial = record.partial; partial != nullptr) {
    const std::size_t begin = fields_.dump.begin;
    thread_.loaded = std::min(thread_.loaded, partial->head() - begin);
    thread_.load = [partial, begin](std::size_t size) {
      return partial->load(begin + size) - begin;
    };
  }
}

// A record with bytes to spare: of fields that we do not know, or damaged. False: it is no sample.
bool SampleConverter::accept_slack(const Record& record, const SampleLayout& layout) {
  if (!believable(layout, fields_, chain_.stack())) {
    context_.reject(record, skip::kBadSamples);
    return false;
  }
  if ((layout.sample_type & ~sample_bit::kAllKnown) != 0) {
    context_.notice(loss::kUnreadSampleBytes, 1, record.offset);
  } else {  // whose size has grown over the records after it
    context_.damage(loss::kOverlongSamples, 1, record.offset);
  }
  return true;
}

// Which events of the sample's group advanced, and by how much. False: none did, and the record is
// no sample, as the perf tool has it.
bool SampleConverter::count_events(const Record& record, const SampleLayout& layout) {
  counted_.clear();
  bytes::ByteCursor counters = fields_.counters;
  const std::uint32_t tid = layout.counts_by_thread ? fields_.tid : CounterDeltas::kAllThreads;
  for (std::uint64_t i = 0; i < fields_.counter_count; ++i) {
    const CounterValue counter = next_counter(counters, layout);
    const std::optional<std::uint32_t> row = context_.attrs.row_of_id(counter.id);
    if (!row) {
      context_.damage(loss::kUnknownCounterIds, 1, record.offset);
      continue;
    }
    const std::optional<std::uint64_t> gained = deltas_.advance(counter.id, tid, counter.value);
    if (!gained) {
      context_.damage(loss::kCountersWentBack, 1, record.offset);
    } else if (*gained != 0) {
      counted_.push_back({context_.attrs.rows()[*row].event, *gained});
    }
  }
  if (counted_.empty()) {
    context_.notice(capture::kRecordsWithoutCounts, 1, record.offset);
  }
  return !counted_.empty();
}

// The fields of the sample go to their recorder just before it goes to the sink.
void SampleConverter::mark(Sample& sample) {
  recorder_->add(sample.time_ns, 0, *kept_);
  sample.flags |= capture::kSampleHasFields;
}

// Hands a sample over, once for each of its counters where it carries any.
Status SampleConverter::give(Sample& sample, const capture::StackView& stack,
                             capture::StackMemo memo) {
  if (sched_) [[unlikely]] {
    return give_sched(sample, stack, memo);
  }
  if (!counts_) [[likely]] {
    if (kept_) [[unlikely]] {
      mark(sample);
    }
    return context_.sink.add_sample(sample, stack, memo);
  }
  for (const CountedEvent& counted : counted_) {
    sample.event = counted.event;
    sample.weight = counted.gained;
    if (kept_) {
      mark(sample);
    }
    const capture::StackView new_stack = memo.known ? capture::StackView{} : stack;
    if (const Status given = context_.sink.add_sample(sample, new_stack, memo); !given) {
      return given;
    }
    sample.flags |= kSampleSameRecord;
    memo.known = memo.slot != capture::StackMemo::kNone;
  }
  return {};
}

// The sample, where it is wanted, and the record that it makes.
Status SampleConverter::give_sched(Sample& sample, capture::StackView stack,
                                   capture::StackMemo memo) {
  const SwitchEvents::Found found = *std::exchange(sched_, std::nullopt);
  if (!context_.switches->drops_sample(found.record)) {
    if (const Status given = give(sample, stack, memo); !given) {
      return given;
    }
    if (memo.slot != capture::StackMemo::kNone) {
      memo.known = true;
      stack = {};
    }
  }
  if (!found.has_stack || !has_chain(sample.origin)) {
    return context_.switches->add(found.record, {}, {});
  }
  return context_.switches->add(found.record, stack, memo);
}

// The chain is one that was decoded and given to the sink before; it has frames.
Status SampleConverter::emit_known(Sample& sample, capture::StackMemo memo) {
  if (fields_.dump.usable() && !recent_.fact(memo)) {
    sample.flags |= kSampleStackDump;
  }
  sample.origin = StackOrigin::kRecorded;
  return give(sample, {}, memo);
}

void SampleConverter::use_branch_stack(const SampleLayout& layout, const SampleFields& fields,
                                       FrameMode mode) {
  // A sample without a user part has no user stack.
  if (uses_branch_stack(layout) && fields.branch_count != 0 &&
      (chain_.has_user_marker() || layout.excludes_user_chain)) {
    const bool in_user = mode == FrameMode::kUser && layout.has(sample_bit::kIp);
    chain_.replace_user_part(
        fields.branches, fields.branch_count,
        in_user && is_usable_ip(fields.ip) ? std::optional(fields.ip) : std::nullopt);
  }
}

Status SampleConverter::emit(Sample& sample, capture::StackMemo memo, const BesideChain& beside) {
  if (!chain_.stack().empty()) {
    begin_at_ip(beside);
  }
  const capture::StackView stack = chain_.stack();
  if (beside.has_dump && !chain_.has_user_frames()) {
    sample.flags |= kSampleStackDump;
    if (stack.empty()) {
      first_dump_offset_ = dumps_without_chain_ == 0 ? beside.offset : first_dump_offset_;
      ++dumps_without_chain_;
    }
  }
  if (!stack.empty()) {
    sample.origin = StackOrigin::kRecorded;
    return give(sample, stack, memo);
  }
  if (!beside.ip) {
    sample.origin = StackOrigin::kNone;
    return give(sample, {}, {});
  }
  sample.origin = StackOrigin::kIpOnly;
  const capture::ModeRun run{beside.ip->mode, 1};
  return give(sample, {std::span(&beside.ip->address, 1), std::span(&run, 1)}, {});
}

Status SampleConverter::hold(const Sample& sample, const Record& record, const SampleLayout& layout,
                             const SampleFields& fields) {
  WaitingSample waiting;
  waiting.cookie = *chain_.cookie();
  waiting.offset = record.offset;
  waiting.sample = sample;
  waiting.sched = sched_;
  waiting.kept = kept_;
  if (counts_) {
    waiting.counted = counted_;
  }
  if (layout.has(sample_bit::kIp)) {
    waiting.ip = Frame{mode_of_misc(record.misc), fields.ip};
  }
  waiting.is_precise = is_precise(record, layout);
  waiting.has_dump = fields.dump.usable();
  const capture::StackView stack = chain_.stack();
  waiting.addresses.assign(stack.addresses.begin(), stack.addresses.end());
  waiting.runs.assign(stack.runs.begin(), stack.runs.end());
  deferred_.hold(sample.tid, std::move(waiting));
  while (const std::optional<WaitingSample> excess = deferred_.take_excess(sample.tid)) {
    context_.notice(loss::kDeferredReleasedEarly, 1, excess->offset);
    chain_.restore(excess->stack());
    Status released = release(*excess, false);
    if (!released) {
      return released;
    }
  }
  return {};
}

Status SampleConverter::release(const WaitingSample& waiting, bool merged) {
  Sample sample = waiting.sample;
  sched_ = waiting.sched;
  kept_ = waiting.kept;
  counts_ = !waiting.counted.empty();
  counted_ = waiting.counted;
  if (!merged) {
    context_.sink.losses().add(loss::kDeferredUnmatched, LossKind::kRecorder, 1, waiting.offset);
    sample.flags |= kSampleIncomplete;
  }
  if (!chain_.stack().empty()) {
    sample.flags &= static_cast<std::uint8_t>(~kSampleEmptyChain);
  }
  return emit(sample, {}, {waiting.has_dump, waiting.ip, waiting.is_precise, waiting.offset});
}

Status SampleConverter::convert_deferred(const Record& record) {
  const AttrTable::Row* row = context_.attrs.of_other(record.payload);
  const auto trailer = row != nullptr ? read_trailer(record.payload, row->attr) : std::nullopt;
  bytes::ByteCursor body = record.payload;
  const auto cookie = body.read<std::uint64_t>();
  const auto count = body.read<std::uint64_t>();
  if (!trailer || !body.ok() || body.remaining() < trailer->bytes ||
      (body.remaining() - trailer->bytes) % 8 != 0 ||
      count != (body.remaining() - trailer->bytes) / 8) {
    context_.reject(record, skip::kBadRecords);
    return {};
  }
  for (const WaitingSample& waiting : deferred_.take_thread(trailer->tid)) {
    const bool merged = waiting.cookie == cookie;
    chain_.restore(waiting.stack());
    if (merged) {
      chain_.append(body, count, FrameMode::kUser);
    }
    Status released = release(waiting, merged);
    if (!released) {
      return released;
    }
  }
  return {};
}

Status SampleConverter::finish() {
  not_kept_.report(context_);
  if (context_.tracepoints != nullptr) {
    context_.tracepoints->finish(context_);
  }
  while (const std::optional<WaitingSample> waiting = deferred_.take_oldest()) {
    chain_.restore(waiting->stack());
    Status released = release(*waiting, false);
    if (!released) {
      return released;
    }
  }
  if (chain_.unknown_contexts() != 0) {
    context_.notice(loss::kUnknownContexts, chain_.unknown_contexts(), first_context_offset_);
  }
  if (chains_without_ip_ != 0) {
    context_.notice(loss::kChainsWithoutIp, chains_without_ip_, first_without_ip_offset_);
  }
  if (dumps_without_chain_ != 0) {
    context_.notice(loss::kDumpWithoutChain, dumps_without_chain_, first_dump_offset_);
  }
  return {};
}

}  // namespace stackpack::perf
