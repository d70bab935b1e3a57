#include "cli/usual_input.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "app/console.h"

namespace stackpack::cli {

namespace {

bool is_there(const std::string& path) {
  std::error_code failed;
  return std::filesystem::exists(app::path_of(path), failed);
}

std::string missing(std::string_view command, std::string_view what) {
  return fmt::format("{}: no {} given; see stackpack {} --help", command, what, command);
}

// Commands of a function have its name last: `callers [FILE] FUNCTION`.
std::string take_function(std::string_view command, std::vector<std::string>& files,
                          std::string& function) {
  if (!function.empty()) {
    return "";
  }
  if (files.empty() || is_there(files.front()) || !is_there(kUsualInput)) {
    return missing(command, files.empty() ? "FILE" : "FUNCTION");
  }
  function = files.front();
  files = {kUsualInput};
  return "";
}

std::string take_report(ReportArguments& report) {
  if (report.kind != ReportKind::kTop) {
    return take_function(report.kind == ReportKind::kCallers ? "callers" : "callees", report.files,
                         report.function);
  }
  if (report.of_lines) {
    return take_function("annotate", report.files, report.annotate);
  }
  if (report.files.empty() && report.files_from.empty() && is_there(kUsualInput)) {
    report.files = {kUsualInput};
  }
  return "";  // folders and lists may be empty: `top` says so
}

void take_two_sides(DiffArguments& diff) {
  const bool listed = !diff.before_list.empty() || !diff.after_list.empty();
  if (listed || !diff.after.empty() || !diff.gate_file.empty()) {
    return;
  }
  if (diff.before.empty() && is_there(kOldInput) && is_there(kUsualInput)) {
    diff.before = {kOldInput, kUsualInput};
  }
  if (diff.before.size() == 2) {
    diff.after = {diff.before.back()};
    diff.before.pop_back();
  }
}

}  // namespace

std::string take_usual_input(Invocation& invocation) {
  switch (invocation.command) {
    case Command::kTop:
    case Command::kCallers:
    case Command::kCallees:
      return take_report(invocation.report);
    case Command::kWaits:
      if (invocation.waits.file.empty() && is_there(kUsualInput)) {
        invocation.waits.file = kUsualInput;
      }
      return invocation.waits.file.empty() ? missing("waits", "FILE") : "";
    case Command::kView:
      if (invocation.view.files.empty() && is_there(kUsualInput)) {
        invocation.view.files = {kUsualInput};
      }
      return invocation.view.files.empty() ? missing("view", "FILE") : "";
    case Command::kDiff:
      take_two_sides(invocation.diff);
      return "";
    default:
      return "";
  }
}

}  // namespace stackpack::cli
