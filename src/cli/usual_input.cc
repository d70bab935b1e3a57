#include "cli/usual_input.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "app/console.h"
#include "app/convert/capture_probe.h"
#include "bytes/quoted.h"
#include "stackpack/export.h"

namespace stackpack::cli {

namespace {

bool is_there(const std::string& path) {
  std::error_code failed;
  return std::filesystem::exists(app::path_of(path), failed);
}

// A program is often called as one of its functions is: being there is not enough.
bool is_input(const std::string& path) {
  const Result<bool> capture = app::looks_like_capture(path);
  return (capture && *capture) || app::looks_like_packed(path);
}

std::string missing_file(std::string_view command, std::string_view usage) {
  return fmt::format(
      "{}: no FILE given, and there is no {} in this folder; stackpack {} {}, see stackpack {} "
      "--help",
      command, kUsualInput, command, usage, command);
}

// Commands of a function have its name last: `callers [FILE] FUNCTION`.
std::string take_function(std::string_view command, std::vector<std::string>& files,
                          std::string& function) {
  constexpr std::string_view kUsage = "FILE FUNCTION";
  if (!function.empty()) {
    return "";
  }
  const bool usual = is_there(kUsualInput);
  if (files.empty()) {
    return usual ? fmt::format("{}: no FUNCTION given; stackpack top lists those of {}", command,
                               kUsualInput)
                 : missing_file(command, kUsage);
  }
  const std::string& word = files.front();
  if (usual && !is_input(word)) {
    function = word;
    files = {kUsualInput};
    return "";
  }
  return usual || is_there(word)
             ? fmt::format("{}: no FUNCTION given besides the file {}; stackpack top lists them",
                           command, bytes::quoted(word))
             : fmt::format(
                   "{}: {} is no file, and as a function it needs one: there is no {} in "
                   "this folder; stackpack {} {}",
                   command, bytes::quoted(word), kUsualInput, command, kUsage);
}

// `FORMAT` of `x.FORMAT`, as viewers want their files called; empty: the name does not say.
std::string_view format_of_name(std::string_view path) {
  struct Ending {
    std::string_view end;
    std::string_view format;
  };
  constexpr Ending kEndings[] = {
      {".html", "html"},
      {".folded", "folded"},
      {".collapsed", "folded"},
      {".pb.gz", "pprof"},
      {".pprof", "pprof"},
      {".speedscope.json", "speedscope"},
      {".speedscope", "speedscope"},
      {".otlp", "otlp"},
      {".cpuprofile", "cpuprofile"},
      {".pftrace", "perfetto"},
      {".perfetto-trace", "perfetto"},
  };
  for (const Ending& ending : kEndings) {
    if (path.ends_with(ending.end)) {
      return ending.format;
    }
  }
  return {};
}

std::string take_files(std::string_view command, std::vector<std::string>& files) {
  if (files.empty() && is_there(kUsualInput)) {
    files = {kUsualInput};
  }
  return files.empty() ? missing_file(command, "FILE") : "";
}

std::string take_report(ReportArguments& report) {
  if (report.kind != ReportKind::kTop) {
    return take_function(report.kind == ReportKind::kCallers ? "callers" : "callees", report.files,
                         report.function);
  }
  if (report.of_lines) {
    return take_function("annotate", report.files, report.annotate);
  }
  if (!report.files_from.empty()) {
    return "";  // lists may be empty, and folders: `top` says so
  }
  return take_files("top", report.files);
}

void take_format(ExportArguments& arguments) {
  if (arguments.has_format) {
    return;
  }
  if (const auto format = export_format_of(format_of_name(arguments.output))) {
    arguments.options.format = *format;
    arguments.has_format = true;
  }
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
      return invocation.waits.file.empty() ? missing_file("waits", "FILE") : "";
    case Command::kView:
      return take_files("view", invocation.view.files);
    case Command::kExport:
      take_format(invocation.exporting);
      return "";
    case Command::kDiff:
      take_two_sides(invocation.diff);
      return "";
    default:
      return "";
  }
}

}  // namespace stackpack::cli
