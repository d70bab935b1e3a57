#include "app/merge/merge_attempt.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <thread>
#include <utility>

#include "app/convert/merge_losses.h"
#include "app/convert/spk_assembler.h"
#include "app/merge/frame_rebaser.h"
#include "app/merge/image_table.h"
#include "app/merge/input_names.h"
#include "app/merge/sample_rebaser.h"
#include "capture/loss_counters.h"
#include "capture/time_resolution.h"
#include "capture/wait_facts.h"
#include "core/ordered_pipeline.h"

namespace stackpack::app {

namespace {

constexpr std::string_view kKind = "merged";

Status of_input(const Status& status, std::size_t input) {
  if (status) {
    return status;
  }
  Error error = status.error();
  if (error.part != kOutputPart) {  // what cannot be kept is no fault of the input
    error.part = static_cast<std::uint32_t>(input);
  }
  return error;
}

Status of_the_output(const Status& status) {
  if (status) {
    return status;
  }
  Error error = status.error();
  error.part = kOutputPart;
  return error;
}

// Puts the value of a result into `value`, or passes the error on.
template <typename T>
Status take_value(Result<T> result, T& value) {
  if (!result) {
    return result.error();
  }
  value = std::move(*result);
  return {};
}

}  // namespace

MergeAttempt::MergeAttempt(const std::vector<std::optional<MergeInput>>& inputs,
                           std::string scratch, const MergeOptions& options,
                           ConvertProgress& progress)
    : inputs_(inputs),
      scratch_(std::move(scratch)),
      options_(options),
      progress_(progress),
      keeps_samples_(options.samples),
      repeated_(inputs.size()),
      branches_(scratch_) {}

unsigned MergeAttempt::encoders() const {
  constexpr unsigned kMost = 2;
  return options_.encoders != ConvertOptions::kAutoEncoders
             ? options_.encoders
             : std::clamp(std::thread::hardware_concurrency(), 1U, kMost);
}

Result<MergeAttempt::OpenInput> MergeAttempt::load(const MergeInput& input) {
  OpenInput opened;
  if (const Status taken = take_value(input.reader(), opened.reader); !taken) {
    return taken.error();
  }
  if (const Status taken = take_value(Symbols::load(*opened.reader), opened.symbols); !taken) {
    return taken.error();
  }
  if (const Status taken = take_value(opened.reader->events(), opened.events); !taken) {
    return taken.error();
  }
  if (const Status taken = take_value(opened.reader->metadata(), opened.metadata); !taken) {
    return taken.error();
  }
  return opened;
}

Status MergeAttempt::for_each_input(const std::function<bool(std::size_t)>& wanted,
                                    const std::function<Status(std::size_t, OpenInput&)>& visit) {
  struct Loading {
    std::size_t input = 0;
    OpenInput opened;
  };
  const auto read = [this](unsigned, Loading& loading) {
    return of_input(take_value(load(*inputs_[loading.input]), loading.opened), loading.input);
  };
  const auto add = [this, &visit](Loading& loading) -> Status {
    if (progress_.cancelled) {
      return Error{ErrorCode::kCancelled, kNoOffset, "interrupted"};
    }
    OpenInput opened = std::move(loading.opened);
    opened.images = input_images(opened.symbols->modules(), opened.metadata,
                                 inputs_[loading.input]->merged(), images_);
    return of_input(visit(loading.input, opened), loading.input);
  };
  core::OrderedPipeline<Loading> line(encoders() == 0 ? 0 : 1, kInputsAtOnce, read, add);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i] || !wanted(i)) {
      continue;
    }
    line.filling().input = i;
    if (const Status submitted = line.submit(); !submitted) {
      return submitted;
    }
  }
  return line.drain();
}

Status MergeAttempt::read_tables() {
  const Status read =
      for_each_input([](std::size_t) { return true; },
                     [this](std::size_t i, OpenInput& opened) { return add_tables(i, opened); });
  if (!read) {
    return read;
  }
  sources_.finish();
  const Status placed = of_the_output(images_.place());
  return placed ? of_the_output(names_.finish()) : placed;
}

Status MergeAttempt::add_tables(std::size_t i, OpenInput& opened) {
  if (const Status added = tables_.add(opened.events, opened.metadata, inputs_[i]->sources());
      !added) {
    return added;
  }
  if (opened.reader->has_intervals()) {
    tables_.add_intervals(opened.metadata);
  }
  add_input_names(*opened.symbols, opened.images, inputs_[i]->merged(), names_);
  Result<std::vector<std::string>> reasons = opened.reader->wait_reasons();
  if (!reasons) {
    return reasons.error();
  }
  for (std::string& reason : *reasons) {
    if (!reason.empty()) {
      wait_reasons_.insert(std::move(reason));
    }
  }
  keeps_samples_ = keeps_samples_ && opened.reader->has_samples();
  has_branch_stacks_ = has_branch_stacks_ || opened.reader->has_branch_stacks();
  repeated_[i] = sources_.add(static_cast<std::uint32_t>(i), inputs_[i]->sources());
  return {};
}

Status MergeAttempt::read_samples() {
  const std::uint64_t limit =
      options_.memory_limit != 0 ? options_.memory_limit : MergeOptions::kDefaultMemory;
  spool_ = std::make_unique<CaptureSpool>(
      CaptureSpool::Options{.scratch_directory = scratch_,
                            .memory_limit = limit,
                            .sample_counter = &progress_.samples,
                            .merges = true,
                            .values = true,
                            .fields = keeps_samples_,
                            .branch_stacks = keeps_samples_ && has_branch_stacks_,
                            .orders_branches = true});
  for (const Event& event : tables_.events()) {
    spool_->add_event(event);
  }
  sink_ = std::make_unique<RebasedSink>(*spool_, encoders());
  const Status read = for_each_input(
      [this](std::size_t i) {
        progress_.bytes_done += is_read_from(i) ? 0 : 1;
        return is_read_from(i);
      },
      [this](std::size_t i, OpenInput& opened) {
        const Status added = add_samples(i, opened);
        ++progress_.bytes_done;
        return added;
      });
  // What could not be spooled came before what could not be read.
  const Status spooled = sink_->finish();
  sink_.reset();
  return spooled ? read : spooled;
}

// Whether one of its sources is not read from another input.
bool MergeAttempt::is_read_from(std::size_t i) const {
  for (std::uint32_t index = 0; index < inputs_[i]->sources().size(); ++index) {
    if (sources_.rank(static_cast<std::uint32_t>(i), index)) {
      return true;
    }
  }
  return false;
}

Status MergeAttempt::add_samples(std::size_t i, OpenInput& opened) {
  const MergeInput& input = *inputs_[i];
  const auto number = static_cast<std::uint32_t>(i);
  const SourceClock clock = input.merged() ? SourceClock{} : SourceClock::of(opened.metadata);
  InputProcesses processes(number, input.sources(), input.merged(), sources_, pids_);
  if (const Status added = tables_.add_lives(*opened.reader, clock, processes); !added) {
    return added;
  }
  if (const Status added = add_branches(i, opened); !added) {
    return added;
  }
  return add_rebased(opened, clock, processes,
                     input.merged() ? std::nullopt : sources_.rank(number, 0));
}

// Of a merged file of which some captures are read from other inputs, nobody can tell whose
// branches are whose.
Status MergeAttempt::add_branches(std::size_t i, const OpenInput& opened) {
  const Result<Branches> branches = opened.reader->branches();
  if (!branches) {
    return branches.error();
  }
  std::uint64_t count = 0;
  for (const BranchEdge& row : branches->edges) {
    count = capture::saturating_sum(count, row.count);
  }
  for (std::uint32_t index = 0; count != 0 && index < inputs_[i]->sources().size(); ++index) {
    if (!sources_.rank(static_cast<std::uint32_t>(i), index)) {
      spool_->losses().add(merge_loss::kBranchesLeftOut, LossKind::kDamage, count);
      return {};
    }
  }
  const std::vector<std::uint32_t> events = tables_.numbers_of(opened.events, opened.metadata);
  return branches_.add(*branches, {opened.images, images_, events});
}

Status MergeAttempt::add_rebased(const OpenInput& opened, const SourceClock& clock,
                                 InputProcesses& processes, std::optional<std::uint32_t> rank) {
  const InputCalls calls(opened.symbols->names(), names_);
  FrameRebaser frames({*opened.symbols, opened.images, images_, calls, names_},
                      opened.reader->stack_count());
  std::vector<std::uint32_t> events = tables_.numbers_of(opened.events, opened.metadata);
  Result<std::vector<std::uint32_t>> reasons = reasons_of(*opened.reader);
  auto groups = control_groups_of(*opened.reader);
  auto labels = label_sets_of(*opened.reader);
  if (!reasons || !groups || !labels) {
    return !reasons ? reasons.error() : !groups ? groups.error() : labels.error();
  }
  SampleRebaser samples(
      {*opened.reader, *opened.symbols, frames, processes, clock, std::move(events), keeps_samples_,
       std::move(*reasons), &progress_.cancelled, spool_->values(), std::move(*groups),
       std::move(*labels), spool_->branch_stacks()},
      *sink_);
  if (const Status added = samples.run(); !added) {
    return added;
  }
  if (rank) {
    add_losses(*rank, frames.unplaced(), samples.values_left_out(), *opened.reader);
  }
  return add_mappings(opened, frames.modules_used(), clock, processes);
}

// Rows of the merge, by rows of the input. What does not fit is counted, and of no known reason.
Result<std::vector<std::uint32_t>> MergeAttempt::reasons_of(const Reader& reader) {
  const Result<std::vector<std::string>> reasons = reader.wait_reasons();
  if (!reasons) {
    return reasons.error();
  }
  const auto row_of = [this](std::string_view reason) {
    const auto found = wait_reasons_.find(reason);
    return found == wait_reasons_.end()
               ? std::size_t{0}
               : static_cast<std::size_t>(std::distance(wait_reasons_.begin(), found)) + 1;
  };
  const auto row_if_kept = [](std::size_t row) {
    return row < capture::WaitFacts::kMostReasons ? static_cast<std::uint32_t>(row) : 0;
  };
  const std::uint32_t unknown = row_if_kept(row_of("?"));
  std::vector<std::uint32_t> rows;
  std::uint64_t left_out = 0;
  for (const std::string& reason : *reasons) {
    const std::size_t row = row_of(reason);
    const bool is_kept = row < capture::WaitFacts::kMostReasons;
    rows.push_back(is_kept ? row_if_kept(row) : unknown);
    left_out += is_kept ? 0 : 1;
  }
  if (left_out != 0 && keeps_samples_) {
    spool_->losses().add(merge_loss::kReasonsLeftOut, LossKind::kNotice, left_out);
  }
  return rows;
}

// Numbers of the merge, by rows of the input. Those that are too many have none, and are counted.
Result<std::vector<std::optional<std::uint32_t>>> MergeAttempt::control_groups_of(
    const Reader& reader) {
  std::vector<std::optional<std::uint32_t>> numbers;
  const Result<std::vector<ControlGroup>> groups = reader.control_groups();
  if (!groups) {
    return groups.error();
  }
  capture::FieldRecorder* const fields = spool_->sample_fields();
  std::uint64_t left_out = 0;
  for (const ControlGroup& group : *groups) {
    numbers.push_back(fields != nullptr ? fields->control_groups().number_of(group) : std::nullopt);
    left_out += numbers.back() ? 0U : 1U;
  }
  if (left_out != 0 && keeps_samples_) {
    spool_->losses().add(merge_loss::kControlGroupsLeftOut, LossKind::kNotice, left_out);
  }
  return numbers;
}

// Numbers of the merge, by rows of the input.
Result<std::vector<std::uint64_t>> MergeAttempt::label_sets_of(const Reader& reader) {
  std::vector<std::uint64_t> numbers;
  capture::FieldRecorder* const fields = spool_->sample_fields();
  if (fields == nullptr) {
    return numbers;
  }
  const Status read = reader.label_sets([&](std::span<const LabelSet> sets) {
    for (LabelSet set : sets) {
      numbers.push_back(fields->labels().number_of(set));
    }
    return true;
  });
  return read ? Result<std::vector<std::uint64_t>>(std::move(numbers)) : read.error();
}

// To the source, which keeps them in a merge of merges.
void MergeAttempt::add_losses(std::uint32_t rank, const FrameRebaser::Unplaced& unplaced,
                              std::uint64_t unknown_values, const Reader& reader) {
  capture::LossCounters counters;
  for (const LossCounter& loss : sources_.sources()[rank].losses) {
    counters.add(loss.name, loss.kind, loss.count);
  }
  for (const auto& [name, count] :
       {std::pair(merge_loss::kMovedFrames, unplaced.moved),
        std::pair(merge_loss::kKernelFramesLeft, unplaced.kernel),
        std::pair(merge_loss::kIntervalsLeftOut,
                  std::uint64_t{reader.has_intervals() && !keeps_samples_ ? 1U : 0U}),
        std::pair(merge_loss::kBranchStacksLeftOut,
                  std::uint64_t{reader.has_branch_stacks() && !keeps_samples_ ? 1U : 0U}),
        std::pair(merge_loss::kFieldsLeftOut,
                  std::uint64_t{reader.has_sample_fields() && !keeps_samples_ ? 1U : 0U}),
        std::pair(merge_loss::kValuesLeftOut,
                  unknown_values + (reader.has_event_values() && !keeps_samples_ ? 1U : 0U))}) {
    if (count != 0) {
      counters.add(name, LossKind::kNotice, count);
    }
  }
  sources_.sources()[rank].losses = counters.sorted();
}

Status MergeAttempt::add_mappings(const OpenInput& opened, const std::vector<bool>& used,
                                  const SourceClock& clock, InputProcesses& processes) {
  for (std::size_t row = 0; row < used.size(); ++row) {
    if (!used[row]) {
      continue;
    }
    const Module& module = opened.symbols->modules()[row];
    if (const Status added = tables_.add_mapping(module, clock, processes); !added) {
      return added;
    }
  }
  return {};
}

Result<Statistics> MergeAttempt::write(io::OutputFile& out) {
  MergedFacts facts;
  facts.counts = !keeps_samples_;
  PidNumbers::Final numbers = pids_.finish(static_cast<std::uint32_t>(sources_.sources().size()));
  std::uint64_t bytes = 0;
  for (const MergedSource& source : sources_.sources()) {
    bytes += source.bytes;
    for (const LossCounter& loss : source.losses) {
      spool_->losses().add(loss.name, loss.kind, loss.count);
    }
  }
  const std::uint64_t resolution =
      std::max(options_.time_resolution_ns, tables_.time_resolution_ns());
  facts.tables = std::move(tables_).finish(numbers, sources_.sources(), images_);
  if (resolution > 1 && keeps_samples_ && !capture::has_no_times(facts.tables.metadata)) {
    capture::set_time_resolution(facts.tables.metadata, resolution);
  }
  facts.names = names_.names(images_);
  facts.wait_reasons = {""};
  for (const std::string& reason : wait_reasons_) {
    if (facts.wait_reasons.size() < capture::WaitFacts::kMostReasons) {
      facts.wait_reasons.push_back(reason);
    }
  }
  const std::size_t first_image = facts.tables.modules.size() - images_.modules().size();
  facts.add_branches = [this, first_image](spk::BranchWriter& branches) {
    return branches_.write(static_cast<std::uint32_t>(first_image), spool_->losses(), branches);
  };
  facts.pids = std::move(numbers.pids);
  SpkAssembler assembler(*spool_, {.level = options_.level,
                                   .samples = keeps_samples_,
                                   .threads = encoders(),
                                   .stage_done =
                                       [this](std::string_view stage) {
                                         progress_.stage = stage == "callstacks"
                                                               ? ConvertStage::kSamples
                                                               : ConvertStage::kFinishing;
                                       },
                                   .written_counter = &progress_.samples_written,
                                   .merged = &facts,
                                   .time_resolution_ns = options_.time_resolution_ns});
  return assembler.write(out, {std::string(kKind), bytes, "", {}});
}

}  // namespace stackpack::app
