#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/collect/collect.h"
#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/interruptible.h"
#include "cli/json_text.h"
#include "cli/next_commands.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

using app::CollectedImage;
using app::CollectReport;

std::string_view content_of(const CollectedImage& image) {
  return image.has_tables && image.has_symbols ? "tables, symbols"
         : image.has_tables                    ? "tables"
         : image.has_symbols                   ? "symbols"
                                               : "-";
}

std::string bundle_json(const CollectArguments& arguments, const CollectReport& report) {
  std::string text;
  JsonText json(text);
  json.begin_object();
  json.field("output", arguments.output);
  json.field("output_bytes", report.bundle_bytes);
  json.field("file_bytes", report.file_bytes);
  json.field("collected", report.collected);
  json.field("missing", report.missing);
  json.field("without_build_id", report.without_build_id);
  json.field("not_elf", report.not_elf);
  json.key("images");
  json.begin_array();
  for (const CollectedImage& image : report.images) {
    json.begin_object();
    json.field("path", image.path);
    json.field("build_id", image.build_id);
    json.field("found", image.found);
    json.field("debug_file", image.debug_file);
    json.field("kit_bytes", image.bundle_bytes);
    json.field("file_bytes", image.file_bytes);
    json.field("tables", image.has_tables);
    json.field("symbols", image.has_symbols);
    json.field("reason", image.reason);
    json.end_object();
  }
  json.end_array();
  NextCommands next;
  next.add({"top", arguments.inputs.front(), "--symbols=" + arguments.output});
  if (report.missing != 0) {
    next.add({"dump", arguments.inputs.front(), "--modules"});
  }
  next.write(json);
  json.end_object();
  text += '\n';
  return text;
}

std::string bundle_table(const CollectReport& report) {
  std::string text = fmt::format("{:>10}  {:>10}  {:<15}  {}\n", "file", "bundled", "has", "image");
  for (const CollectedImage& image : report.images) {
    text += fmt::format("{:>10}  {:>10}  {:<15}  ", human_bytes(image.file_bytes),
                        human_bytes(image.bundle_bytes), content_of(image));
    append_escaped(text, image.path);
    text += image.reason.empty() ? "" : ": " + image.reason;
    text += '\n';
  }
  text += fmt::format(
      "{:>10}  {:>10}  {:<15}  {} collected, {} missing, {} without a build id, {} not ELF\n",
      human_bytes(report.file_bytes), human_bytes(report.bundle_bytes), "",
      grouped(report.collected), grouped(report.missing), grouped(report.without_build_id),
      grouped(report.not_elf));
  return text;
}

// Names the file that an error is about. Result: the exit code.
int explain_collect(Error error, const CollectArguments& arguments, const Messages& messages) {
  const std::size_t part = error.part;
  const std::string& about = part < arguments.inputs.size() ? arguments.inputs[part]
                             : part == kOutputPart          ? arguments.output
                                                            : arguments.inputs.front();
  error.part = kMainPart;
  messages.error(about, error);
  return exit_code_of(error);
}

}  // namespace

bool bundles_are_good(const std::vector<std::string>& places, const Messages& messages,
                      int& exit_code) {
  const std::optional<app::BadBundle> bad = app::find_bad_bundle(places);
  if (bad) {
    messages.error(bad->path, bad->error);
    exit_code = exit_code_of(bad->error);
  }
  return !bad;
}

int run_collect(const CollectArguments& arguments, const Messages& messages) {
  const CheckSubject subject{"collect", "missing==0"};
  const auto checks = parse_checks(subject, arguments.checks, messages);
  if (!checks) {
    return kExitUsage;
  }
  int exit_code = kExitSuccess;
  if (!bundles_are_good(arguments.options.places.directories, messages, exit_code)) {
    return exit_code;
  }
  const bool to_standard_output = arguments.output == "-";
  if (!may_write_to(arguments.output, arguments.json, "collect", messages)) {
    return kExitUsage;
  }
  ConvertProgress progress;
  const Result<CollectReport> report = run_interruptible(progress, [&] {
    return app::collect_bundle(arguments.inputs, arguments.output, arguments.options, &progress);
  });
  if (!report) {
    end_if_interrupted("collect", messages);
    return explain_collect(report.error(), arguments, messages);
  }
  if (report->collected == 0) {
    messages.warning(arguments.output, "has nothing: none of the images was found");
  }
  const std::string json = bundle_json(arguments, *report);
  const int checked = apply_checks(subject, *checks, json, arguments.output, messages);
  if (arguments.quiet || to_standard_output) {
    return checked;
  }
  return std::max(checked, print(arguments.json ? json : bundle_table(*report), messages));
}

}  // namespace stackpack::cli
