#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/branches/branch_export.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/next_commands.h"
#include "cli/shown_capture.h"

namespace stackpack::cli {

namespace {

app::BranchExportOptions options_of(const ExportArguments& arguments) {
  const BranchExportArguments& branches = arguments.branches;
  app::BranchExportOptions options;
  options.profile = *branches.profile;
  options.rules = app::default_rules(*branches.profile);
  options.rules.head_duplicates = branches.head_duplicates.value_or(options.rules.head_duplicates);
  options.rules.wrong_path = branches.wrong_path.value_or(options.rules.wrong_path);
  options.filter = arguments.options.filter;
  options.image = branches.image;
  options.force = arguments.options.force;
  options.source_path = arguments.files.front();
  return options;
}

// One line about an image, on standard error: what it has, and what became of it.
std::string line_about(const app::ProfiledImage& report) {
  std::string text = report.samples != 0
                         ? fmt::format("{}: {} samples", report.path, grouped(report.samples))
                         : fmt::format("{}: {} branches, {} bytes of code", report.path,
                                       grouped(report.taken), grouped(report.covered_bytes));
  for (const auto& [count, where] : {std::pair(report.unplaced, "outside of its segments"),
                                     std::pair(report.outside, "in no function of the file"),
                                     std::pair(report.unnamed,
                                               "functions without a name of "
                                               "their own")}) {
    if (count != 0) {
      text += fmt::format(", {} {} left out", grouped(count), where);
    }
  }
  return text + (report.output.empty() ? "; not written: " + report.why : ": " + report.output);
}

std::string images_json(const std::vector<app::ProfiledImage>& images,
                        const ExportArguments& arguments) {
  std::string text;
  JsonText json(text);
  json.begin_object();
  json.field("output", arguments.output.empty() ? arguments.branches.directory : arguments.output);
  json.field("format", app::branch_profile_name(*arguments.branches.profile));
  json.key("images");
  json.begin_array();
  for (const app::ProfiledImage& image : images) {
    json.begin_object();
    json.field("image", image.path);
    json.field("output", image.output);
    json.field("branches", image.taken);
    json.field("covered_bytes", image.covered_bytes);
    json.field("branches_outside", image.unplaced);
    json.field("reason", image.why);
    json.end_object();
  }
  json.end_array();
  NextCommands next;
  next.add({"branches", arguments.files.front()});
  next.write(json);
  json.end_object();
  return text + '\n';
}

int explain_branches(Error error, const ExportArguments& arguments, const Messages& messages) {
  const BranchExportArguments& branches = arguments.branches;
  const std::string& file = error.part == app::kBinaryPart ? branches.binary
                            : error.part != kOutputPart    ? arguments.files.front()
                            : branches.binary.empty()      ? branches.directory
                                                           : arguments.output;
  error.part = kMainPart;
  messages.error(file, error);
  return exit_code_of(error);
}

int export_one(const Reader& reader, const ExportArguments& arguments,
               const app::BranchExportOptions& options, const Messages& messages) {
  const Result<app::ProfiledImage> image =
      app::export_branches(reader, arguments.branches.binary, arguments.output, options);
  if (!image) {
    return explain_branches(image.error(), arguments, messages);
  }
  if (arguments.json) {
    return print(images_json({*image}, arguments), messages);
  }
  if (!arguments.quiet) {
    messages.plain(line_about(*image));
  }
  return kExitSuccess;
}

int export_all(const Reader& reader, const ExportArguments& arguments,
               const app::BranchExportOptions& options, const Messages& messages) {
  symbolize::SymbolPlaces places = arguments.capture.naming.places;
  if (const Status opened = symbolize::open_bundles(places); !opened) {
    return explain_branches(opened.error(), arguments, messages);
  }
  const Result<std::vector<app::ProfiledImage>> images =
      app::export_all_branches(reader, arguments.branches.directory, places, options);
  if (!images) {
    return explain_branches(images.error(), arguments, messages);
  }
  const auto written = std::count_if(images->begin(), images->end(),
                                     [](const auto& image) { return !image.output.empty(); });
  if (arguments.json) {
    return print(images_json(*images, arguments), messages);
  }
  if (!arguments.quiet) {
    for (const app::ProfiledImage& image : *images) {
      messages.plain(line_about(image));
    }
    messages.plain(fmt::format("{} of {} images written", written, images->size()));
  }
  return kExitSuccess;
}

}  // namespace

int run_branch_export(const ExportArguments& asked, const Messages& messages) {
  if (asked.files.size() > 1) {
    messages.error("export",
                   "a profile of branches is of one file; 'stackpack merge' makes one of "
                   "several");
    return kExitUsage;
  }
  ExportArguments arguments = asked;
  if (arguments.json && arguments.output == "-") {
    messages.error("export", "--json and -o - both write to standard output; give -o FILE");
    return kExitUsage;
  }
  arguments.capture.symbolize = false;  // a profile has addresses alone
  arguments.capture.unwind = false;
  int exit_code = kExitSuccess;
  const auto opened = open_shown(arguments.files.front(), arguments.capture, messages, exit_code);
  if (!opened) {
    return exit_code;
  }
  const app::BranchExportOptions options = options_of(arguments);
  return arguments.branches.binary.empty()
             ? export_all(opened->reader(), arguments, options, messages)
             : export_one(opened->reader(), arguments, options, messages);
}

}  // namespace stackpack::cli
