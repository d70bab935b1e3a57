#include <cerrno>

#include <fmt/format.h>

#include "app/console.h"
#include "cli/commands.h"
#include "cli/event_note.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "stackpack/export.h"

namespace stackpack::cli {

namespace {

bool is_binary(ExportFormat format) {
  return format == ExportFormat::kPprof || format == ExportFormat::kFirefox ||
         format == ExportFormat::kOtlp;
}

}  // namespace

int run_export(const ExportArguments& arguments, const Messages& messages) {
  if (arguments.output == "-" && is_binary(arguments.options.format) &&
      app::is_terminal(app::Stream::kStandardOutput)) {
    messages.error("export", kTerminalText);
    return kExitUsage;
  }
  int exit_code = kExitSuccess;
  const std::unique_ptr<Reader> reader = open_or_explain(arguments.file, messages, exit_code);
  if (!reader) {
    return exit_code;
  }
  ExportOptions options = arguments.options;
  options.source_path = arguments.file;
  app::remove_leftovers({&arguments.output, 1});
  const Result<ExportReport> report = export_capture(*reader, arguments.output, options);
  if (!report) {
    const Error& error = report.error();
    if (arguments.output == "-" && error.code == ErrorCode::kIo && error.os_error == EPIPE) {
      return kExitSuccess;
    }
    messages.error(error.part != kOutputPart ? arguments.file
                   : arguments.output == "-" ? "(standard output)"
                                             : arguments.output,
                   error);
    return exit_code_of(error);
  }
  if (!arguments.quiet) {
    note_event_choice(arguments.file, report->event, report->other_events,
                      "--event NAME, --all-events", messages);
  }
  if (!arguments.quiet && app::is_terminal(app::Stream::kStandardError)) {
    messages.plain(fmt::format("{}: {} samples, {} callstacks, {}", arguments.output,
                               grouped(report->samples), grouped(report->stacks),
                               human_bytes(report->output_bytes)));
  }
  return kExitSuccess;
}

}  // namespace stackpack::cli
