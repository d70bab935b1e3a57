#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/command_inputs.h"
#include "app/console.h"
#include "app/listing/capture_notices.h"
#include "cli/commands.h"
#include "cli/event_note.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/next_commands.h"
#include "cli/page_tables.h"
#include "cli/shown_capture.h"
#include "core/weight_scale.h"
#include "stackpack/export.h"

namespace stackpack::cli {

namespace {

bool is_binary(ExportFormat format) {
  return format == ExportFormat::kPprof || format == ExportFormat::kFirefox ||
         format == ExportFormat::kOtlp || format == ExportFormat::kPerfetto;
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

// What was written is for other programs; here go on with what it was made of.
NextCommands next_of_export(const ExportArguments& arguments) {
  NextCommands next;
  for (const std::string& file : arguments.files) {
    next.add({"top", file});
  }
  return next;
}

std::string export_json(const ExportReport& report, const ExportArguments& arguments,
                        const std::vector<std::string>& notices) {
  std::string text;
  JsonText json(text);
  json.begin_object();
  json.field("output", arguments.output);
  json.field("format", export_format_names()[static_cast<std::size_t>(arguments.options.format)]);
  json.field("output_bytes", report.output_bytes);
  json.field("samples", report.samples);
  json.field("callstacks", report.stacks);
  const auto [unit, decimals] = core::parse_unit(report.unit);
  json.field("weight", core::ScaledNumber{report.weight, decimals});
  json.field("unit", unit);
  if (!report.event.empty()) {
    json.field("event", report.event);
  }
  write_left_out(json, report.other_events, report.idle);
  write_notices(json, notices);
  next_of_export(arguments).write(json);
  json.end_object();
  return text + '\n';
}

int summarize(const ExportReport& report, const ExportArguments& arguments,
              const std::vector<std::string>& notices, const Messages& messages) {
  if (!arguments.quiet) {
    // No copy: the output is there already, and nothing may fail for want of memory.
    const std::string_view file = arguments.files.size() == 1
                                      ? std::string_view(arguments.files.front())
                                      : std::string_view("export");
    warn_of(file, notices, messages);
  }
  if (arguments.json) {
    return print(export_json(report, arguments, notices), messages);
  }
  if (!arguments.quiet && app::is_terminal(app::Stream::kStandardError)) {
    messages.plain(fmt::format("{}: {} samples, {} callstacks, {}", arguments.output,
                               grouped(report.samples), grouped(report.stacks),
                               human_bytes(report.output_bytes)));
  }
  return kExitSuccess;
}

int export_several(const ExportArguments& arguments, const Messages& messages) {
  if (arguments.options.format != ExportFormat::kHtml) {
    messages.error("export", kOneFile);
    return kExitUsage;
  }
  int exit_code = kExitSuccess;
  const app::FilesRead files_read;  // a capture is none of the files that the page is made of
  ShownProgress progress(!arguments.quiet && arguments.output != "-");
  const auto packed = pack_all(arguments.files, arguments.capture, messages, exit_code, &progress);
  if (packed.empty()) {
    return exit_code;
  }
  std::vector<std::string> paths;
  std::vector<std::string> notices;
  paths.reserve(packed.size());
  for (std::size_t i = 0; i < packed.size(); ++i) {
    paths.push_back(packed[i].path());
    if (const auto reader = Reader::open(packed[i].path())) {
      const auto more =
          notices_of(arguments.files[i], notices_of_shown(packed[i], **reader, arguments.options));
      notices.insert(notices.end(), more.begin(), more.end());
    }
  }
  app::remove_leftovers({&arguments.output, 1});
  progress.begin(kMakingPage);
  const Result<ExportReport> report = export_page(paths, arguments.output, arguments.options);
  progress.clear();
  if (!report) {
    Error error = report.error();
    const bool of_file = error.part < arguments.files.size();
    const std::string file = of_file ? arguments.files[error.part] : std::string();
    error.part = of_file ? kMainPart : error.part;
    return explain(error, file, arguments, messages);
  }
  return summarize(*report, arguments, notices, messages);
}

}  // namespace

int run_export(const ExportArguments& asked, const Messages& messages) {
  if (asked.branches.profile) {
    return run_branch_export(asked, messages);
  }
  ExportArguments arguments = asked;
  if (arguments.json && arguments.output == "-") {
    messages.error("export", "--json and -o - both write to standard output; give -o FILE");
    return kExitUsage;
  }
  arguments.capture.hints = !arguments.quiet;
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
  ShownProgress progress(!arguments.quiet && arguments.output != "-");
  const auto opened = open_shown(file, arguments.capture, messages, exit_code, &progress);
  if (!opened) {
    return exit_code;
  }
  ExportOptions options = arguments.options;
  options.source_path = file;
  app::remove_leftovers({&arguments.output, 1});
  progress.begin(options.format == ExportFormat::kHtml ? kMakingPage : "exporting");
  if (options.format == ExportFormat::kHtml) {
    Result<std::vector<PageTable>> tables = page_tables(
        opened->reader(), file, options, arguments.source_folders, arguments.capture.root());
    if (!tables) {
      return explain(tables.error(), file, arguments, messages);
    }
    options.html.tables = std::move(*tables);
  }
  // Before there is an output: what fails leaves the old one.
  const std::vector<std::string> notices = notices_of_shown(*opened, opened->reader(), options);
  const Result<ExportReport> report = export_capture(opened->reader(), arguments.output, options);
  progress.clear();
  if (!report) {
    return explain(report.error(), file, arguments, messages);
  }
  if (!arguments.quiet) {
    note_event_choice(file, report->event, report->other_events, "--event NAME, --all-events",
                      messages);
    note_idle(file, report->idle, messages);
  }
  return summarize(*report, arguments, notices, messages);
}

}  // namespace stackpack::cli
