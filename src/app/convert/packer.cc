#include "app/convert/packer.h"

#include <algorithm>

#include "app/convert/capture_formats.h"
#include "app/convert/code_rows.h"
#include "app/convert/stack_tally.h"

namespace stackpack::app {

namespace {

constexpr std::size_t kAhead = 12;  // samples between fetching a stack id and using it
constexpr std::uint64_t kFrameSetBytes = std::uint64_t{4} << 20;
constexpr std::uint32_t kMostSegments = 1U << 16;  // as NodeRef can tell apart

// Which of the builder's last callstacks a sample is compared with: that of its thread. All idle
// threads are thread 0, one per processor.
std::uint64_t comparison_key(const Sample& sample) {
  constexpr std::uint64_t kProcessor = std::uint64_t{1} << 32;
  return sample.tid == 0 || sample.tid == kUnknownId ? kProcessor | sample.cpu : sample.tid;
}

// What the builder has no room for may fit once its DAG is on disk.
bool may_fit_next_segment(const Error& error) {
  return error.code == ErrorCode::kLimit || error.code == ErrorCode::kResource;
}

}  // namespace

Packer::Packer(const Options& options)
    : options_(options),
      plan_(MemoryPlan::of_limit(options.memory_limit)),
      builder_(std::make_unique<dag::Builder>(dag::Builder::Options{
          options.builder_bytes != 0 ? options.builder_bytes : plan_.builder_bytes})),
      segments_(options.scratch_directory),
      spool_(options.scratch_directory, plan_.spool_bytes),
      promises_(options.scratch_directory, plan_.promise_bytes),
      remembered_(capture::StackMemo::kSlots),
      frames_(options.scratch_directory, kFrameSetBytes) {
  system_.set_memory_limit(plan_.fact_bytes);
  system_.functions().configure(options.scratch_directory, plan_.function_bytes);
}

std::uint32_t Packer::add_event(const Event& event) {
  events_.push_back(event);
  return static_cast<std::uint32_t>(events_.size() - 1);
}

void Packer::rename_event(std::uint32_t index, std::string_view name) {
  events_[index].name = std::string(name);
}

// Fills arrived_ with the nodes of arrivals_.
Status Packer::intern_arrivals() {
  arrived_.clear();
  nodes_.resize(arrivals_.size());
  std::span<const dag::Builder::Arrival> left = arrivals_;
  bool again = false;
  while (!left.empty()) {
    const Result<std::size_t> done =
        builder_->intern_some(left, std::span(nodes_).first(left.size()));
    if (!done) {
      if (again || !may_fit_next_segment(done.error()) || builder_->node_count() <= 1) {
        return done.error();
      }
      if (const Status closed = close_segment(); !closed) {
        return closed;
      }
      again = true;
      continue;
    }
    again = false;
    for (std::size_t i = 0; i < *done; ++i) {
      arrived_.push_back({static_cast<std::uint16_t>(segments_.segments().size()),
                          static_cast<std::uint16_t>(left[i].stack.depth()),
                          static_cast<std::uint32_t>(nodes_[i])});
    }
    left = left.subspan(*done);
  }
  return {};
}

Result<NodeRef> Packer::intern(const Sample& sample, const capture::StackView& stack) {
  if (stack.empty()) {
    return NodeRef{};
  }
  arrivals_.assign(1, {stack, comparison_key(sample)});
  const Status interned = intern_arrivals();
  return interned ? Result<NodeRef>(arrived_.front()) : Result<NodeRef>(interned.error());
}

// The builder's DAG goes to disk; the builder is empty after.
Status Packer::close_segment() {
  if (segments_.segments().size() + 1 == kMostSegments) {
    return Error{ErrorCode::kLimit, kNoOffset, "too many callstacks for this memory limit"};
  }
  map_bytes_ = std::max(map_bytes_, builder_->map_bytes());
  return segments_.add(builder_->freeze());
}

Status Packer::spool(const Sample& sample, const NodeRef& node, std::uint32_t promise) {
  SpooledSample row;
  static_cast<Sample&>(row) = sample;
  row.segment = node.segment;
  row.node = node.node;
  row.promise = promise;
  if (options_.sample_counter != nullptr) {
    // This thread alone counts.
    options_.sample_counter->store(options_.sample_counter->load(std::memory_order_relaxed) + 1,
                                   std::memory_order_relaxed);
  }
  return spool_.add(row);
}

Status Packer::add_sample(const Sample& sample, const capture::StackView& stack,
                          capture::StackMemo memo) {
  const StackedSample single{&sample, stack, memo};
  return add_samples({&single, 1});
}

Status Packer::add_samples(std::span<const StackedSample> samples) {
  arrivals_.clear();
  for (const StackedSample& entry : samples) {
    if (!entry.memo.known && !entry.stack.empty()) {
      arrivals_.push_back({entry.stack, comparison_key(*entry.sample)});
    }
  }
  if (const Status interned = intern_arrivals(); !interned) {
    return interned;
  }
  auto next = arrived_.begin();
  for (const StackedSample& entry : samples) {
    NodeRef node;
    if (entry.memo.known) {
      // Nodes of a segment that was closed since are as good as any.
      node = remembered_[entry.memo.slot];
      known_frames_ += node.depth;
      raw_frames_ += node.depth;
    } else {
      node = entry.stack.empty() ? NodeRef{} : *next++;
      raw_frames_ += entry.sample->origin == StackOrigin::kRecorded ? node.depth : 0U;
      if (entry.memo.slot != capture::StackMemo::kNone) {
        remembered_[entry.memo.slot] = node;
      }
    }
    if (const Status spooled = spool(*entry.sample, node, SpooledSample::kNoPromise); !spooled) {
      return spooled;
    }
  }
  return {};
}

capture::PendingStack Packer::open_pending() {
  return static_cast<capture::PendingStack>(promises_.open());
}

Status Packer::add_pending_sample(const Sample& sample, capture::PendingStack pending,
                                  const capture::StackView& fallback) {
  const Result<NodeRef> node = intern(sample, fallback);
  return node ? spool(sample, *node, static_cast<std::uint32_t>(pending)) : Status(node.error());
}

Status Packer::resolve_pending(capture::PendingStack pending, const capture::StackView& stack) {
  const Result<NodeRef> node = intern(Sample{}, stack);
  if (!node) {
    return node.error();
  }
  return promises_.keep(static_cast<std::uint32_t>(pending), *node);
}

// The sample as it is stored, and counted.
Status Packer::settle(const SpooledSample& spooled, PackedStacks& stacks, StackTally& tally,
                      StoredSample& sample) {
  static_cast<Sample&>(sample) = static_cast<const Sample&>(spooled);
  NodeRef stack{spooled.segment, 0, spooled.node};
  if (spooled.promise != SpooledSample::kNoPromise) {
    const Result<NodeRef> kept = promises_.kept(spooled.promise);
    if (!kept) {
      return kept.error();
    }
    sample.origin = kept->node != 0   ? StackOrigin::kRecorded
                    : stack.node != 0 ? StackOrigin::kIpOnly
                                      : StackOrigin::kNone;
    stack = kept->node != 0 ? *kept : stack;
  }
  if (sample.pid != last_pid_) {
    last_pid_ = sample.pid;
    pids_.insert(sample.pid);
  }
  sample.stack = kNoStack;
  if (stack.node != 0) {
    const Result<StackId> id = stacks.id_of(stack);
    if (!id) {
      return id.error();
    }
    sample.stack = *id;
  }
  // The frames of callstacks that came with their samples were counted then.
  return tally.add(sample, stack.depth);
}

// The frames of all callstacks, when there are functions to which they may belong.
Status Packer::collect_frames(const PackedStacks& stacks) {
  if (system_.functions().facts() == 0) {
    return {};
  }
  const Status collected = stacks.for_each_frame_block([this](std::span<const Frame> frames) {
    frames_.add(frames);
    return frames_.status();
  });
  return collected ? frames_.status() : collected;
}

// Those functions whose bytes occur in callstacks, and whose process was sampled.
Status Packer::add_functions(const capture::SystemTables& tables, spk::NameWriter& names) {
  const FunctionUse use(frames_, tables.modules);
  // The functions of a process are those of its children at first.
  const bool shared = std::any_of(tables.processes.begin(), tables.processes.end(),
                                  [](const Process& process) { return process.inherits_mappings; });
  const auto occurs = [&](const capture::RecordedFunction& function) {
    return (shared || function.owner != FunctionOwner::kProcess || pids_.contains(function.pid)) &&
           use.occurs(function);
  };
  CodeRows code;
  const Status added = system_.functions().finish(
      tables, occurs, [&names, &code](const capture::RecordedFunction& function) {
        Function row;
        row.owner = function.owner;
        row.pid = function.owner == FunctionOwner::kProcess ? function.pid : kKernelPid;
        row.life_ns = function.life_ns;
        row.module = function.module;
        row.start = function.start;
        row.size = function.size;
        row.born_ns = function.born_ns;
        row.source = function.source;
        row.line = function.line;
        code.add(row, function.code);
        return names.add(row, {function.name, function.linkage, function.file});
      });
  const Status written = added ? code.write(names) : added;
  return written ? frames_.status() : written;
}

void Packer::report_builder(Statistics& statistics) const {
  const dag::BuilderCounters& counters = builder_->counters();
  statistics.builder.lookups = counters.lookups;
  statistics.builder.probes = counters.probes;
  statistics.builder.frames = counters.frames + known_frames_;
  statistics.builder.prefix_frames = counters.prefix_frames + known_frames_;
  statistics.builder.map_bytes = std::max(map_bytes_, builder_->map_bytes());
  statistics.builder.segments = segments_.segments().size() + 1;
}

void Packer::tell_done(std::string_view stage) const {
  if (options_.stage_done) {
    options_.stage_done(stage);
  }
}

Result<std::unique_ptr<PackedStacks>> Packer::pack_stacks() {
  // In memory, the DAG shares the limit with what the writer needs besides.
  const bool in_memory = segments_.segments().empty() &&
                         (plan_.limit == 0 || builder_->memory_bytes() <= plan_.limit / 2);
  if (in_memory) {
    std::unique_ptr<PackedStacks> stacks = PackedStacks::of_builder(builder_->freeze());
    builder_.reset();
    return stacks;
  }
  if (const Status closed = close_segment(); !closed) {
    return closed.error();
  }
  builder_.reset();
  return PackedStacks::of_segments(segments_, options_.scratch_directory, plan_);
}

Result<Statistics> Packer::write(io::OutputFile& out, const spk::WriterOptions& options,
                                 const Source& source) {
  Statistics statistics;
  report_builder(statistics);
  const Result<std::unique_ptr<PackedStacks>> stacks = pack_stacks();
  if (!stacks) {
    return stacks.error();
  }
  spk::WriterOptions writer_options = options;
  writer_options.table_bytes = plan_.table_bytes;
  writer_options.count_bytes = plan_.count_bytes;
  writer_options.scratch_directory = options_.scratch_directory;
  Result<std::unique_ptr<spk::Writer>> writer = spk::Writer::create(out, writer_options);
  if (!writer) {
    return writer.error();
  }
  if (const Status written = (*stacks)->write(**writer); !written) {
    return written.error();
  }
  if (const Status collected = collect_frames(**stacks); !collected) {
    return collected.error();
  }
  tell_done("callstacks");

  StackTally tally(events_.size(), raw_frames_, options_.scratch_directory, plan_.tally_bytes);
  std::vector<StoredSample> batch;
  const Status merged = spool_.merge([&](std::span<const SpooledSample> rows) -> Status {
    batch.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i + kAhead < rows.size()) {
        const SpooledSample& later = rows[i + kAhead];
        (*stacks)->prefetch_id_of({later.segment, 0, later.node});
      }
      if (const Status settled = settle(rows[i], **stacks, tally, batch[i]); !settled) {
        return settled;
      }
    }
    if (options_.written_counter != nullptr) {
      options_.written_counter->fetch_add(rows.size(), std::memory_order_relaxed);
    }
    return (*writer)->add_samples(batch);
  });
  if (!merged) {
    return merged.error();
  }
  if (const Status ended = (*writer)->end_samples(); !ended) {
    return ended.error();
  }
  stalls_ = (*writer)->stalls();
  tell_done("samples");

  if (system_.forgotten_facts() != 0) {
    losses_.add(kSystemFactsOverLimit, LossKind::kDamage, system_.forgotten_facts());
  }
  const capture::SystemTables tables = system_.finish();
  statistics.source_kind = source.kind;
  statistics.source_bytes = source.bytes;
  statistics.source_parsed_bytes = source.account.parsed;
  statistics.source_padding_bytes = source.account.padding;
  statistics.source_skipped_bytes = source.account.skipped.total();
  statistics.source_skipped_by_reason = source.account.skipped.sorted();
  for (const Event& event : events_) {
    statistics.events.push_back({event.name, 0});
  }
  if (const Status reported = tally.report(**stacks, statistics); !reported) {
    return reported.error();
  }
  statistics.samples.records += losses_.count(capture::kRecordsWithoutCounts);
  statistics.processes = tables.processes.size();
  statistics.threads = tables.threads.size();
  statistics.modules = tables.modules.size();
  statistics.losses = losses_.sorted();
  return (*writer)->finish(tables, events_, statistics, source.fingerprint,
                           [&](spk::NameWriter& names) { return add_functions(tables, names); });
}

}  // namespace stackpack::app
