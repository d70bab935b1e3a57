#include <cerrno>

#include <fmt/format.h>

#include "app/console.h"
#include "cli/commands.h"
#include "cli/event_note.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "stackpack/export.h"

namespace stackpack::cli {

int run_export(const ExportArguments& arguments, const Messages& messages) {
  int exit_code = kExitSuccess;
  const std::unique_ptr<Reader> reader = open_or_explain(arguments.file, messages, exit_code);
  if (!reader) {
    return exit_code;
  }
  const Result<ExportReport> report = export_capture(*reader, arguments.output, arguments.options);
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
