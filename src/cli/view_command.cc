#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/console.h"
#include "app/convert/packed_capture.h"
#include "cli/commands.h"
#include "cli/event_note.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/messages.h"
#include "cli/next_commands.h"
#include "cli/page_tables.h"
#include "cli/shown_capture.h"
#include "stackpack/export.h"
#include "stackpack/reader.h"

namespace stackpack::cli {

namespace {

// What became of a page: none when it was explained why there is no file to show.
std::optional<Result<ExportReport>> page_of_one(const ViewArguments& arguments,
                                                const std::string& path, const Messages& messages,
                                                int& exit_code) {
  const std::string& file = arguments.files.front();
  ShownProgress progress(!arguments.quiet);
  ConvertProgress& conversion = progress.begin_conversion();
  const Result<app::PackedCapture> opened = app::PackedCapture::open(
      file, packing_of(arguments.capture, file, messages, &progress), &conversion);
  progress.clear();
  if (!opened) {
    explain_unread(file, opened.error(), conversion, messages);
    exit_code = exit_code_of(opened.error());
    return std::nullopt;
  }
  if (!opened->is_made() && arguments.capture.symbolize && !arguments.quiet) {
    note_missing_names(file, opened->reader(), messages);
  }
  if (!arguments.quiet) {
    warn_of(file, notices_of_shown(*opened, opened->reader(), arguments.options), messages);
  }
  ExportOptions options = arguments.options;
  options.format = ExportFormat::kHtml;
  options.source_path = file;
  progress.begin(kMakingPage);
  Result<std::vector<PageTable>> tables = page_tables(
      opened->reader(), file, options, arguments.source_folders, arguments.capture.root());
  if (!tables) {
    return tables.error();
  }
  options.html.tables = std::move(*tables);
  return export_capture(opened->reader(), path, options);
}

std::optional<Result<ExportReport>> page_of_several(const ViewArguments& arguments,
                                                    const std::string& path,
                                                    const Messages& messages, int& exit_code) {
  ShownProgress progress(!arguments.quiet);
  const auto packed = pack_all(arguments.files, arguments.capture, messages, exit_code, &progress);
  if (packed.empty()) {
    return std::nullopt;
  }
  std::vector<std::string> paths;
  std::vector<std::string> notices;
  paths.reserve(packed.size());
  for (std::size_t i = 0; i < packed.size(); ++i) {
    paths.push_back(packed[i].path());
    if (const auto reader = Reader::open(paths.back())) {
      const auto more =
          notices_of(arguments.files[i], notices_of_shown(packed[i], **reader, arguments.options));
      notices.insert(notices.end(), more.begin(), more.end());
    }
  }
  if (!arguments.quiet) {
    warn_of("view", notices, messages);
  }
  ExportOptions options = arguments.options;
  options.format = ExportFormat::kHtml;
  progress.begin(kMakingPage);
  return export_page(paths, path, options);
}

int explain_view(Error error, const ViewArguments& arguments, const std::string& path,
                 const Messages& messages) {
  const bool of_file = error.part < arguments.files.size() && arguments.files.size() > 1;
  const std::string& about = error.part == kOutputPart ? path
                             : of_file                 ? arguments.files[error.part]
                                                       : arguments.files.front();
  error.part = of_file ? kMainPart : error.part;
  messages.error(about, error);
  return exit_code_of(error);
}

std::string view_json(const ExportReport& report, const ViewArguments& arguments,
                      const std::string& path, bool shown) {
  std::string text;
  JsonText json(text);
  json.begin_object();
  json.field("page", path);
  json.field("shown", shown);
  json.field("page_bytes", report.output_bytes);
  json.field("samples", report.samples);
  NextCommands next;
  for (const std::string& file : arguments.files) {
    next.add({"top", file});
  }
  next.write(json);
  json.end_object();
  return text + '\n';
}

}  // namespace

int run_view(const ViewArguments& arguments, const Messages& messages) {
  const Result<std::string> path = app::make_private_file(".html");
  if (!path) {
    messages.error("view", path.error());
    return exit_code_of(path.error());
  }
  int exit_code = kExitSuccess;
  const auto report = arguments.files.size() > 1
                          ? page_of_several(arguments, *path, messages, exit_code)
                          : page_of_one(arguments, *path, messages, exit_code);
  if (!report || !*report) {
    app::remove_private_file(*path);
    return report ? explain_view(report->error(), arguments, *path, messages) : exit_code;
  }
  const bool shown = app::open_on_desktop(*path);
  if (arguments.json) {
    return print(view_json(**report, arguments, *path, shown), messages);
  }
  if (!shown) {
    if (!arguments.quiet) {
      messages.plain(
          "no browser could be opened from here; open the page that follows in one, or have it "
          "elsewhere by stackpack export FILE -o OUT.html");
    }
    return print(*path + "\n", messages);
  }
  if (!arguments.quiet && app::is_terminal(app::Stream::kStandardError)) {
    messages.plain(fmt::format("{}: {} samples, {}", *path, grouped((*report)->samples),
                               human_bytes((*report)->output_bytes)));
  }
  return kExitSuccess;
}

}  // namespace stackpack::cli
