#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/analysis/image_packages.h"
#include "app/console.h"
#include "app/symbolize/name_outlook.h"
#include "app/symbolize/symbolize.h"
#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/fitted_table.h"
#include "cli/human_text.h"
#include "cli/interruptible.h"
#include "cli/json_text.h"
#include "cli/next_commands.h"
#include "cli/shown_capture.h"
#include "cli/text_escape.h"
#include "core/sort_rows.h"
#include "stackpack/reader.h"

namespace stackpack::cli {

namespace {

using app::ImageReport;
using app::SymbolizeReport;

constexpr std::size_t kRows = 20;  // images in the table for a person

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

void append_json(std::string& out, const SymbolizeArguments& arguments,
                 const SymbolizeReport& report) {
  JsonText json(out);
  const auto part = [&](std::string_view name, std::uint64_t count) {
    json.key(name);
    json.begin_object();
    json.field("addresses", count);
    json.field("share", share_of(count, report.asked));
    json.end_object();
  };
  json.begin_object();
  json.field("file", arguments.file);
  json.field("output", arguments.output);
  json.field("output_bytes", report.output_bytes);
  json.field("asked", report.asked);
  part("named", report.named);
  part("lines", report.lines);
  json.field("failed_images", report.failed_images);
  json.field("refused_kit_entries", report.refused_kit_entries);
  json.key("images");
  json.begin_array();
  for (const ImageReport& image : report.images) {
    json.begin_object();
    json.field("path", image.path);
    json.field("build_id", image.build_id);
    json.field("found", image.found);
    json.field("debug_file", image.debug_file);
    json.field("asked", image.asked);
    json.field("named", image.named);
    json.field("lines", image.lines);
    json.field("damaged_parts", image.damaged_parts);
    json.field("missing_files", image.missing_files);
    json.field("reason", image.reason);
    json.end_object();
  }
  json.end_array();
  next_of_file(arguments.output.empty() ? arguments.file : arguments.output).write(json);
  json.end_object();
  out += '\n';
}

constexpr std::string_view kNoFileOf = "[no file] of ";

// Code that processes made at run time, as one row.
std::vector<ImageReport> rows_for_people(const SymbolizeReport& report) {
  std::vector<ImageReport> rows;
  ImageReport made;
  std::size_t processes = 0;
  for (const ImageReport& image : report.images) {
    if (!image.path.starts_with(kNoFileOf)) {
      rows.push_back(image);
      continue;
    }
    ++processes;
    made.asked += image.asked;
    made.named += image.named;
    made.lines += image.lines;
    made.path = image.path;
    made.reason = made.reason.empty() || image.named == 0 ? image.reason : made.reason;
  }
  if (processes > 1) {
    made.path = fmt::format("{}{} processes", kNoFileOf, processes);
  }
  if (processes != 0) {
    rows.push_back(std::move(made));
  }
  core::sort_rows(rows,
                  [](const ImageReport& a, const ImageReport& b) { return a.asked > b.asked; });
  return rows;
}

// What to install for the image with most addresses that have no name, where that would help.
std::string advice_for(const std::vector<ImageReport>& rows) {
  const ImageReport* worst = nullptr;
  for (const ImageReport& row : rows) {
    const bool stripped = !row.found.empty() && row.debug_file.empty() && !row.build_id.empty();
    if (stripped && (worst == nullptr || row.asked - row.named > worst->asked - worst->named)) {
      worst = &row;
    }
  }
  if (worst == nullptr || worst->named * 2 >= worst->asked) {
    return {};
  }
  const std::string name = worst->path.substr(worst->path.rfind('/') + 1);
  std::string text = "for more names of ";
  append_escaped(text, name);
  if (name.starts_with("libc.so") || name.starts_with("libc-2")) {
    return text + ": install libc6-dbg (Debian, Ubuntu) or glibc-debuginfo\n";
  }
  Module image;
  image.path = worst->path;
  const app::ImagePackages packages(std::span(&image, 1));
  const std::string_view package = packages.of(image);
  if (!package.empty() && package.find(' ') == std::string_view::npos) {
    return text + fmt::format(": install {}-dbgsym\n", package);
  }
  return text + ": install the package with its debug information (NAME-dbgsym, NAME-debuginfo)\n";
}

// `samples`: the share of those in named functions, where it is known.
void append_table(std::string& out, const SymbolizeReport& report, std::optional<double> samples) {
  if (samples) {
    out += fmt::format("{:.1f}% of the samples are in functions with a name\n", 100 * *samples);
  }
  out += fmt::format("{:>10}  {:>10}  {:>7}  {:>10}  {}\n", "addresses", "named", "share", "lines",
                     "image");
  const auto row = [&out](std::uint64_t asked, std::uint64_t named, std::uint64_t lines,
                          std::string_view name, std::string_view reason) {
    out += fmt::format("{:>10}  {:>10}  {:>6.1f}%  {:>10}  ", grouped(asked), grouped(named),
                       100 * share_of(named, asked), grouped(lines));
    append_escaped(out, name);
    if (!reason.empty()) {
      out += ": ";
      out += reason;
    }
    out += '\n';
  };
  const std::vector<ImageReport> rows = rows_for_people(report);
  const std::size_t shown = std::min(rows.size(), kRows);
  for (std::size_t i = 0; i < shown; ++i) {
    row(rows[i].asked, rows[i].named, rows[i].lines, rows[i].path, rows[i].reason);
  }
  if (shown < rows.size()) {
    out += fmt::format("... {} more images\n", grouped(rows.size() - shown));
  }
  row(report.asked, report.named, report.lines, "all", "");
  out += advice_for(rows);
  if (report.refused_kit_entries != 0) {
    out += fmt::format("refused entries of bundles (damaged, or of another build): {}\n",
                       grouped(report.refused_kit_entries));
  }
}

// Of the file that was made.
std::optional<double> named_samples_of(const std::string& output) {
  const Result<std::unique_ptr<Reader>> reader = Reader::open(output);
  return reader ? app::share_of_named_samples(**reader) : std::nullopt;
}

// How far it is, on a line of the terminal that is written over.
class ImageProgress {
 public:
  explicit ImageProgress(bool wanted)
      : shown_(wanted && app::terminal_moves_cursor(app::Stream::kStandardError)) {}

  void tick(const ConvertProgress& progress) {
    const std::uint64_t done = progress.bytes_done;
    if (shown_ && progress.bytes_total != 0 && done != last_) {
      last_ = done;
      app::write_standard_error(
          fmt::format("\r\033[K{} of {} images", done, progress.bytes_total.load()));
    }
  }
  void clear() const {
    if (last_ != kNone) {
      app::write_standard_error("\r\033[K");
    }
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  bool shown_;
  std::uint64_t last_ = kNone;
};

// Names the file that an error is about. Result: the exit code.
int explain(Error error, const SymbolizeArguments& arguments, const Messages& messages) {
  const std::string& about = error.part == kOutputPart          ? arguments.output
                             : error.part == app::kKallsymsPart ? arguments.options.kallsyms
                                                                : arguments.file;
  error.part = kMainPart;
  if (&about == &arguments.file) {
    explain_not_packed(arguments.file, error, messages);
  } else {
    messages.error(about, error);
  }
  return exit_code_of(error);
}

}  // namespace

int run_symbolize(const SymbolizeArguments& arguments, const Messages& messages) {
  const CheckSubject subject{"symbolize", "named.share>=0.9"};
  const auto checks = parse_checks(subject, arguments.checks, messages);
  if (!checks) {
    return kExitUsage;
  }
  int exit_code = kExitSuccess;
  if (!bundles_are_good(arguments.options.places.directories, messages, exit_code)) {
    return exit_code;
  }
  const bool to_standard_output = arguments.output == "-";
  if (!may_write_to(arguments.output, arguments.json, "symbolize", messages)) {
    return kExitUsage;
  }
  ConvertProgress progress;
  ImageProgress shown(!arguments.quiet);
  const Result<SymbolizeReport> report = run_interruptible(
      progress,
      [&] {
        return app::symbolize_file(arguments.file, arguments.output, arguments.options, &progress);
      },
      [&] { shown.tick(progress); });
  shown.clear();
  if (!report) {
    end_if_interrupted(arguments.file, messages);
    return explain(report.error(), arguments, messages);
  }
  if (arguments.options.debuginfod && !arguments.quiet) {
    note_fetched(arguments.file, report->fetch, messages);
  }
  std::string json;
  append_json(json, arguments, *report);
  const int checked = apply_checks(subject, *checks, json, arguments.file, messages);
  std::string table;
  if (arguments.quiet || to_standard_output) {
    return checked;
  }
  if (!arguments.json) {
    append_table(table, *report, named_samples_of(arguments.output));
  }
  constexpr std::size_t kIndent = 24;
  return std::max(
      checked,
      print(arguments.json ? json : wrapped_for_terminal(std::move(table), kIndent), messages));
}

}  // namespace stackpack::cli
