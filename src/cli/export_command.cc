#include <cerrno>
#include <string>
#include <string_view>

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

constexpr std::string_view kOneFile =
    "several files go into a page: --format html; 'stackpack merge' makes one file of them";

int explain(const Error& error, const std::string& file, const ExportArguments& arguments,
            const Messages& messages) {
  if (arguments.output == "-" && error.code == ErrorCode::kIo && error.os_error == EPIPE) {
    return kExitSuccess;
  }
  messages.error(error.part != kOutputPart ? file
                 : arguments.output == "-" ? "(standard output)"
                                           : arguments.output,
                 error);
  return exit_code_of(error);
}

void summarize(const ExportReport& report, const ExportArguments& arguments,
               const Messages& messages) {
  if (!arguments.quiet && app::is_terminal(app::Stream::kStandardError)) {
    messages.plain(fmt::format("{}: {} samples, {} callstacks, {}", arguments.output,
                               grouped(report.samples), grouped(report.stacks),
                               human_bytes(report.output_bytes)));
  }
}

// Each is opened first, so that a file that is not packed is explained like a single one.
int export_several(const ExportArguments& arguments, const Messages& messages) {
  if (arguments.options.format != ExportFormat::kHtml) {
    messages.error("export", kOneFile);
    return kExitUsage;
  }
  int exit_code = kExitSuccess;
  for (const std::string& file : arguments.files) {
    if (!open_or_explain(file, messages, exit_code)) {
      return exit_code;
    }
  }
  app::remove_leftovers({&arguments.output, 1});
  const Result<ExportReport> report =
      export_page(arguments.files, arguments.output, arguments.options);
  if (!report) {
    Error error = report.error();
    const bool of_file = error.part < arguments.files.size();
    const std::string file = of_file ? arguments.files[error.part] : std::string();
    error.part = of_file ? kMainPart : error.part;
    return explain(error, file, arguments, messages);
  }
  summarize(*report, arguments, messages);
  return kExitSuccess;
}

}  // namespace

int run_export(const ExportArguments& arguments, const Messages& messages) {
  if (arguments.output == "-" && is_binary(arguments.options.format) &&
      app::is_terminal(app::Stream::kStandardOutput)) {
    messages.error("export", kTerminalText);
    return kExitUsage;
  }
  if (arguments.files.size() > 1) {
    return export_several(arguments, messages);
  }
  int exit_code = kExitSuccess;
  const std::string& file = arguments.files.front();
  const std::unique_ptr<Reader> reader = open_or_explain(file, messages, exit_code);
  if (!reader) {
    return exit_code;
  }
  ExportOptions options = arguments.options;
  options.source_path = file;
  app::remove_leftovers({&arguments.output, 1});
  const Result<ExportReport> report = export_capture(*reader, arguments.output, options);
  if (!report) {
    return explain(report.error(), file, arguments, messages);
  }
  if (!arguments.quiet) {
    note_event_choice(file, report->event, report->other_events, "--event NAME, --all-events",
                      messages);
    note_idle(file, report->idle, messages);
  }
  summarize(*report, arguments, messages);
  return kExitSuccess;
}

}  // namespace stackpack::cli
