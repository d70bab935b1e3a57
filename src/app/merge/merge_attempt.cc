#include "app/merge/merge_attempt.h"

#include <algorithm>
#include <string_view>
#include <thread>
#include <utility>

#include "app/convert/spk_assembler.h"
#include "app/merge/frame_rebaser.h"
#include "app/merge/input_images.h"
#include "app/merge/input_names.h"
#include "app/merge/merge_losses.h"
#include "app/merge/sample_rebaser.h"
#include "capture/loss_counters.h"

namespace stackpack::app {

namespace {

constexpr std::string_view kKind = "merged";

Status of_input(const Status& status, std::size_t input) {
  if (status) {
    return status;
  }
  Error error = status.error();
  error.part = static_cast<std::uint32_t>(input);
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
      repeated_(inputs.size()) {}

unsigned MergeAttempt::encoders() const {
  constexpr unsigned kMost = 2;
  return options_.encoders != ConvertOptions::kAutoEncoders
             ? options_.encoders
             : std::clamp(std::thread::hardware_concurrency(), 1U, kMost);
}

Result<MergeAttempt::OpenInput> MergeAttempt::open_tables(const MergeInput& input) {
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
  opened.images = input_images(opened.symbols->modules(), opened.metadata, input.merged(), images_);
  return opened;
}

Status MergeAttempt::read_tables() {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i]) {
      continue;
    }
    if (progress_.cancelled) {
      return Error{ErrorCode::kCancelled, kNoOffset, "interrupted"};
    }
    if (const Status added = of_input(add_tables(i), i); !added) {
      return added;
    }
  }
  sources_.finish();
  const Status placed = of_the_output(images_.place());
  return placed ? of_the_output(names_.finish()) : placed;
}

Status MergeAttempt::add_tables(std::size_t i) {
  const Result<OpenInput> opened = open_tables(*inputs_[i]);
  if (!opened) {
    return opened.error();
  }
  if (const Status added = tables_.add(opened->events, opened->metadata); !added) {
    return added;
  }
  add_input_names(*opened->symbols, opened->images, inputs_[i]->merged(), names_);
  keeps_samples_ = keeps_samples_ && opened->reader->has_samples();
  repeated_[i] = sources_.add(static_cast<std::uint32_t>(i), inputs_[i]->sources());
  return {};
}

Status MergeAttempt::read_samples() {
  spool_ =
      std::make_unique<CaptureSpool>(CaptureSpool::Options{.scratch_directory = scratch_,
                                                           .memory_limit = options_.memory_limit,
                                                           .sample_counter = &progress_.samples,
                                                           .merges = true});
  for (const Event& event : tables_.events()) {
    spool_->add_event(event);
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i]) {
      continue;
    }
    if (const Status added = of_input(add_samples(i), i); !added) {
      return added;
    }
    ++progress_.bytes_done;
  }
  return {};
}

Status MergeAttempt::add_samples(std::size_t i) {
  const MergeInput& input = *inputs_[i];
  const auto number = static_cast<std::uint32_t>(i);
  bool any = false;
  for (std::uint32_t index = 0; index < input.sources().size(); ++index) {
    any |= sources_.rank(number, index).has_value();
  }
  if (!any) {
    return {};  // all of it is read from other inputs
  }
  const Result<OpenInput> opened = open_tables(input);
  if (!opened) {
    return opened.error();
  }
  const SourceClock clock = input.merged() ? SourceClock{} : SourceClock::of(opened->metadata);
  InputProcesses processes(number, input.sources(), input.merged(), sources_, pids_);
  if (const Status added = tables_.add_lives(*opened->reader, clock, processes); !added) {
    return added;
  }
  return add_rebased(*opened, clock, processes,
                     input.merged() ? std::nullopt : sources_.rank(number, 0));
}

Status MergeAttempt::add_rebased(const OpenInput& opened, const SourceClock& clock,
                                 InputProcesses& processes, std::optional<std::uint32_t> rank) {
  const InputCalls calls(opened.symbols->names(), names_);
  FrameRebaser frames({*opened.symbols, opened.images, images_, calls, names_});
  std::vector<std::uint32_t> events;
  for (const Event& event : opened.events) {
    events.push_back(tables_.event(event));
  }
  SampleRebaser samples({*opened.reader, *opened.symbols, frames, processes, clock,
                         std::move(events), keeps_samples_, &progress_.cancelled},
                        *spool_);
  if (const Status added = samples.run(); !added) {
    return added;
  }
  if (rank) {
    add_losses(*rank, frames.unplaced());
  }
  return add_mappings(opened, frames.modules_used(), clock, processes);
}

// To the source, which keeps them in a merge of merges.
void MergeAttempt::add_losses(std::uint32_t rank, const FrameRebaser::Unplaced& unplaced) {
  capture::LossCounters counters;
  for (const LossCounter& loss : sources_.sources()[rank].losses) {
    counters.add(loss.name, loss.kind, loss.count);
  }
  for (const auto& [name, count] : {std::pair(merge_loss::kMovedFrames, unplaced.moved),
                                    std::pair(merge_loss::kKernelFramesLeft, unplaced.kernel)}) {
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
  facts.tables = std::move(tables_).finish(numbers, sources_.sources(), images_);
  facts.names = names_.names(images_);
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
                                   .merged = &facts});
  return assembler.write(out, {std::string(kKind), bytes, "", {}});
}

}  // namespace stackpack::app
