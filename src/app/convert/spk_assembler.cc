#include "app/convert/spk_assembler.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "app/convert/capture_formats.h"
#include "app/convert/code_rows.h"
#include "app/convert/stack_tally.h"
#include "capture/recorder_losses.h"
#include "capture/time_resolution.h"
#include "capture/wait_rules.h"
#include "capture/weighted_events.h"
#include "spk/format/layout.h"

namespace stackpack::app {

namespace {

constexpr std::size_t kAhead = 12;  // samples between fetching a stack id and using it
constexpr std::uint64_t kFrameSetBytes = std::uint64_t{4} << 20;

}  // namespace

SpkAssembler::SpkAssembler(CaptureSpool& capture, Options options)
    : capture_(capture),
      options_(std::move(options)),
      frames_(capture.scratch_directory(), kFrameSetBytes) {}

// The sample as it is stored, and counted.
Status SpkAssembler::settle(const SpooledSample& spooled, PackedStacks& stacks, StackTally& tally,
                            StoredSample& sample) {
  static_cast<Sample&>(sample) = static_cast<const Sample&>(spooled);
  const std::uint64_t number = samples_written_++;
  if ((sample.flags & capture::kSampleHasFields) != 0) [[unlikely]] {
    place_fields(sample, number);
  }
  NodeRef stack{spooled.segment, 0, spooled.node};
  if (spooled.pending != SpooledSample::kNoPending) {
    const Result<NodeRef> kept = capture_.resolved(spooled.pending);
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
  if (rounding_) {
    sample.time_ns = rounding_->round(sample.pid, sample.time_ns);
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
Status SpkAssembler::collect_frames(const PackedStacks& stacks) {
  if (options_.merged != nullptr || capture_.system().functions().facts() == 0) {
    return {};
  }
  const Status collected = stacks.for_each_frame_block([this](std::span<const Frame> frames) {
    frames_.add(frames);
    return frames_.status();
  });
  return collected ? frames_.status() : collected;
}

// Those functions whose bytes occur in callstacks, and whose process was sampled.
Status SpkAssembler::add_functions(const capture::SystemTables& tables, spk::NameWriter& names) {
  const FunctionUse use(frames_, tables.modules);
  // The functions of a process are those of its children at first.
  const bool shared = std::any_of(tables.processes.begin(), tables.processes.end(),
                                  [](const Process& process) { return process.inherits_mappings; });
  const auto occurs = [&](const capture::RecordedFunction& function) {
    return (shared || function.owner != FunctionOwner::kProcess || pids_.contains(function.pid)) &&
           use.occurs(function);
  };
  CodeRows code;
  const Status added = capture_.system().functions().finish(
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

void SpkAssembler::count_cut_texts(std::uint64_t count) {
  if (count != 0) {
    capture_.losses().add(capture::text_loss::kCut, LossKind::kNotice, count);
  }
}

Status SpkAssembler::add_branches(const capture::SystemTables& tables,
                                  spk::BranchWriter& branches) {
  if (options_.merged != nullptr) {
    return options_.merged->add_branches ? options_.merged->add_branches(branches) : Status{};
  }
  capture::BranchRecorder& recorded = *capture_.branches();
  return recorded.empty() ? Status{}
                          : recorded.finish(
                                tables, capture_.losses(),
                                [&](const BranchEdge& row) { return branches.add(row); },
                                [&](const BranchRange& row) { return branches.add(row); });
}

spk::WriterOptions SpkAssembler::writer_options() const {
  return {.level = options_.level,
          .samples = options_.samples,
          .table_bytes = capture_.plan().table_bytes,
          .count_bytes = capture_.plan().count_bytes,
          .scratch_directory = capture_.scratch_directory(),
          .threads = options_.threads};
}

Status SpkAssembler::report_capture(const Source& source, PackedStacks& stacks, StackTally& tally,
                                    Statistics& statistics) {
  if (BranchStackSpool* const kept = capture_.branch_stacks(); kept && kept->left_out() != 0) {
    capture_.losses().add(capture::branch_loss::kStacksOverLimit, LossKind::kDamage,
                          kept->left_out());
  }
  if (const std::uint64_t forgotten = capture_.system().forgotten_facts(); forgotten != 0) {
    capture_.losses().add(kSystemFactsOverLimit, LossKind::kDamage, forgotten);
  }
  if (const std::uint64_t rounded = capture_.scales().rounded(); rounded != 0) {
    capture_.losses().add(capture::kWeightsRounded, LossKind::kNotice, rounded);
  }
  report_source(source, statistics);
  for (const Event& event : capture_.events()) {
    statistics.events.push_back({event.name, 0});
  }
  const Status reported = tally.report(stacks, statistics);
  statistics.samples.records += capture_.losses().count(capture::kRecordsWithoutCounts);
  return reported;
}

Result<Statistics> SpkAssembler::write(io::OutputFile& out, const Source& source) {
  Statistics statistics;
  capture_.settle_events();
  capture_.report_builder(statistics);
  const Result<std::unique_ptr<PackedStacks>> stacks = capture_.pack_stacks();
  if (!stacks) {
    return stacks.error();
  }
  Result<std::unique_ptr<spk::Writer>> writer = spk::Writer::create(out, writer_options());
  if (!writer) {
    return writer.error();
  }
  if (const Status written = (*stacks)->write(**writer); !written) {
    return written.error();
  }
  if (const Status collected = collect_frames(**stacks); !collected) {
    return collected.error();
  }
  report_stage("callstacks");

  StackTally tally(capture_.events().size(), capture_.raw_frames(), capture_.scratch_directory(),
                   capture_.plan().tally_bytes);
  if (const Status written = write_samples(**stacks, tally, **writer); !written) {
    return written.error();
  }
  stalls_ = (*writer)->stalls();
  report_stage("samples");

  if (const Status reported = report_capture(source, **stacks, tally, statistics); !reported) {
    return reported.error();
  }
  if (options_.merged != nullptr) {
    report_merge(statistics);
    capture::SystemTables tables = options_.merged->tables;
    capture_.scales().mark_units(tables.metadata);
    return finish(**writer, tables, std::move(statistics), source.fingerprint,
                  capture_.interned_intervals(), **stacks);
  }
  IntervalSort intervals(capture_.scratch_directory());
  capture_.system().map_code([this](std::uint64_t first, std::uint64_t last) {
    return frames_.any(FrameMode::kUser, first, last);
  });
  capture::SystemTables tables = capture_.system().finish();
  capture_.scales().mark_units(tables.metadata);
  if (rounding_) {
    capture::set_time_resolution(tables.metadata, options_.time_resolution_ns);
  }
  if (source.identity) {
    capture::set_metadata(tables.metadata, capture::kIdentityKey,
                          capture::text_of_identity(*source.identity));
  }
  if (const Status found = find_waits(capture_, **stacks, intervals); !found) {
    return found.error();
  }
  if (capture_.sched().has_waits()) {
    capture::set_metadata(tables.metadata, capture::kWaitRulesKey,
                          std::string(capture::kWaitRules));
  }
  return finish(**writer, tables, std::move(statistics), source.fingerprint, intervals, **stacks);
}

// When times are to be rounded, and samples have some.
Status SpkAssembler::prepare_rounding() {
  if (options_.time_resolution_ns <= 1 || !options_.samples) {
    return {};
  }
  capture::SystemTables of_capture;
  if (options_.merged == nullptr) {
    of_capture = capture_.system().finish();
  }
  const capture::SystemTables& tables =
      options_.merged != nullptr ? options_.merged->tables : of_capture;
  if (capture::has_no_times(tables.metadata)) {
    return {};
  }
  rounding_.emplace(options_.time_resolution_ns, tables);
  if (options_.merged == nullptr) {
    const Status visited = capture_.system().functions().for_each_time(
        [this](std::uint32_t pid, std::uint64_t time_ns) {
          rounding_->add_function_time(pid, time_ns);
        });
    if (!visited) {
      return visited;
    }
  }
  rounding_->begin();
  return {};
}

Result<Statistics> SpkAssembler::finish(spk::Writer& writer, const capture::SystemTables& tables,
                                        Statistics statistics, const std::string& fingerprint,
                                        IntervalSort& intervals, PackedStacks& stacks) {
  statistics.processes = tables.processes.size();
  statistics.threads = tables.threads.size();
  statistics.modules = tables.modules.size();
  return writer.finish(
      tables, capture_.events(), statistics, fingerprint,
      [&](spk::BranchWriter& branches) { return add_branches(tables, branches); },
      [&](spk::NameWriter& names) {
        const Status added = options_.merged != nullptr ? write_rows(options_.merged->names, names)
                                                        : add_functions(tables, names);
        count_cut_texts(names.cut_texts());
        // Names and branches that are read only now may be damaged.
        statistics.losses = capture_.losses().sorted();
        return added;
      },
      [&](spk::IntervalWriter& rows) { return write_intervals(tables, intervals, stacks, rows); },
      [&](spk::ValueWriter& rows) { return write_values(tables, stacks, rows); },
      [&](spk::FieldWriter& rows) { return write_fields(rows); },
      [&](spk::BranchStackWriter& rows) { return write_branch_stacks(rows); });
}

// Of a merge: the ids of callstacks, and the process.
Status SpkAssembler::settle_interval(WaitInterval& row, const IntervalRow& spooled,
                                     PackedStacks& stacks) const {
  row.pid = options_.merged->pids[row.pid];
  const auto id_of = [&stacks](StackId node, std::uint16_t segment) {
    return node == 0 ? Result<StackId>(kNoStack) : stacks.id_of({segment, 0, node});
  };
  const Result<StackId> stack = id_of(spooled.stack, spooled.segment);
  if (!stack) {
    return stack.error();
  }
  const Result<StackId> waker_stack = id_of(spooled.waker_stack, spooled.waker_segment);
  if (!waker_stack) {
    return waker_stack.error();
  }
  row.stack = *stack;
  row.waker_stack = *waker_stack;
  return {};
}

Status SpkAssembler::write_intervals(const capture::SystemTables& tables, IntervalSort& intervals,
                                     PackedStacks& stacks, spk::IntervalWriter& writer) {
  const bool merges = options_.merged != nullptr;
  if (!merges && !intervals.empty()) {
    const std::vector<std::string>& reasons = capture_.facts_of_waits().reasons();
    count_cut_texts(static_cast<std::uint64_t>(std::count_if(
        reasons.begin(), reasons.end(),
        [](const std::string& reason) { return reason.size() > spk::kMaxWaitReasonBytes; })));
  }
  ProcessOfThread processes(merges || intervals.empty() ? std::vector<Thread>() : tables.threads);
  const Status written = intervals.visit([&](const IntervalRow& spooled) -> Status {
    WaitInterval row = static_cast<const WaitInterval&>(spooled);
    if (!merges) {
      row.pid = processes.find(row.tid, row.from_ns);  // here, where rows of a thread are together
    } else {
      if (const Status settled = settle_interval(row, spooled, stacks); !settled) {
        return settled;
      }
    }
    if (rounding_) {
      const std::uint64_t step = options_.time_resolution_ns;
      row.from_ns -= row.from_ns % step;
      row.to_ns -= row.to_ns % step;
    }
    return writer.add(row);
  });
  return written ? writer.end(options_.merged != nullptr ? options_.merged->wait_reasons
                                                         : capture_.facts_of_waits().reasons())
                 : written;
}

// Callstacks of events whose values were kept.
Status SpkAssembler::offer_stacks(std::span<const SpooledSample> rows,
                                  std::span<const StoredSample> samples) {
  for (std::size_t i = 0; i < rows.size() && !valued_events_.empty(); ++i) {
    const std::optional<std::uint8_t> event = valued_events_[rows[i].event];
    if (!event) {
      continue;
    }
    const Status offered = capture_.values()->offer_stack(*event, rows[i], samples[i].stack);
    if (!offered) {
      return offered;
    }
  }
  return {};
}

// Of a merge: the id of the callstack, and the process.
Status SpkAssembler::settle_value(EventValue& row, std::uint16_t segment,
                                  PackedStacks& stacks) const {
  row.pid = options_.merged->pids[row.pid];
  const Result<StackId> stack =
      row.stack == 0 ? Result<StackId>(kNoStack) : stacks.id_of({segment, 0, row.stack});
  if (!stack) {
    return stack.error();
  }
  row.stack = *stack;
  return {};
}

Status SpkAssembler::write_values(const capture::SystemTables& tables, PackedStacks& stacks,
                                  spk::ValueWriter& writer) {
  capture::ValueRecorder* const values = capture_.values();
  if (values == nullptr || values->empty()) {
    return {};
  }
  writer.set_kinds(values->kinds());
  ProcessOfThread processes(tables.threads);
  const Status written = values->finish(capture_.losses(), [&](const capture::FoundValue& row) {
    EventValue rounded = static_cast<const EventValue&>(row);
    if (options_.merged != nullptr) {
      if (const Status settled = settle_value(rounded, row.segment, stacks); !settled) {
        return settled;
      }
    } else if (rounded.pid == kUnknownId && rounded.tid != kUnknownId) {
      rounded.pid = processes.find(rounded.tid, rounded.time_ns);
    }
    rounded.time_ns -= rounding_ ? rounded.time_ns % options_.time_resolution_ns : 0;
    return writer.add(rounded);
  });
  return written ? writer.end(values->texts()) : written;
}

// Fields of a sample that is marked belong to its number in the file.
void SpkAssembler::place_fields(Sample& sample, std::uint64_t number) {
  sample.flags &= static_cast<std::uint8_t>(~capture::kSampleHasFields);
  if (capture::FieldRecorder* const fields = capture_.sample_fields();
      fields != nullptr && options_.samples) {
    fields->place(number);
  }
}

Status SpkAssembler::write_branch_stacks(spk::BranchStackWriter& writer) {
  BranchStackSpool* const stacks = capture_.branch_stacks();
  return stacks == nullptr ? Status{} : stacks->write(writer);
}

Status SpkAssembler::write_fields(spk::FieldWriter& writer) {
  capture::FieldRecorder* const fields = capture_.sample_fields();
  if (fields == nullptr || !options_.samples) {
    return {};
  }
  const Status written = fields->finish([&](FieldRow& row) {
    BranchStackSpool* const stacks = capture_.branch_stacks();
    const Status settled = stacks == nullptr ? Status{} : stacks->settle(row);
    return settled ? writer.add(row) : settled;
  });
  const Status ended = written ? writer.end(fields->control_groups().sorted().rows) : written;
  if (!ended || fields->empty() || fields->labels().empty()) {
    return ended;
  }
  spk::LabelSetWriter labels = writer.labels();
  const Status added =
      fields->labels().visit([&labels](std::string_view set) { return labels.add(set); });
  return added ? labels.end() : added;
}

// What only the sources know comes from them.
void SpkAssembler::report_merge(Statistics& statistics) const {
  if (!options_.merged->counts || options_.merged->tables.sources.empty()) {
    return;
  }
  auto& samples = statistics.samples;
  samples.records = 0;
  samples.empty_chains = 0;
  samples.stack_dump_only = 0;
  samples.unwound = 0;
  for (const MergedSource& source : options_.merged->tables.sources) {
    samples.records += source.records;
    samples.empty_chains += source.empty_chains;
    samples.stack_dump_only += source.stack_dump_only;
    samples.unwound += source.unwound;
  }
}

// The same for a merge: processes have other numbers in the file.
Status SpkAssembler::settle_merged(std::span<const SpooledSample> rows, PackedStacks& stacks,
                                   StackTally& tally, spk::Writer& writer) {
  std::vector<StoredSample> samples;
  std::vector<StackCount> counts;
  for (const SpooledSample& row : rows) {
    StackId stack = kNoStack;
    if (row.node != 0) {
      const Result<StackId> id = stacks.id_of({row.segment, 0, row.node});
      if (!id) {
        return id.error();
      }
      stack = *id;
    }
    const std::uint32_t pid = options_.merged->pids[row.pid];
    Status counted;
    if (options_.merged->counts) {
      counted = tally.add(counts.emplace_back(
          StackCount{stack, row.event, pid, row.origin, row.time_ns, row.weight}));
    } else {
      StoredSample& sample = samples.emplace_back();
      static_cast<Sample&>(sample) = static_cast<const Sample&>(row);
      const std::uint64_t number = samples_written_++;
      if ((sample.flags & capture::kSampleHasFields) != 0) [[unlikely]] {
        place_fields(sample, number);
      }
      sample.pid = pid;
      sample.stack = stack;
      sample.time_ns = rounding_ ? rounding_->round(pid, sample.time_ns) : sample.time_ns;
      counted = tally.add(sample, 0);
    }
    if (!counted) {
      return counted;
    }
  }
  return options_.merged->counts ? writer.add_counts(counts) : writer.add_samples(samples);
}

// All samples in the order of time, with the callstacks that they have in the file.
Status SpkAssembler::write_samples(PackedStacks& stacks, StackTally& tally, spk::Writer& writer) {
  if (const Status prepared = prepare_rounding(); !prepared) {
    return prepared;
  }
  if (capture::ValueRecorder* const values = capture_.values();
      values != nullptr && !values->empty()) {
    for (const Event& event : capture_.events()) {
      const auto row = static_cast<std::uint32_t>(valued_events_.size());
      valued_events_.push_back(values->event_number(row, event.name));
    }
  }
  std::vector<StoredSample> batch;
  const Status merged =
      capture_.for_each_sample([&](std::span<const SpooledSample> rows) -> Status {
        if (options_.merged != nullptr) {
          if (options_.written_counter != nullptr) {
            options_.written_counter->fetch_add(rows.size(), std::memory_order_relaxed);
          }
          return settle_merged(rows, stacks, tally, writer);
        }
        batch.resize(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
          if (i + kAhead < rows.size()) {
            const SpooledSample& later = rows[i + kAhead];
            stacks.prefetch_id_of({later.segment, 0, later.node});
          }
          if (const Status settled = settle(rows[i], stacks, tally, batch[i]); !settled) {
            return settled;
          }
        }
        if (options_.written_counter != nullptr) {
          options_.written_counter->fetch_add(rows.size(), std::memory_order_relaxed);
        }
        if (const Status offered = offer_stacks(rows, batch); !offered) {
          return offered;
        }
        return writer.add_samples(batch);
      });
  return merged ? writer.end_samples() : merged;
}

void SpkAssembler::report_source(const Source& source, Statistics& statistics) {
  statistics.source_kind = source.kind;
  statistics.source_bytes = source.bytes;
  statistics.source_parsed_bytes = source.account.parsed;
  statistics.source_padding_bytes = source.account.padding;
  statistics.source_skipped_bytes = source.account.skipped.total();
  statistics.source_skipped_by_reason = source.account.skipped.sorted();
}

void SpkAssembler::report_stage(std::string_view stage) const {
  if (options_.stage_done) {
    options_.stage_done(stage);
  }
}

}  // namespace stackpack::app
