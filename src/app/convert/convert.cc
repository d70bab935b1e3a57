#include "stackpack/convert.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "app/convert/capture_input.h"
#include "app/convert/capture_probe.h"
#include "app/convert/capture_spool.h"
#include "app/convert/fingerprint.h"
#include "app/convert/last_word.h"
#include "app/convert/memory_plan.h"
#include "app/convert/sink_queue.h"
#include "app/convert/spk_assembler.h"
#include "app/unwind/image_unwinder.h"
#include "app/unwind/recorded_here.h"
#include "core/guard.h"
#include "io/directories.h"
#include "io/files_read.h"
#include "io/output_file.h"
#include "io/output_rules.h"
#include "io/this_machine.h"
#include "io/utf8_path.h"
#include "spk/format/directory.h"

namespace stackpack {

namespace {

class StageClock {
 public:
  explicit StageClock(std::vector<StageTime>& stages) : stages_(stages) {}

  void finish_stage(std::string_view name) {
    const auto now = std::chrono::steady_clock::now();
    stages_.push_back({std::string(name), std::chrono::duration<double>(now - start_).count()});
    start_ = now;
  }

 private:
  std::vector<StageTime>& stages_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string scratch_directory_for(const std::string& output) {
  return output == "-" ? io::temporary_directory() : io::directory_of(output);
}

// What the output may replace, and the permissions that it gets.
Result<io::OutputRules> rules_for(const std::vector<std::string>& inputs,
                                  const ConvertOptions& options) {
  io::OutputRules rules;
  rules.force = options.force;
  rules.replaceable = spk::looks_like_spk;
  rules.refusal = "exists and is not a .spk file; option force replaces it";
  const Status added = io::add_inputs(rules, inputs);
  return added ? Result<io::OutputRules>(std::move(rules)) : added.error();
}

unsigned encoders_of(const ConvertOptions& options) {
  constexpr unsigned kMost = 2;  // of more, the thread that feeds them cannot keep busy
  return options.encoders != ConvertOptions::kAutoEncoders
             ? options.encoders
             : std::clamp(std::thread::hardware_concurrency(), 1U, kMost);
}

// What is no capture, but something that users take for one.
std::optional<Error> what_it_is(const std::string& input) {
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(io::path_of(input), failed);
  if (std::filesystem::is_directory(status) &&
      !std::filesystem::exists(io::path_of(input + "/data"), failed) && !failed) {
    return Error{ErrorCode::kUnsupported, kNoOffset,
                 "is a folder; --recursive --out-dir DIR converts all captures below it"};
  }
  if (std::filesystem::is_regular_file(status) && app::looks_like_packed(input)) {
    return Error{ErrorCode::kUnsupported, kNoOffset,
                 "is a .spk file already; stackpack stats and dump say what is in it"};
  }
  return std::nullopt;
}

// One line for each counter that a user should hear of.
std::vector<std::string> warnings_about(const Statistics& statistics) {
  std::vector<std::string> lines;
  for (const LossCounter& loss : statistics.losses) {
    if (loss.kind == LossKind::kNotice || loss.count == 0) {
      continue;
    }
    std::string line = loss.name + ": " + std::to_string(loss.count);
    if (loss.first_offset != kNoOffset) {
      line += " (first at offset " + std::to_string(loss.first_offset) + ")";
    }
    lines.push_back(std::move(line));
  }
  std::uint64_t incomplete = 0;
  for (const LossCounter& loss : statistics.losses) {
    const auto& ends = capture::unwind_loss::kIncomplete;
    incomplete += std::count(ends.begin(), ends.end(), loss.name) != 0 ? loss.count : 0;
  }
  if (incomplete != 0) {
    lines.push_back(std::to_string(incomplete) + " of " +
                    std::to_string(statistics.samples.unwound) +
                    " unwound callstacks do not reach their root; stats says why");
  }
  return lines;
}

std::uint64_t count_of(const Statistics& statistics, std::string_view counter) {
  for (const LossCounter& loss : statistics.losses) {
    if (loss.name == counter) {
      return loss.count;
    }
  }
  return 0;
}

// Why there are no samples in a capture that was made for something else; empty: nobody knows.
std::string why_no_samples(const Statistics& statistics) {
  if (statistics.samples.total != 0) {
    return {};
  }
  if (count_of(statistics, "hardware_traces_not_decoded") != 0 ||
      count_of(statistics, "records_not_kept.aux") != 0) {
    return "no samples: this capture is only a hardware trace, which is not decoded here; perf "
           "inject --itrace makes samples of it";
  }
  if (count_of(statistics, "records_not_kept.stat") != 0) {
    return "no samples: this capture is of perf stat, which counts events and takes none";
  }
  return {};
}

Result<app::CaptureInput> open_input(const std::vector<std::string>& inputs, bool session,
                                     const ConvertOptions& options, const std::string& scratch,
                                     std::vector<FormatTried>& tried) {
  Result<app::CaptureInput> opened =
      session ? app::CaptureInput::open_session(inputs, options, scratch, tried)
              : app::CaptureInput::open(inputs.front(), options, scratch, tried);
  if (!opened) {
    const std::size_t part = session ? opened.error().part : 0;
    std::optional<Error> known = part < inputs.size() ? what_it_is(inputs[part]) : std::nullopt;
    if (known && session) {
      known->part = opened.error().part;
    }
    if (known) {
      tried.clear();
    }
    return known.value_or(opened.error());
  }
  return opened;
}

// Where the binaries of the recorded machine are looked for.
Result<symbolize::SymbolPlaces> places_of(const ConvertOptions& options) {
  symbolize::SymbolPlaces places;
  places.directories = options.binary_folders;
  if (const Status opened = symbolize::open_bundles(places); !opened) {
    return opened.error();
  }
  for (std::string& folder : app::perf_cache_folders()) {
    places.directories.push_back(std::move(folder));
  }
  places.root = options.sysroot;
  places.has_root = !options.sysroot.empty();
  return places;
}

// What can be done about dumps that were left alone.
std::string warning_of_dumps(std::uint64_t samples, app::CaptureSpool& capture,
                             const ConvertOptions& options, const std::string& input) {
  std::string text = "user stacks of " + std::to_string(samples) +
                     " samples exist only as register and memory dumps, which are not unwound";
  if (!options.unwind) {
    Result<symbolize::SymbolPlaces> places = places_of(options);
    const capture::SystemTables tables = capture.system().finish();
    if (!places) {
      places = symbolize::SymbolPlaces();
    }
    app::believe_this_machine(
        *places, tables.metadata,
        app::times_of_recording(app::last_time_of(tables), tables.metadata, input));
    const app::FoundImages images = app::count_found_images(tables.modules, *places);
    text += "; --unwind makes callstacks of them, by the binaries, of which " +
            std::to_string(images.found) + " of " + std::to_string(images.all) + " are here";
  }
  return text;
}

// What callstacks and scratch may take without --memory-limit.
std::uint64_t default_bound(const ConvertOptions& options) {
  return app::DefaultMemory::of_machine(io::usable_memory(), options.at_a_time);
}

// The capture phase: all samples into `capture`, whose callstacks a thread of its own interns.
// `path`: of the capture.
Result<capture::ByteAccount> read_input(app::CaptureInput& input, const std::string& path,
                                        app::CaptureSpool& capture, const ConvertOptions& options,
                                        ConvertProgress& progress, ConvertReport& report) {
  std::vector<StageWaits>& waits = report.waits;
  std::optional<app::ImageUnwinder> unwinder;
  if (options.unwind) {
    Result<symbolize::SymbolPlaces> places = places_of(options);
    if (!places) {
      return places.error();
    }
    unwinder.emplace(std::move(*places), path);
  }
  app::SinkQueue queue(capture);
  Result<capture::ByteAccount> account = input.read(
      queue, {&progress.bytes_done, &progress.cancelled}, unwinder ? &*unwinder : nullptr);
  const Status spooled = queue.finish();
  if (unwinder) {
    const unwind::WalkCounts counts = unwinder->counts();
    waits.push_back({"unwound", counts.walks});
    waits.push_back({"unwound frames", counts.frames});
    waits.push_back({"unwind rules decoded", counts.decoded});
    waits.push_back({"unwind rules by image", counts.image_hits});
    if (const std::uint64_t samples = unwinder->samples_without_build_id(); samples != 0) {
      report.warnings.push_back(
          std::to_string(samples) +
          " callstacks end in binaries whose build ids the capture does not have; --sysroot / "
          "believes their paths; perf record --buildid-mmap keeps build ids");
    }
  }
  waits.push_back({"parser", queue.waits().owner});
  waits.push_back({"interner", queue.waits().workers});
  if (account && !spooled) {
    return spooled.error();
  }
  return account;
}

// Packs what was read, up to the file that may replace the output. What the report says of it goes
// into `report`.
Status write_file(app::CaptureSpool& capture, io::OutputFile& out, const ConvertOptions& options,
                  const app::SpkAssembler::Source& source, const std::string& input,
                  ConvertProgress& progress, StageClock& clock, ConvertReport& report) {
  const auto stage_done = [&](std::string_view stage) {
    clock.finish_stage(stage);
    progress.stage = stage == "callstacks" ? ConvertStage::kSamples : ConvertStage::kFinishing;
  };
  app::SpkAssembler assembler(capture, {.level = options.level,
                                        .samples = options.samples,
                                        .threads = encoders_of(options),
                                        .stage_done = stage_done,
                                        .written_counter = &progress.samples_written,
                                        .time_resolution_ns = options.time_resolution_ns});
  Result<Statistics> statistics = assembler.write(out, source);
  if (!statistics) {
    return statistics.error();
  }
  report.waits.push_back({"merger", assembler.stalls().caller});
  report.waits.push_back({"encoders", assembler.stalls().encoders});
  report.output_bytes = out.offset();
  report.statistics = std::move(*statistics);
  std::vector<std::string> warnings = warnings_about(report.statistics);
  report.warnings.insert(report.warnings.begin(), std::make_move_iterator(warnings.begin()),
                         std::make_move_iterator(warnings.end()));
  if (const auto branches = count_of(report.statistics, "perf_script_traced_branches")) {
    report.warnings.push_back(
        "this is the text of a hardware trace (Intel PT): " + std::to_string(branches) +
        " samples are branches that were taken, and say nothing of time; `perf inject "
        "--itrace=i1000ig -i perf.data -o OUT` makes callstacks of the trace, and OUT is read");
  }
  if (std::string why = why_no_samples(report.statistics); !why.empty()) {
    report.warnings.push_back(std::move(why));
  }
  if (const std::uint64_t dumps = report.statistics.samples.stack_dump_only; dumps != 0) {
    report.warnings.push_back(warning_of_dumps(dumps, capture, options, input));
  }
  for (const LossCounter& loss : report.statistics.losses) {
    report.lossy |= loss.kind != LossKind::kNotice && loss.count != 0;
  }
  return {};
}

app::CaptureSpool::Options spool_options(const ConvertOptions& options, const std::string& scratch,
                                         ConvertProgress& progress) {
  const bool samples = options.samples;
  return {.scratch_directory = scratch,
          .memory_limit = options.memory_limit,
          .sample_counter = &progress.samples,
          .waits = options.waits && samples,
          .values = options.event_values && samples,
          .fields = options.sample_fields && samples,
          .branch_stacks = options.keep_branches && options.sample_fields && samples,
          .switch_samples = options.switch_samples,
          .default_bound = default_bound(options)};
}

void set_redaction(app::CaptureSpool& capture, bool redact) {
  capture.system().set_redaction(redact);
  if (capture::ValueRecorder* const values = capture.values(); values != nullptr) {
    values->set_redaction(redact);
  }
  if (capture::FieldRecorder* const fields = capture.sample_fields(); fields != nullptr) {
    fields->control_groups().set_redaction(redact);
    fields->labels().set_redaction(redact);
  }
}

// Reads the input as each format that it may be of until one reads it. `capture` is then of that.
Result<capture::ByteAccount> read_as_any(app::CaptureInput& input, const std::string& path,
                                         std::optional<app::CaptureSpool>& capture,
                                         const ConvertOptions& options, const std::string& scratch,
                                         ConvertProgress& progress, ConvertReport& report) {
  while (true) {
    progress.samples = 0;
    progress.bytes_done = 0;
    capture.emplace(spool_options(options, scratch, progress));
    set_redaction(*capture, options.redact);
    Result<capture::ByteAccount> account =
        read_input(input, path, *capture, options, progress, report);
    if (account) {
      return account;
    }
    if (!input.choose_next(account.error())) {
      progress.tried = input.choice().tried();
      return input.choice().error_of_all(account.error());
    }
    report.waits.clear();
    report.warnings.clear();
  }
}

// What the summary says of an input that has been read.
Result<app::SpkAssembler::Source> source_of(app::CaptureInput& input, app::CaptureSpool& capture,
                                            const app::ContentWatch& watch,
                                            const capture::ByteAccount& account,
                                            const ConvertOptions& options) {
  const Result<std::string> passed = input.content();
  if (!passed) {
    return passed.error();
  }
  const Result<std::string> content = watch.content(*passed);
  if (!content) {
    return content.error();
  }
  const Result<std::optional<capture::SourceIdentity>> identity = input.identity();
  if (!identity) {
    return identity.error();
  }
  const bool forgot = capture.system().forgotten_facts() != 0 ||
                      (capture.keeps_branch_stacks() && capture.branch_stacks()->left_out() != 0);
  return app::SpkAssembler::Source{input.kind(), account.total,
                                   app::fingerprint_of(*content, options, forgot), account,
                                   content->empty() ? std::nullopt : *identity};
}

Result<ConvertReport> convert_inputs(const std::vector<std::string>& inputs, bool session,
                                     const std::string& output, const ConvertOptions& options,
                                     ConvertProgress& progress) {
  const io::FilesRead files_read;
  ConvertReport report;
  StageClock clock(report.stages);
  Result<io::OutputRules> rules = rules_for(inputs, options);
  if (!rules) {
    return rules.error();
  }
  // Before hours of reading; OutputFile looks again.
  if (const Status allowed = io::check_output(output, *rules); !allowed) {
    return allowed.error();
  }
  const Result<app::ContentWatch> watch = app::ContentWatch::begin(inputs);
  if (!watch) {
    return watch.error();
  }
  const std::string scratch = scratch_directory_for(output);
  progress.tried.clear();
  Result<app::CaptureInput> opened = open_input(inputs, session, options, scratch, progress.tried);
  if (!opened) {
    return opened.error();
  }
  progress.bytes_total = opened->size().value_or(0);
  std::optional<app::CaptureSpool> spool;
  const Result<capture::ByteAccount> account =
      read_as_any(*opened, inputs.front(), spool, options, scratch, progress, report);
  if (!account) {
    return account.error();
  }
  app::CaptureSpool& capture = *spool;
  clock.finish_stage("read");
  progress.stage = ConvertStage::kCallstacks;

  const auto source = source_of(*opened, capture, *watch, *account, options);
  if (!source) {
    return source.error();
  }
  // Only now: an input of which nothing can be read leaves no trace.
  Result<std::unique_ptr<io::OutputFile>> out = io::OutputFile::create(output, *rules);
  if (!out) {
    return out.error();
  }
  const Status written =
      write_file(capture, **out, options, *source, inputs.front(), progress, clock, report);
  if (!written) {
    return written.error();
  }
  report.input_bytes = account->total;
  // The last that can fail: an error must find the old output untouched.
  report.stages.reserve(report.stages.size() + 1);
  if (const Status wanted = app::wait_for_last_word(progress); !wanted) {
    return wanted.error();
  }
  if (const Status committed = (*out)->commit(); !committed) {
    return committed.error();
  }
  clock.finish_stage("finish");
  return report;
}

}  // namespace

Result<ConvertReport> convert(const std::string& input, const std::string& output,
                              const ConvertOptions& options, ConvertProgress* progress) {
  ConvertProgress unwatched;
  return core::guarded([&] {
    return convert_inputs({input}, false, output, options, progress ? *progress : unwatched);
  });
}

Result<ConvertReport> convert_session(const std::vector<std::string>& inputs,
                                      const std::string& output, const ConvertOptions& options,
                                      ConvertProgress* progress) {
  ConvertProgress unwatched;
  return core::guarded([&] {
    return convert_inputs(inputs, true, output, options, progress ? *progress : unwatched);
  });
}

}  // namespace stackpack
