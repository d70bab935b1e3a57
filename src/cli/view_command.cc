#include <string>

#include <fmt/format.h>

#include "app/console.h"
#include "app/convert/packed_capture.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/messages.h"
#include "stackpack/export.h"

namespace stackpack::cli {

int run_view(const ViewArguments& arguments, const Messages& messages) {
  const Result<app::PackedCapture> opened =
      app::PackedCapture::open(arguments.file, arguments.capture);
  if (!opened) {
    messages.error(arguments.file, opened.error());
    return exit_code_of(opened.error());
  }
  const Result<std::string> path = app::make_private_file(".html");
  if (!path) {
    messages.error("view", path.error());
    return exit_code_of(path.error());
  }
  ExportOptions options = arguments.options;
  options.format = ExportFormat::kHtml;
  options.source_path = arguments.file;
  const Result<ExportReport> report = export_capture(opened->reader(), *path, options);
  if (!report) {
    app::remove_private_file(*path);
    const Error& error = report.error();
    messages.error(error.part == kOutputPart ? *path : arguments.file, error);
    return exit_code_of(error);
  }
  if (!app::open_on_desktop(*path)) {
    return print(*path + "\n", messages);
  }
  if (!arguments.quiet && app::is_terminal(app::Stream::kStandardError)) {
    messages.plain(fmt::format("{}: {} samples, {}", *path, grouped(report->samples),
                               human_bytes(report->output_bytes)));
  }
  return kExitSuccess;
}

}  // namespace stackpack::cli
