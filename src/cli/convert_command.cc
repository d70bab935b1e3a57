#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/batch/batch.h"
#include "app/batch/batch_plan.h"
#include "app/command_inputs.h"
#include "app/console.h"
#include "cli/batch_progress.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/next_commands.h"
#include "stackpack/convert.h"

namespace stackpack::cli {

namespace {

constexpr std::chrono::milliseconds kLook{100};
constexpr std::chrono::seconds kPatience{2};

// The captures to convert; nothing (and an exit code) when the request makes no sense.
std::optional<app::BatchPlan> make_plan(const ConvertArguments& arguments, const Messages& messages,
                                        int& exit_code) {
  if (arguments.out_dir.empty()) {
    app::BatchPlan plan;
    app::BatchJob job{arguments.inputs.front(), arguments.options.member, arguments.output};
    job.session = arguments.session ? arguments.inputs : std::vector<std::string>{};
    plan.jobs.push_back(std::move(job));
    return plan;
  }
  app::BatchRequest request;
  request.inputs = arguments.inputs;
  request.out_dir = arguments.out_dir;
  request.recursive = arguments.recursive;
  request.naming = arguments.keep_paths ? app::OutputNaming::kPath : app::OutputNaming::kBase;
  if (!arguments.files_from.empty()) {
    const Result<std::vector<std::string>> listed = app::read_file_list(arguments.files_from);
    if (!listed) {
      messages.error(arguments.files_from, listed.error());
      exit_code = exit_code_of(listed.error());
      return std::nullopt;
    }
    request.inputs.insert(request.inputs.end(), listed->begin(), listed->end());
  }
  app::BatchPlan plan = app::plan_batch(request);
  for (const std::string& problem : plan.problems) {
    messages.error("convert", problem);
  }
  if (!plan.problems.empty()) {
    exit_code = kExitUsage;
    return std::nullopt;
  }
  if (const Status made = app::create_output_directories(arguments.out_dir, plan); !made) {
    messages.error(arguments.out_dir, made.error());
    exit_code = exit_code_of(made.error());
    return std::nullopt;
  }
  if (!arguments.quiet) {
    for (const std::string& note : plan.notes) {
      messages.note("", note);
    }
  }
  if (arguments.verbose) {
    for (const std::string& other : plan.others) {
      messages.note(other, "not a capture");
    }
  }
  return plan;
}

// Runs a batch and reports each job as it ends.
class ConvertRun {
 public:
  ConvertRun(const ConvertArguments& arguments, const Messages& messages, app::BatchPlan plan)
      : arguments_(arguments),
        messages_(messages),
        reports_results_(!arguments.quiet && (!arguments.out_dir.empty() || on_terminal())),
        batch_(std::move(plan.jobs), options_of(arguments)),
        told_(batch_.jobs().size()),
        progress_(batch_, shows_progress(arguments)) {}

  int run() {
    app::catch_interrupts();
    remove_leftovers();
    if (const Status started = batch_.start(); !started) {
      messages_.error("", started.error());
      return exit_code_of(started.error());
    }
    while (!batch_.done()) {
      for (const std::size_t job : batch_.wait(kLook)) {
        progress_.count(job);
        progress_.clear();
        told_[job] = true;
        exit_code_ = std::max(exit_code_, tell(job));
      }
      if (app::interrupted_by() != 0) {
        end_soon();
      }
      progress_.draw();
    }
    progress_.clear();
    if (app::interrupted_by() != 0) {
      report_interrupted();
      return kExitInternal;  // the caller ends by the signal instead
    }
    if (batch_.jobs().size() > 1 && !arguments_.quiet) {
      messages_.plain(summary());
    }
    return arguments_.json ? std::max(exit_code_, print_report()) : exit_code_;
  }

 private:
  static bool on_terminal() { return app::is_terminal(app::Stream::kStandardError); }

  static bool shows_progress(const ConvertArguments& arguments) {
    switch (arguments.progress) {
      case ProgressMode::kAlways:
        return true;
      case ProgressMode::kNever:
        return false;
      case ProgressMode::kAuto:
        break;
    }
    return app::terminal_moves_cursor(app::Stream::kStandardError) && !arguments.quiet;
  }

  static app::BatchOptions options_of(const ConvertArguments& arguments) {
    app::BatchOptions options;
    options.convert = arguments.options;
    options.workers =
        arguments.jobs != 0 ? arguments.jobs : std::max(1U, std::thread::hardware_concurrency());
    options.skip_existing = arguments.skip_existing;
    if (arguments.options.unwind) {
      options.convert.binary_folders = arguments.naming.places.directories;
      options.convert.sysroot = arguments.naming.places.root;
    }
    options.rebase = arguments.rebase;
    if (arguments.symbolize) {
      options.symbolize = arguments.naming;
    }
    return options;
  }

  void remove_leftovers() const {
    std::vector<std::string> outputs;
    std::vector<std::string> inputs = arguments_.naming.places.directories;  // bundles among them
    inputs.push_back(arguments_.naming.kallsyms);
    for (const app::BatchJob& job : batch_.jobs()) {
      outputs.push_back(job.output);
      inputs.push_back(job.input);
      inputs.insert(inputs.end(), job.session.begin(), job.session.end());
    }
    app::FilesRead::note_inputs(inputs);  // one of them may have the name of a leftover
    app::remove_leftovers(outputs);
  }

  // Lets the workers end in order. One that waits for a pipe on which nothing comes cannot: what it
  // has is in nameless files, and goes with the process.
  void end_soon() {
    const auto now = std::chrono::steady_clock::now();
    if (!interrupted_at_) {
      interrupted_at_ = now;
      batch_.cancel();
    } else if (now - *interrupted_at_ > kPatience) {
      progress_.clear();
      report_interrupted();
      app::end_by_signal(app::interrupted_by());
    }
  }

  // What is done and what is not, also of jobs that have not come to an end yet.
  void report_interrupted() const {
    if (batch_.jobs().size() == 1 && converted_ + skipped_ + failed_ == 0) {
      messages_.error(input_name(batch_.jobs().front()), "interrupted; nothing was written");
    } else {
      messages_.plain("interrupted: " + summary());
    }
    if (arguments_.json) {
      print_report();
    }
  }

  // Of a job under way nobody but its worker may look at the result.
  [[nodiscard]] app::BatchResult result_of(std::size_t job) const {
    app::BatchResult result;
    if (told_[job]) {
      return batch_.result(job);
    }
    for (const app::BatchRunning& running : batch_.running()) {
      if (running.job == job) {
        result.outcome = app::BatchOutcome::kFailed;
        result.error = Error{ErrorCode::kCancelled, kNoOffset, "interrupted"};
        result.seconds = running.seconds;
      }
    }
    return result;
  }

  // The exit code for this job alone.
  int tell(std::size_t job) {
    const app::BatchResult& result = batch_.result(job);
    switch (result.outcome) {
      case app::BatchOutcome::kWaiting:
        return kExitSuccess;
      case app::BatchOutcome::kSkipped:
        ++skipped_;
        if (reports_results_) {
          messages_.plain(conversion_line(batch_.jobs()[job], result));
        }
        return kExitSuccess;
      case app::BatchOutcome::kConverted:
        ++converted_;
        return report_converted(job);
      case app::BatchOutcome::kFailed:
        return report_failed(job, input_name(batch_.jobs()[job]));
    }
    return kExitInternal;
  }

  // The output is in its place. Where nothing is to be said, nothing may fail for lack of memory.
  int report_converted(std::size_t job) {
    const app::BatchResult& result = batch_.result(job);
    const bool warns = !arguments_.quiet && !result.report.warnings.empty();
    const std::string name =
        warns || arguments_.timings ? input_name(batch_.jobs()[job]) : std::string();
    if (!arguments_.quiet) {
      for (const std::string& warning : result.report.warnings) {
        messages_.warning(name, warning);
      }
    }
    if (reports_results_) {
      messages_.plain(conversion_line(batch_.jobs()[job], result));
    }
    if (reports_results_ && arguments_.out_dir.empty() && on_terminal() &&
        batch_.jobs()[job].output != "-") {
      tell_first_look(batch_.jobs()[job].input, batch_.jobs()[job].output, arguments_.symbolize,
                      messages_);
    }
    if (arguments_.timings) {
      for (const StageTime& stage : result.report.stages) {
        messages_.note(name, fmt::format("{}: {:.3f} s", stage.name, stage.seconds));
      }
      note_counters(name, result.report);
    }
    return arguments_.strict && result.report.lossy ? kExitLossy : kExitSuccess;
  }

  void note_counters(const std::string& name, const ConvertReport& report) {
    const auto& builder = report.statistics.builder;
    messages_.note(name, fmt::format("{} bytes in, {} bytes out, {} segments", report.input_bytes,
                                     report.output_bytes, builder.segments));
    messages_.note(
        name, fmt::format("{} lookups, {} probes, {} of {} frames saved by prefixes",
                          builder.lookups, builder.probes, builder.prefix_frames, builder.frames));
    std::string waits;
    for (const StageWaits& part : report.waits) {
      waits += fmt::format("{}{} {}", waits.empty() ? "" : ", ", part.name, part.count);
    }
    messages_.note(name, "waits: " + waits);
  }

  int report_failed(std::size_t job, const std::string& name) {
    Error error = batch_.result(job).error;
    if (error.code == ErrorCode::kCancelled) {
      ++cancelled_;
      return kExitSuccess;
    }
    const std::string& output = batch_.jobs()[job].output;
    if (output == "-" && error.code == ErrorCode::kIo && error.os_error == EPIPE) {
      return kExitSuccess;  // who read our output has enough
    }
    ++failed_;
    std::string about = name;
    if (error.part == kOutputPart) {
      about = output == "-" ? "(standard output)" : output;
    } else if (error.part < batch_.jobs()[job].session.size()) {
      about = batch_.jobs()[job].session[error.part];
      error.part = kMainPart;
    }
    const bool out_of_memory = error.code == ErrorCode::kResource && error.os_error == 0;
    messages_.error(about, message(error) +
                               (out_of_memory ? "; --memory-limit bounds what packing takes" : ""));
    if (batch_.jobs().size() == 1) {
      messages_.tried(about, batch_.result(job).tried);
    }
    if (error.code == ErrorCode::kUsage && error.part != kOutputPart) {
      list_members(batch_.jobs()[job].input);
    }
    return exit_code_of(error);
  }

  // Which member of an archive is meant was not clear: these are there.
  void list_members(const std::string& input) {
    constexpr std::size_t kMostNames = 20;
    const Result<std::vector<std::string>> members = captures_in_archive(input);
    if (!members) {
      return;
    }
    for (std::size_t i = 0; i < std::min(members->size(), kMostNames); ++i) {
      messages_.note(input, "holds " + (*members)[i]);
    }
    if (members->size() > kMostNames) {
      messages_.note(input, fmt::format("and {} more", members->size() - kMostNames));
    }
  }

  [[nodiscard]] std::string summary() const {
    std::string text = fmt::format("{} converted", converted_);
    const auto add = [&text](std::size_t count, std::string_view what) {
      if (count != 0) {
        text += fmt::format(", {} {}", count, what);
      }
    };
    add(skipped_, "up to date");
    add(failed_, "failed");
    std::size_t not_begun = 0;
    std::size_t interrupted = cancelled_;
    for (std::size_t job = 0; job < batch_.jobs().size(); ++job) {
      const bool running = !told_[job] && result_of(job).outcome != app::BatchOutcome::kWaiting;
      interrupted += running ? 1U : 0U;
      not_begun += !told_[job] && !running ? 1U : 0U;
    }
    add(interrupted, "interrupted");
    add(not_begun, "not begun");
    return text;
  }

  int print_report() const {
    std::string text;
    if (arguments_.out_dir.empty()) {
      JsonText json(text);
      write_conversion(json, batch_.jobs().front(), result_of(0));
      text += '\n';
    } else {
      JsonLines lines(text);
      for (std::size_t job = 0; job < batch_.jobs().size(); ++job) {
        JsonText json = lines.element();
        write_conversion(json, batch_.jobs()[job], result_of(job));
      }
      lines.end();
    }
    return print(text, messages_);
  }

  const ConvertArguments& arguments_;
  const Messages& messages_;
  const bool reports_results_;
  app::Batch batch_;
  std::vector<bool> told_;  // by job: its result was handed over
  BatchProgress progress_;
  std::optional<std::chrono::steady_clock::time_point> interrupted_at_;
  int exit_code_ = kExitSuccess;
  std::size_t converted_ = 0;
  std::size_t skipped_ = 0;
  std::size_t failed_ = 0;
  std::size_t cancelled_ = 0;
};

}  // namespace

int run_convert(const ConvertArguments& arguments, const Messages& messages) {
  if (arguments.output == "-" && app::is_terminal(app::Stream::kStandardOutput)) {
    messages.error("convert", kTerminalText);
    return kExitUsage;
  }
  int exit_code = kExitSuccess;
  if ((arguments.options.unwind || arguments.symbolize) &&
      !bundles_are_good(arguments.naming.places.directories, messages, exit_code)) {
    return exit_code;
  }
  std::optional<app::BatchPlan> plan = make_plan(arguments, messages, exit_code);
  if (!plan) {
    return exit_code;
  }
  {
    ConvertRun run(arguments, messages, std::move(*plan));
    exit_code = run.run();
  }
  if (app::interrupted_by() != 0) {
    app::end_by_signal(app::interrupted_by());
  }
  return exit_code;
}

}  // namespace stackpack::cli
