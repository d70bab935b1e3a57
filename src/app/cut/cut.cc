#include "app/cut/cut.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/analysis/stack_filter.h"
#include "app/convert/capture_spool.h"
#include "app/convert/merge_losses.h"
#include "app/convert/spk_assembler.h"
#include "app/merge/rebased_sink.h"
#include "capture/carried_values.h"
#include "capture/source_identity.h"
#include "capture/time_resolution.h"
#include "core/guard.h"
#include "io/directories.h"
#include "io/files_read.h"
#include "io/output_file.h"
#include "io/output_rules.h"
#include "query/field_cursor.h"
#include "query/name_pattern.h"
#include "query/naming/frame_entities.h"
#include "query/naming/stack_entities.h"
#include "query/selection/capture_view.h"
#include "query/selection/sample_selection.h"
#include "spk/format/directory.h"
#include "stackpack/reader.h"

namespace stackpack::app {

namespace {

constexpr std::uint32_t kNoEntry = RebasedSink::kNoEntry;
constexpr std::string_view kCutOfKey = "cut.of";

Error of_output(Error error) {
  error.part = kOutputPart;
  return error;
}

// The samples that are wanted, on their way into a spool.
class Cut {
 public:
  Cut(const Reader& reader, const CutOptions& options, std::string scratch,
      ConvertProgress& progress)
      : reader_(reader),
        options_(options),
        scratch_(std::move(scratch)),
        progress_(progress),
        fields_(reader) {
    selecting_.filter = options.filter;
    selecting_.all_events = options.filter.events.empty();
    selecting_.count = CountBy::kSamples;
  }

  /// Errors: those of cut_file().
  Status read();
  /// Once, after read().
  Result<Statistics> write(io::OutputFile& out);

 private:
  Status open();
  Status add_block(std::span<const query::SelectedSample> block);
  Status place_callstacks(std::span<const query::SelectedSample> block);
  [[nodiscard]] std::uint64_t key_of(const query::SelectedSample& sample) const {
    const bool by_context = !filter_.empty();
    return (by_context ? std::uint64_t{sample.context} << 32 : 0) | sample.stack;
  }
  [[nodiscard]] bool wants(const query::SelectedSample& sample);
  Status add_sample(const Sample& sample, std::uint32_t entry, std::uint64_t number);
  Result<FieldRow> carried_fields(FieldRow row);
  std::uint32_t number_of(std::uint32_t pid);
  Result<SpkAssembler::Source> source_of_cut(MergedFacts& facts);
  Status count_what_is_left_out();
  [[nodiscard]] bool keeps_values() const;
  [[nodiscard]] std::vector<bool> kinds_wanted(std::span<const ValueSchema> kinds) const;
  Status add_values();
  Status add_values(std::span<const EventValue> rows, const std::vector<bool>& kinds,
                    capture::CarriedValues& carried);

  const Reader& reader_;
  const CutOptions& options_;
  std::string scratch_;
  ConvertProgress& progress_;
  ExportOptions selecting_;
  query::CaptureView view_;
  std::unique_ptr<query::SampleSelection> selection_;
  std::unique_ptr<query::FrameEntities> entities_;
  std::optional<query::StackEntities> stacks_;
  StackFilter filter_;
  std::unordered_map<std::uint64_t, bool> wanted_;  // by key_of()
  std::vector<std::uint32_t> entries_;              // by callstack of the input
  std::uint32_t entry_count_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  // by process
  std::vector<std::uint32_t> pids_;
  std::unique_ptr<CaptureSpool> spool_;
  std::unique_ptr<RebasedSink> sink_;
  query::FieldCursor fields_;
  std::vector<std::uint64_t> label_sets_;  // of the spool's recorder, by those of the file
  std::vector<StackedBranch> branches_;
  std::uint64_t samples_ = 0;
  std::uint64_t values_left_out_ = 0;
};

// What chooses samples, and where they go.
Status Cut::open() {
  Result<query::CaptureView> view = query::view_of(reader_);
  if (!view) {
    return view.error();
  }
  view_ = std::move(*view);
  Result<StackFilter> filter = StackFilter::create(options_.patterns);
  if (!filter) {
    return filter.error();
  }
  filter_ = std::move(*filter);
  auto selection = query::SampleSelection::create(
      view_, selecting_, {.numbers = static_cast<bool>(view_.fields), .event_key = {}});
  if (!selection) {
    return selection.error();
  }
  selection_ = std::move(*selection);
  entities_ =
      std::make_unique<query::FrameEntities>(*selection_, query::FrameGrain::kFunction, false);
  stacks_.emplace(*entities_);
  entries_.assign(view_.stack_count, kNoEntry);
  spool_ = std::make_unique<CaptureSpool>(
      CaptureSpool::Options{.scratch_directory = scratch_,
                            .memory_limit = options_.memory_limit,
                            .sample_counter = &progress_.samples,
                            .merges = true,
                            .values = true,
                            .fields = view_.has_samples,
                            .branch_stacks = view_.has_samples && reader_.has_branch_stacks()});
  const Result<std::vector<ControlGroup>> groups = reader_.control_groups();
  if (!groups) {
    return groups.error();
  }
  for (const ControlGroup& group : *groups) {
    if (capture::FieldRecorder* const fields = spool_->sample_fields(); fields != nullptr) {
      fields->control_groups().number_of(group);  // numbers are rows: each group comes once
    }
  }
  const Status labelled = reader_.label_sets([this](std::span<const LabelSet> sets) {
    for (LabelSet set : sets) {
      if (capture::FieldRecorder* const fields = spool_->sample_fields(); fields != nullptr) {
        label_sets_.push_back(fields->labels().number_of(set));
      }
    }
    return true;
  });
  if (!labelled) {
    return labelled;
  }
  // As they are in the file, not as a view shows them.
  const Result<std::vector<Event>> events = reader_.events();
  if (!events) {
    return events.error();
  }
  for (const Event& event : *events) {
    spool_->add_event(event);
  }
  return {};
}

Status Cut::read() {
  if (const Status opened = open(); !opened) {
    return opened;
  }
  sink_ = std::make_unique<RebasedSink>(*spool_, 1);
  Status read = selection_->for_each(
      [this](std::span<const query::SelectedSample> block) { return add_block(block); });
  read = read ? add_values() : read;
  read = read ? sink_->end_generation() : read;
  const Status spooled = sink_->finish();
  sink_.reset();
  if (!spooled || !read) {
    return spooled ? read : spooled;
  }
  return samples_ == 0
             ? Status(Error{ErrorCode::kUsage, kNoOffset, "no sample of the file is selected"})
             : Status();
}

std::uint32_t Cut::number_of(std::uint32_t pid) {
  const auto [at, is_new] = numbers_.try_emplace(pid, static_cast<std::uint32_t>(pids_.size()));
  if (is_new) {
    pids_.push_back(pid);
  }
  return at->second;
}

bool Cut::wants(const query::SelectedSample& sample) {
  return sample.stack == kNoStack ? filter_.apply({}, *entities_).has_value()
                                  : wanted_.find(key_of(sample))->second;
}

Status Cut::add_block(std::span<const query::SelectedSample> block) {
  if (progress_.cancelled) {
    return Error{ErrorCode::kCancelled, kNoOffset, "interrupted"};
  }
  if (const Status placed = place_callstacks(block); !placed) {
    return placed;
  }
  for (const query::SelectedSample& sample : block) {
    if (!wants(sample)) {
      continue;
    }
    Sample kept = static_cast<const Sample&>(sample);
    kept.pid = number_of(sample.pid);
    const std::uint32_t entry = sample.stack == kNoStack ? kNoEntry : entries_[sample.stack];
    const Status added = view_.has_samples
                             ? add_sample(kept, entry, sample.number)
                             : sink_->add_count({entry == kNoEntry ? kNoStack : entry, kept.event,
                                                 kept.pid, kept.origin, sample.count, kept.weight});
    if (!added) {
      return added;
    }
    samples_ += sample.count;
  }
  return {};
}

// With its fields, where it has any.
Status Cut::add_sample(const Sample& sample, std::uint32_t entry, std::uint64_t number) {
  if (!view_.fields) {
    return sink_->add_sample(sample, entry, 0, 1);
  }
  const Result<const FieldRow*> found = fields_.find(number);
  if (!found) {
    return found.error();
  }
  if (*found == nullptr) {
    return sink_->add_sample(sample, entry, 0, 1);
  }
  const Result<FieldRow> row = carried_fields(**found);
  if (!row) {
    return row.error();
  }
  return row->present == 0 ? sink_->add_sample(sample, entry, 0, 1)
                           : sink_->add_sample(sample, entry, 0, *row);
}

// With labels and branch stack as the spool knows them.
Result<FieldRow> Cut::carried_fields(FieldRow row) {
  if (row.has(SampleField::kLabelSet)) {
    const std::uint64_t set = row.value(SampleField::kLabelSet);
    if (set >= label_sets_.size()) {
      return Error{ErrorCode::kCorrupt, kNoOffset, "spk: a sample has labels that are not there"};
    }
    row.set(SampleField::kLabelSet, label_sets_[static_cast<std::size_t>(set)]);
  }
  if (!row.has(SampleField::kBranchStack)) {
    return row;
  }
  if (const Status read = reader_.branch_stack(row, branches_); !read) {
    return read.error();
  }
  row.clear(SampleField::kBranchStack);
  row.clear(SampleField::kBranchCycles);
  const Status added = spool_->add_branch_stack(branches_, row);
  return added ? Result<FieldRow>(row) : Result<FieldRow>(added.error());
}

// Decides on the callstacks that are new, and hands over those that are wanted.
Status Cut::place_callstacks(std::span<const query::SelectedSample> block) {
  std::vector<StackId> ids;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> asked;  // key, context
  for (const query::SelectedSample& sample : block) {
    if (sample.stack != kNoStack && wanted_.try_emplace(key_of(sample), false).second) {
      ids.push_back(sample.stack);
      asked.emplace_back(key_of(sample), sample.context);
    }
  }
  Status status;
  const auto place = [&](std::size_t at, std::span<const Frame> frames) {
    const auto [key, context] = asked[at];
    if (!filter_.empty() && !filter_.apply(stacks_->of(frames, context), *entities_)) {
      return true;
    }
    wanted_[key] = true;
    std::uint32_t& entry = entries_[ids[at]];
    if (entry == kNoEntry) {
      entry = entry_count_++;
      status = sink_->add_stack(entry, frames);
    }
    return static_cast<bool>(status);
  };
  const Status read = view_.callstacks(ids, place);
  return status ? read : status;
}

// Values have no processor, control group and labels, and one without a callstack lies in no
// module.
bool Cut::keeps_values() const {
  const SampleFilter& filter = options_.filter;
  return view_.has_samples && !filter.cpu && filter.cgroups.empty() && filter.labels.empty() &&
         filter.modules.empty() && filter.excluded_modules.empty();
}

// A kind is one of several events, as a filter names them.
std::vector<bool> Cut::kinds_wanted(std::span<const ValueSchema> kinds) const {
  const SampleFilter& filter = options_.filter;
  std::vector<bool> wanted;
  for (const ValueSchema& schema : kinds) {
    const auto known = capture::value_kind_named(schema.name);
    const std::vector<std::string> events = known ? capture::events_of_kind(*known)
                                            : capture::is_own_kind(schema)
                                                ? std::vector<std::string>{schema.name}
                                                : std::vector<std::string>();
    wanted.push_back(std::any_of(events.begin(), events.end(), [&filter](const std::string& name) {
      return (filter.events.empty() || query::fits_any(name, filter.events)) &&
             !query::fits_any(name, filter.excluded_events);
    }));
  }
  return wanted;
}

Status Cut::add_values() {
  const Result<std::vector<ValueSchema>> kinds = reader_.event_value_kinds();
  Result<std::vector<std::string>> texts = reader_.event_value_texts();
  if (!kinds || !texts) {
    return kinds ? texts.error() : kinds.error();
  }
  const std::vector<bool> wanted = kinds_wanted(*kinds);
  capture::CarriedValues carried(*kinds, std::move(*texts), *spool_->values());
  Status status;
  const Status read = reader_.event_values([&](std::span<const EventValue> rows) {
    if (keeps_values()) {
      status = add_values(rows, wanted, carried);
    } else {
      values_left_out_ += rows.size();
    }
    return static_cast<bool>(status);
  });
  return status ? read : status;
}

Status Cut::add_values(std::span<const EventValue> rows, const std::vector<bool>& kinds,
                       capture::CarriedValues& carried) {
  std::vector<query::SelectedSample> places;
  std::vector<capture::RecordedValue> values;
  for (const EventValue& row : rows) {
    auto value = carried.carry(row);
    values_left_out_ += value ? 0U : 1U;
    const auto context = value && kinds[row.kind]
                             ? selection_->context_at(row.pid, row.tid, row.time_ns)
                             : std::nullopt;
    if (context) {
      query::SelectedSample& place = places.emplace_back();
      place.stack = row.stack;
      place.context = *context;
      values.push_back(*value);
    }
  }
  if (const Status placed = place_callstacks(places); !placed) {
    return placed;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!wants(places[i])) {
      continue;
    }
    const StackId stack = places[i].stack;
    values[i].pid = number_of(values[i].pid);
    const Status added =
        sink_->add_value(values[i], stack == kNoStack ? kNoEntry : entries_[stack], 0);
    if (!added) {
      return added;
    }
  }
  return {};
}

// What is kept of the file but its samples.
Result<SpkAssembler::Source> Cut::source_of_cut(MergedFacts& facts) {
  auto processes = reader_.processes();
  auto threads = reader_.threads();
  auto modules = reader_.modules();
  auto metadata = reader_.metadata();
  auto sources = reader_.sources();
  auto names = reader_.names();
  for (const Error* error :
       {processes ? nullptr : &processes.error(), threads ? nullptr : &threads.error(),
        modules ? nullptr : &modules.error(), metadata ? nullptr : &metadata.error(),
        sources ? nullptr : &sources.error(), names ? nullptr : &names.error()}) {
    if (error != nullptr) {
      return *error;
    }
  }
  const auto identity = capture::identity_of(*metadata);
  std::erase_if(*metadata,
                [](const MetadataEntry& entry) { return entry.key == capture::kIdentityKey; });
  if (identity) {
    capture::set_metadata(*metadata, kCutOfKey, capture::text_of_identity(*identity));
  }
  facts.tables = {std::move(*processes), std::move(*threads), std::move(*modules),
                  std::move(*metadata), std::move(*sources)};
  facts.names = std::move(*names);
  facts.pids = pids_;
  facts.counts = !view_.has_samples;
  const Statistics& whole = reader_.statistics();
  return SpkAssembler::Source{whole.source_kind, whole.source_bytes, "", {}};
}

Status Cut::count_what_is_left_out() {
  for (const LossCounter& loss : reader_.statistics().losses) {
    spool_->losses().add(loss.name, loss.kind, loss.count, loss.first_offset);
  }
  std::uint64_t intervals = 0;
  const Status read = reader_.intervals({}, [&](std::span<const WaitInterval> rows) {
    intervals += rows.size();
    return true;
  });
  if (!read) {
    return read;
  }
  const Result<Branches> branches = reader_.branches();
  if (!branches) {
    return branches.error();
  }
  std::uint64_t values = 0;
  const Status looked = reader_.event_values([&](std::span<const EventValue> rows) {
    values += rows.size();
    return true;
  });
  if (!looked) {
    return looked;
  }
  for (const auto& [name, count] :
       {std::pair(cut_loss::kIntervalsLeftOut, intervals),
        std::pair(cut_loss::kBranchesLeftOut,
                  std::uint64_t{branches->edges.size() + branches->ranges.size()}),
        std::pair(cut_loss::kValuesLeftOut, values_left_out_)}) {
    if (count != 0) {
      spool_->losses().add(name, LossKind::kNotice, count);
    }
  }
  return {};
}

Result<Statistics> Cut::write(io::OutputFile& out) {
  MergedFacts facts;
  const Result<SpkAssembler::Source> source = source_of_cut(facts);
  if (!source) {
    return source.error();
  }
  if (const Status counted = count_what_is_left_out(); !counted) {
    return counted.error();
  }
  SpkAssembler assembler(*spool_, {.level = options_.level,
                                   .samples = view_.has_samples,
                                   .threads = 1,
                                   .written_counter = &progress_.samples_written,
                                   .merged = &facts});
  Result<Statistics> written = assembler.write(out, *source);
  return written ? std::move(written) : Result<Statistics>(of_output(written.error()));
}

Result<CutReport> cut_and_write(const std::string& input, const std::string& output,
                                const CutOptions& options, ConvertProgress& progress) {
  io::OutputRules rules;
  rules.force = options.force;
  rules.replaceable = spk::looks_like_spk;
  rules.refusal = "exists and is not a .spk file; option force replaces it";
  if (const Status added = io::add_inputs(rules, std::span(&input, 1)); !added) {
    return added.error();
  }
  if (const Status allowed = io::check_output(output, rules); !allowed) {
    return of_output(allowed.error());
  }
  const Result<std::unique_ptr<Reader>> reader = Reader::open(input);
  if (!reader) {
    return reader.error();
  }
  CutReport report;
  report.samples_before = (*reader)->statistics().samples.total;
  Cut cut(**reader, options, output == "-" ? io::temporary_directory() : io::directory_of(output),
          progress);
  if (const Status read = cut.read(); !read) {
    return read.error();
  }
  Result<std::unique_ptr<io::OutputFile>> out = io::OutputFile::create(output, rules);
  if (!out) {
    return of_output(out.error());
  }
  Result<Statistics> statistics = cut.write(**out);
  if (!statistics) {
    return statistics.error();
  }
  report.statistics = std::move(*statistics);
  report.output_bytes = (*out)->offset();
  if (const Status committed = (*out)->commit(); !committed) {
    return of_output(committed.error());
  }
  return report;
}

}  // namespace

Result<CutReport> cut_file(const std::string& input, const std::string& output,
                           const CutOptions& options, ConvertProgress& progress) {
  const io::FilesRead files_read;
  return core::guarded([&] { return cut_and_write(input, output, options, progress); });
}

}  // namespace stackpack::app
