#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/batch/batch_plan.h"
#include "app/console.h"
#include "app/merge/merge_files.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/interruptible.h"
#include "cli/json_text.h"
#include "cli/messages.h"
#include "cli/next_commands.h"
#include "stackpack/merge.h"

namespace stackpack::cli {

namespace {

// The files to merge; nothing (and an exit code) when they cannot be found.
std::optional<std::vector<std::string>> find_inputs(const MergeArguments& arguments,
                                                    const Messages& messages, int& exit_code) {
  std::vector<std::string> inputs = arguments.inputs;
  if (!arguments.files_from.empty()) {
    const Result<std::vector<std::string>> listed = app::read_file_list(arguments.files_from);
    if (!listed) {
      messages.error(arguments.files_from, listed.error());
      exit_code = exit_code_of(listed.error());
      return std::nullopt;
    }
    inputs.insert(inputs.end(), listed->begin(), listed->end());
  }
  if (arguments.recursive) {
    Result<std::vector<std::string>> found = app::files_to_merge(inputs);
    if (!found) {
      Error error = found.error();
      const std::string& about = inputs[error.part];
      error.part = kMainPart;
      messages.error(about, error);
      exit_code = exit_code_of(error);
      return std::nullopt;
    }
    inputs = std::move(*found);
  }
  if (inputs.empty()) {
    messages.error("merge", "there is nothing to merge");
    exit_code = kExitUsage;
    return std::nullopt;
  }
  return inputs;
}

// How far it is, on a line of the terminal that is written over.
class MergeProgress {
 public:
  explicit MergeProgress(const MergeArguments& arguments)
      : shown_(arguments.progress == ProgressMode::kAlways ||
               (arguments.progress == ProgressMode::kAuto && !arguments.quiet &&
                app::terminal_moves_cursor(app::Stream::kStandardError))) {}

  void tick(const ConvertProgress& progress) {
    if (!shown_) {
      return;
    }
    const bool reading = progress.stage == ConvertStage::kReading;
    const std::string line =
        reading ? fmt::format("{} of {}, {}", progress.bytes_done.load(),
                              counted(progress.bytes_total.load(), "file"),
                              counted(progress.samples, "sample"))
                : fmt::format("writing, {} of {} samples", grouped(progress.samples_written),
                              grouped(progress.samples));
    if (line != last_) {
      last_ = line;
      app::write_standard_error("\r\033[K" + line);
    }
  }
  void clear() const {
    if (!last_.empty()) {
      app::write_standard_error("\r\033[K");
    }
  }

 private:
  bool shown_;
  std::string last_;
};

void append_input(JsonText& json, const MergeInputReport& input) {
  json.begin_object();
  json.field("file", input.file);
  if (input.error) {
    Error error = *input.error;
    error.part = kMainPart;
    json.field("error", message(error));
  } else {
    json.field("sources", input.sources);
    json.field("repeated_sources", input.repeated);
    json.field("callstacks", input.callstacks);
  }
  json.end_object();
}

std::string json_of(const MergeArguments& arguments, const MergeReport& report) {
  std::string out;
  JsonText json(out);
  json.begin_object();
  json.field("output", arguments.output);
  json.field("output_bytes", report.output_bytes);
  json.field("sources", report.sources);
  json.field("bad_inputs", report.bad_inputs);
  json.field("samples", report.statistics.samples.total);
  json.key("callstacks");
  json.begin_object();
  json.field("before", report.callstacks_before);
  json.field("after", report.statistics.callstacks.unique);
  json.end_object();
  json.key("inputs");
  json.begin_array();
  for (const MergeInputReport& input : report.inputs) {
    append_input(json, input);
  }
  json.end_array();
  NextCommands next = next_of_file(arguments.output);
  next.add({"top", arguments.output, "--by=source"});
  next.write(json);
  json.end_object();
  out += '\n';
  return out;
}

void say_what_was_done(const MergeReport& report, const Messages& messages) {
  std::uint64_t repeated = 0;
  for (const MergeInputReport& input : report.inputs) {
    repeated += input.repeated;
  }
  messages.plain(fmt::format("{}, {}, {}: {}, {} before the merge; {} bytes",
                             counted(report.inputs.size() - report.bad_inputs, "file"),
                             counted(report.sources, "source"),
                             counted(report.statistics.samples.total, "sample"),
                             counted(report.statistics.callstacks.unique, "callstack"),
                             grouped(report.callstacks_before), grouped(report.output_bytes)));
  if (repeated != 0) {
    messages.plain(fmt::format("{} came more than once and {} once", counted(repeated, "source"),
                               repeated == 1 ? "counts" : "count"));
  }
}

int report_failure(const std::vector<std::string>& inputs, const MergeArguments& arguments,
                   Error error, const Messages& messages) {
  const std::string about = error.part == kOutputPart    ? arguments.output
                            : error.part < inputs.size() ? inputs[error.part]
                                                         : std::string("merge");
  error.part = kMainPart;
  messages.error(about, error);
  return exit_code_of(error);
}

}  // namespace

int run_merge(const MergeArguments& arguments, const Messages& messages) {
  int exit_code = kExitSuccess;
  const auto inputs = find_inputs(arguments, messages, exit_code);
  if (!inputs) {
    return exit_code;
  }
  if (!may_write_to(arguments.output, arguments.json, "merge", messages)) {
    return kExitUsage;
  }
  ConvertProgress progress;
  MergeProgress shown(arguments);
  const Result<MergeReport> report = run_interruptible(
      progress, [&] { return merge(*inputs, arguments.output, arguments.options, &progress); },
      [&] { shown.tick(progress); });
  shown.clear();
  if (!report) {
    end_if_interrupted("merge", messages);
    return report_failure(*inputs, arguments, report.error(), messages);
  }
  for (const MergeInputReport& input : report->inputs) {
    if (input.error) {
      Error error = *input.error;
      error.part = kMainPart;
      messages.error(input.file, error);
      exit_code = kExitBadInput;
    }
  }
  if (!arguments.quiet) {
    say_what_was_done(*report, messages);
  }
  return arguments.json ? std::max(exit_code, print(json_of(arguments, *report), messages))
                        : exit_code;
}

}  // namespace stackpack::cli
