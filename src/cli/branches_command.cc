#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/branches/branch_report.h"
#include "app/listing/branch_listing.h"
#include "app/listing/function_titles.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/name_column.h"
#include "cli/next_commands.h"
#include "cli/shown_capture.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

using app::BranchPlace;
using app::BranchReport;
using app::ReportedBranch;
using app::ReportedLoop;

// Places as `function+0xoffset`, `module+0xoffset` or `0xaddress`.
std::vector<std::string> place_texts(const std::vector<const BranchPlace*>& places,
                                     app::FunctionNames names) {
  std::vector<app::FunctionTitle> titles;
  titles.reserve(places.size());
  for (const BranchPlace* const place : places) {
    titles.push_back(
        {names == app::FunctionNames::kLinkage ? place->linkage : place->function, "", ""});
  }
  std::vector<std::string> texts = app::function_titles(titles, names);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const BranchPlace& place = *places[i];
    std::string text;
    if (!place.function.empty()) {
      append_escaped(text, texts[i]);
      texts[i] = fmt::format("{}+0x{:x}", text, place.function_offset);
    } else if (!place.image.empty()) {
      append_escaped(text, place.image.substr(place.image.rfind('/') + 1));
      texts[i] = fmt::format("{}+0x{:x}", text, place.offset);
    } else {
      texts[i] = fmt::format("0x{:x}", place.offset);
    }
  }
  return texts;
}

std::string source_text(const BranchPlace& place) {
  std::string text;
  append_escaped(text, place.file);
  text += place.line == 0 ? "" : fmt::format(":{}", place.line);
  return text.empty() ? text : "  " + text;
}

void append_branch_rows(std::string& out, const BranchReport& report, app::FunctionNames names) {
  std::vector<const BranchPlace*> places;
  for (const ReportedBranch& row : report.branches) {
    places.push_back(&row.from);
    places.push_back(&row.to);
  }
  const std::vector<std::string> texts = place_texts(places, names);
  out += fmt::format("\n{:>14}  {:>12}  {:>14}  {:<9}  branch -> target\n", "taken", "mispredicted",
                     "not taken", "type");
  for (std::size_t i = 0; i < report.branches.size(); ++i) {
    const ReportedBranch& row = report.branches[i];
    out += fmt::format("{:>14}  {:>12}  {:>14}  {:<9}  {} -> {}{}\n", grouped(row.taken),
                       human_share(row.mispredicted, row.taken), grouped(row.not_taken),
                       app::branch_type_name(row.type), texts[2 * i], texts[2 * i + 1],
                       source_text(row.from));
  }
}

void append_loop_rows(std::string& out, const BranchReport& report, app::FunctionNames names) {
  if (report.loops.empty()) {
    return;
  }
  std::vector<const BranchPlace*> places;
  for (const ReportedLoop& row : report.loops) {
    places.push_back(&row.head);
    places.push_back(&row.end);
  }
  const std::vector<std::string> texts = place_texts(places, names);
  out += fmt::format("\n{:>14}  {:>12}  {:>14}  loop, to its last branch back\n", "iterations",
                     "entries", "an entry");
  for (std::size_t i = 0; i < report.loops.size(); ++i) {
    const ReportedLoop& row = report.loops[i];
    const std::string trips = row.entries == 0
                                  ? "-"
                                  : fmt::format("{:.1f}", static_cast<double>(row.iterations) /
                                                              static_cast<double>(row.entries));
    out += fmt::format("{:>14}  {:>12}  {:>14}  {} .. {}{}\n", grouped(row.iterations),
                       grouped(row.entries), trips, texts[2 * i], texts[2 * i + 1],
                       source_text(row.head));
  }
}

void append_branch_table(std::string& out, const BranchReport& report, app::FunctionNames names) {
  out += fmt::format("{} branches taken, {} mispredicted ({})", grouped(report.taken),
                     grouped(report.mispredicted), human_share(report.mispredicted, report.taken));
  if (report.wrong_path != 0) {
    out += fmt::format("; {} more on wrong paths, given up", grouped(report.wrong_path));
  }
  out += '\n';
  append_branch_rows(out, report, names);
  append_loop_rows(out, report, names);
}

void append_place_json(JsonText& json, std::string_view key, const BranchPlace& place) {
  json.key(key);
  json.begin_object();
  json.field("image", place.image);
  json.field("offset", fmt::format("0x{:x}", place.offset));
  json.field("function", place.function);
  json.field("linkage", place.linkage);
  json.field("function_offset", place.function_offset);
  json.field("file", place.file);
  json.field("line", place.line);
  json.end_object();
}

void append_branch_json(std::string& out, const BranchReport& report,
                        const BranchesArguments& arguments) {
  JsonText json(out);
  json.begin_object();
  json.field("taken", report.taken);
  json.field("mispredicted", report.mispredicted);
  json.field("wrong_path", report.wrong_path);
  json.key("branches");
  json.begin_array();
  for (const ReportedBranch& row : report.branches) {
    json.begin_object();
    json.field("taken", row.taken);
    json.field("mispredicted", row.mispredicted);
    json.field("taken_to_all_targets", row.all_taken);
    json.field("not_taken", row.not_taken);
    json.field("cycles", row.cycles);
    json.field("type", app::branch_type_name(row.type));
    append_place_json(json, "from", row.from);
    append_place_json(json, "to", row.to);
    json.end_object();
  }
  json.end_array();
  json.key("loops");
  json.begin_array();
  for (const ReportedLoop& row : report.loops) {
    json.begin_object();
    json.field("iterations", row.iterations);
    json.field("entries", row.entries);
    append_place_json(json, "head", row.head);
    append_place_json(json, "last_branch", row.end);
    json.end_object();
  }
  json.end_array();
  json.field("branches_in_all", report.all_branches);
  json.field("loops_in_all", report.all_loops);
  NextCommands next;
  if (arguments.order == app::BranchOrder::kTaken && report.mispredicted != 0) {
    next.add({"branches", arguments.file, "--sort=mispredicted"});
  }
  next.add({"top", arguments.file});
  next.add_longer({"branches", arguments.file}, arguments.rows,
                  std::max(report.all_branches - report.branches.size(),
                           report.all_loops - report.loops.size()));
  next.write(json);
  json.end_object();
  out += '\n';
}

}  // namespace

int run_branches(const BranchesArguments& arguments, const Messages& messages) {
  int exit_code = kExitSuccess;
  const auto opened = open_shown(arguments.file, arguments.capture, messages, exit_code);
  if (!opened) {
    return exit_code;
  }
  const Result<BranchReport> report =
      app::report_branches(opened->reader(), arguments.order, arguments.rows);
  if (!report) {
    messages.error(arguments.file, report.error());
    return exit_code_of(report.error());
  }
  if (report->branches.empty() && report->wrong_path == 0) {
    messages.note(arguments.file, "has no branches; perf record -b records them");
  }
  std::string out;
  if (arguments.json) {
    append_branch_json(out, *report, arguments);
  } else {
    append_branch_table(out, *report, names_or_default(arguments.names));
  }
  return print(out, messages);
}

}  // namespace stackpack::cli
