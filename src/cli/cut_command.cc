#include <string>

#include <fmt/format.h>

#include "app/cut/cut.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/interruptible.h"
#include "cli/json_text.h"
#include "cli/next_commands.h"

namespace stackpack::cli {

namespace {

int explain(Error error, const CutArguments& arguments, const Messages& messages) {
  const bool of_output = error.part == kOutputPart;
  error.part = kMainPart;
  if (of_output) {
    messages.error(arguments.output, error);
  } else {
    explain_not_packed(arguments.file, error, messages);
  }
  return exit_code_of(error);
}

std::string cut_json(const CutArguments& arguments, const app::CutReport& report) {
  std::string text;
  JsonText json(text);
  json.begin_object();
  json.field("file", arguments.file);
  json.field("output", arguments.output);
  json.field("output_bytes", report.output_bytes);
  json.field("samples", report.statistics.samples.total);
  json.field("samples_before", report.samples_before);
  json.field("callstacks", report.statistics.callstacks.unique);
  next_of_file(arguments.output).write(json);
  json.end_object();
  return text + '\n';
}

}  // namespace

int run_cut(const CutArguments& arguments, const Messages& messages) {
  if (!may_write_to(arguments.output, arguments.json, "cut", messages)) {
    return kExitUsage;
  }
  ConvertProgress progress;
  const Result<app::CutReport> report = run_interruptible(progress, [&] {
    return app::cut_file(arguments.file, arguments.output, arguments.options, progress);
  });
  if (!report) {
    end_if_interrupted(arguments.file, messages);
    return explain(report.error(), arguments, messages);
  }
  if (arguments.json) {
    return print(cut_json(arguments, *report), messages);
  }
  if (!arguments.quiet) {
    messages.plain(fmt::format("{} of {}, {}; {} bytes", grouped(report->statistics.samples.total),
                               counted(report->samples_before, "sample"),
                               counted(report->statistics.callstacks.unique, "callstack"),
                               grouped(report->output_bytes)));
  }
  return kExitSuccess;
}

}  // namespace stackpack::cli
