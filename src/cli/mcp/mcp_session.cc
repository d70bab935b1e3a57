#include "cli/mcp/mcp_session.h"

#include <algorithm>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/console.h"
#include "app/diff/gate_comparison.h"
#include "app/listing/capture_notices.h"
#include "app/listing/wait_sums.h"
#include "app/mcp/content_kind.h"
#include "bytes/quoted.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/diff_report.h"
#include "cli/event_command_text.h"
#include "cli/event_note.h"
#include "cli/json_text.h"
#include "cli/mcp/summary_text.h"
#include "cli/shown_capture.h"
#include "cli/suggestion.h"
#include "cli/wait_table.h"

namespace stackpack::cli {

namespace {

constexpr std::size_t kUsualRows = 20;
constexpr std::size_t kUsualCallstacks = 5;
constexpr std::size_t kUsualEventRows = 10;
constexpr std::string_view kRowsOption = "--rows=";
constexpr std::string_view kFramesOption = "--limit=";

McpAnswer failed(std::string text) {
  return {std::move(text), true, false, {}};
}

McpAnswer failed(const std::string& file, const Error& error) {
  return failed(fmt::format("{}: {}", file, message(error)));
}

// A command line of a call. Words without a name come after `--`, so that none is an option.
std::vector<std::string> command_of(const ToolWords& words, std::string_view rows_option,
                                    std::size_t rows) {
  std::vector<std::string> command = words.options;
  command.push_back(fmt::format("{}{}", rows_option, rows));
  command.emplace_back("--");
  command.insert(command.end(), words.others.begin(), words.others.end());
  return command;
}

// Has the program's own parser read a call. What is wrong with it; empty when nothing is.
std::string read_words(CommandLine& line, const ToolWords& words, std::string_view rows_option) {
  const Parsed parsed = line.parse(command_of(words, rows_option, kUsualRows));
  return parsed.kind == Parsed::Kind::kRun ? std::string() : parsed.text;
}

// Fewer rows until the text fits; one row that does not is cut, and the text says so.
struct Fitted {
  std::string text;
  std::size_t rows = 0;
  bool whole = true;  // false: the text was cut
};
template <typename Render>
Fitted fit(std::size_t most_bytes, std::size_t rows, const Render& render) {
  Fitted fitted{render(rows), rows, true};
  while (fitted.text.size() > most_bytes && fitted.rows > 1) {
    const std::size_t fewer = fitted.rows * most_bytes / fitted.text.size() * 9 / 10;
    fitted.rows = std::clamp<std::size_t>(fewer, 1, fitted.rows - 1);
    fitted.text = render(fitted.rows);
  }
  if (fitted.text.size() > most_bytes) {
    std::size_t end = most_bytes;
    while (end != 0 && (static_cast<unsigned char>(fitted.text[end]) & 0xC0U) == 0x80U) {
      --end;  // not inside of a character
    }
    const std::size_t left = fitted.text.size() - end;
    fitted.text.resize(end);
    fitted.whole = false;
    fitted.text += fmt::format(
        "\n... {} bytes left out; stackpack mcp --max-bytes N allows longer answers\n", left);
  }
  return fitted;
}

}  // namespace

// With stand-ins no command prints the same of the file that was asked about.
McpAnswer McpSession::answer_of(std::string text, bool is_object,
                                std::vector<std::string> command) const {
  if (redaction_) {
    command.clear();
  }
  return {std::move(text), false, is_object, std::move(command)};
}

McpAnswer McpSession::call(const Tool& tool, const ToolWords& words) {
  switch (tool.kind) {
    case ToolKind::kOpen:
      return words.files.empty() ? list_files() : summarize(words.files.front(), false);
    case ToolKind::kSummary:
      return summarize(words.files.front(), true);
    case ToolKind::kReport:
      return report(words);
    case ToolKind::kShow:
      return show(words);
    case ToolKind::kDiff:
      return diff(words);
    case ToolKind::kWaits:
      return waits(words);
    case ToolKind::kEvents:
      return event_report(words);
    case ToolKind::kPage:
      return page(words);
  }
  return failed("no such tool");
}

Result<McpSession::File> McpSession::open(const std::string& asked) {
  tried_.clear();
  const Result<std::string> path = folders_.find(asked);
  if (!path) {
    return path.error();
  }
  std::error_code unknown;
  const auto place = app::path_of(*path);
  const FileVersion version{std::filesystem::file_size(place, unknown),
                            std::filesystem::last_write_time(place, unknown)};
  const auto known = std::find_if(files_.begin(), files_.end(),
                                  [&](const File& file) { return file->path() == *path; });
  if (known != files_.end()) {
    File file = *known;
    files_.erase(known);
    if (file->version() == version) {
      files_.push_front(file);
      return file;
    }
    reports_.remove_if([&](const Kept& kept) { return kept.file == file; });
  }
  app::PackingOptions packing = packing_of(arguments_.capture, *path, messages_);
  if (redaction_) {
    packing.last_rework = [this](const std::string& from, const std::string& to) {
      using Notices = std::vector<std::string>;
      const auto redacted = app::redact_file(from, to, *redaction_);
      return redacted ? Result<Notices>(Notices()) : Result<Notices>(redacted.error());
    };
  }
  ConvertProgress conversion;
  Result<app::PackedCapture> opened = app::PackedCapture::open(*path, packing, &conversion);
  if (!opened) {
    tried_ = std::move(conversion.tried);
    return opened.error();
  }
  const File file = std::make_shared<McpFile>(asked, *path, version, std::move(*opened), *line_);
  files_.push_front(file);
  if (files_.size() > kMostFiles) {
    reports_.remove_if([this](const Kept& kept) { return kept.file == files_.back(); });
    files_.pop_back();
  }
  return file;
}

McpAnswer McpSession::list_files() {
  constexpr std::size_t kMostListed = 100;
  const app::OfferedFiles offered = folders_.list(kMostListed);
  const auto render = [&offered](std::size_t rows) {
    std::string text;
    append_offered_files(text, offered, rows);
    return text;
  };
  Fitted fitted =
      fit(arguments_.most_bytes, std::max<std::size_t>(offered.files.size(), 1), render);
  return {std::move(fitted.text), false, fitted.whole, {}};
}

McpAnswer McpSession::summarize(const std::string& asked, bool whole) {
  const Result<File> file = open(asked);
  if (!file) {
    return not_opened(asked, file.error());
  }
  McpFile& open = **file;
  open.begin_early();  // the next questions are about functions
  const Result<SummaryFigures> figures = open.figures(whole);
  if (!figures) {
    return failed(asked, figures.error());
  }
  const auto render = [&](std::size_t rows) {
    std::string text;
    append_summary(text, open.reader(), *figures, {open.asked(), rows, whole});
    return text;
  };
  constexpr std::size_t kMostSummaryRows = 8;
  Fitted fitted = fit(arguments_.most_bytes, kMostSummaryRows, render);
  return {std::move(fitted.text), false, fitted.whole, {}};
}

void McpSession::say_naming(std::span<const File> files, ToolWords& words) const {
  if (std::none_of(files.begin(), files.end(), [](const File& file) { return file->is_made(); })) {
    return;
  }
  const CaptureArguments& capture = arguments_.capture;
  if (!capture.symbolize && !redaction_) {
    words.options.emplace_back(kNoSymbols);
  }
  for (const auto& [option, value] : {std::pair(kKallsyms, &capture.naming.kallsyms),
                                      std::pair(kPerfMap, &capture.naming.map_folder)}) {
    if (!value->empty()) {
      words.options.push_back(std::string(option) + *value);
    }
  }
}

std::optional<McpAnswer> McpSession::read_call(const ToolWords& given, std::string_view rows_option,
                                               Call& call) {
  const Result<File> file = open(given.files.front());
  if (!file) {
    return not_opened(given.files.front(), file.error());
  }
  call.file = *file;
  call.words = given;
  call.words.others.front() = call.file->path();
  say_naming({&call.file, 1}, call.words);
  const std::string problem = read_words(call.line, call.words, rows_option);
  return problem.empty() ? std::nullopt : std::optional(failed(problem));
}

Result<std::shared_ptr<const McpReport>> McpSession::counted(
    const Call& call, const std::function<Status(McpReport&)>& count) {
  if (auto early = call.file->early_report(call.words.options)) {
    return early;
  }
  const std::string key = fmt::format("{}", fmt::join(command_of(call.words, "", 0), "\n"));
  const auto known = std::find_if(reports_.begin(), reports_.end(),
                                  [&](const Kept& kept) { return kept.key == key; });
  if (known != reports_.end()) {
    reports_.splice(reports_.begin(), reports_, known);
    return reports_.front().report;
  }
  auto report = std::make_shared<McpReport>();
  if (const Status done = count(*report); !done) {
    return done.error();
  }
  keep({key, call.file, report});
  return std::shared_ptr<const McpReport>(report);
}

void McpSession::keep(Kept kept) {
  reports_.push_front(std::move(kept));
  std::size_t rows = 0;
  std::size_t count = 0;
  for (const Kept& one : reports_) {
    rows += one.report->rows();
    if (++count > 1 && (count > kMostReports || rows > kMostReportRows)) {
      --count;
      break;
    }
  }
  while (reports_.size() > count) {
    reports_.pop_back();
  }
}

McpAnswer McpSession::report(const ToolWords& given) {
  Call call;
  if (const auto problem = read_call(given, kRowsOption, call)) {
    return *problem;
  }
  const ToolWords& words = call.words;
  const std::string& asked = call.file->asked();
  ReportArguments arguments = call.line.invocation().report;
  arguments.files = {asked};
  call.file->begin_early();
  const auto found = counted(
      call, [&](McpReport& report) { return call.file->count(words.options, arguments, report); });
  if (!found) {
    return failed(asked, found.error());
  }
  const McpReport& report = **found;
  if (!report.center.occurring.empty()) {
    return failed(asked + ": " + no_such_function(arguments.function, report.center.occurring));
  }
  if (!arguments.only.empty() && report.spots.rows.empty()) {
    return failed(
        fmt::format("{}: no sample is in a function {}", asked, bytes::quoted(arguments.only)));
  }
  const bool callstacks = arguments.query.by == app::HotSpotKind::kCallstack;
  const std::size_t usual = callstacks ? kUsualCallstacks : kUsualRows;
  Fitted fitted =
      fit(arguments_.most_bytes, words.rows == 0 ? usual : words.rows, [&](std::size_t rows) {
        ReportArguments shown = arguments;
        shown.rows = rows;
        std::string text;
        if (report.tree) {
          append_tree_json(text, report.tree->first(rows), shown);
        } else {
          append_report_json(text, report.spots, shown, report.center);
        }
        return text;
      });
  return answer_of(std::move(fitted.text), fitted.whole,
                   command_of(words, kRowsOption, fitted.rows));
}

McpAnswer McpSession::show(const ToolWords& given) {
  Call call;
  if (const auto problem = read_call(given, kFramesOption, call)) {
    return *problem;
  }
  const ToolWords& words = call.words;
  const File& file = call.file;
  ShowArguments arguments = call.line.invocation().show;
  const Reader& reader = file->reader();
  if (arguments.ids.front() >= reader.stack_count()) {
    return failed(fmt::format("{}: there are {} callstacks, numbered from 0", file->asked(),
                              reader.stack_count()));
  }
  Status status;
  Fitted fitted = fit(
      arguments_.most_bytes, words.rows == 0 ? kUsualRows : words.rows, [&](std::size_t frames) {
        arguments.limit = frames;
        std::string text;
        status = append_callstacks(reader, arguments, text, [] { return Status(); });
        return text;
      });
  if (!status) {
    return failed(file->asked(), status.error());
  }
  return answer_of(std::move(fitted.text), false, command_of(words, kFramesOption, fitted.rows));
}

// Opens the files of both sides, and puts their paths into the words of the command.
std::optional<McpAnswer> McpSession::open_sides(ToolWords& words, std::vector<File>& files) {
  for (const std::string& asked : words.files) {
    const Result<File> file = open(asked);
    if (!file) {
      return not_opened(asked, file.error());
    }
    files.push_back(*file);
  }
  const std::size_t olds = words.others.size();
  for (std::size_t i = 0; i < std::min(olds, files.size()); ++i) {
    words.others[i] = files[i]->path();
  }
  std::size_t next = olds;
  for (std::string& option : words.options) {
    constexpr std::string_view kAgainst = "--against=";
    if (option.starts_with(kAgainst) && next < files.size()) {
      option = std::string(kAgainst) + files[next++]->path();
    }
  }
  say_naming(files, words);
  return std::nullopt;
}

McpAnswer McpSession::diff(const ToolWords& given) {
  ToolWords words = given;
  std::vector<File> files;
  if (const auto problem = open_sides(words, files)) {
    return *problem;
  }
  const std::size_t olds = words.others.size();
  std::vector<const Reader*> readers;
  readers.reserve(files.size());
  for (const File& file : files) {
    readers.push_back(&file->reader());
  }
  CommandLine line;
  if (const std::string problem = read_words(line, words, kRowsOption); !problem.empty()) {
    return failed(problem);
  }
  if (redaction_ && !redaction_->key) {
    return failed("without --key the stand-ins of two files have nothing to do with each other");
  }
  DiffArguments arguments = line.invocation().diff;
  arguments.before.assign(given.files.begin(),
                          given.files.begin() + static_cast<std::ptrdiff_t>(olds));
  arguments.after.assign(given.files.begin() + static_cast<std::ptrdiff_t>(olds),
                         given.files.end());
  JudgedDiff diff;
  Result<DiffReport> report = app::compare_for_gate(
      std::span(readers).first(olds), std::span(readers).subspan(olds), arguments.options, {});
  if (!report) {
    Error error = report.error();
    const std::string name = error.part < files.size() ? files[error.part]->asked() : "diff";
    error.part = kMainPart;
    return failed(name, error);
  }
  diff.report = std::move(*report);
  for (const File& file : files) {
    const auto notices =
        notices_of(file->asked(), app::cut_notices(file->reader(), arguments.options));
    diff.notices.insert(diff.notices.end(), notices.begin(), notices.end());
  }
  Fitted fitted =
      fit(arguments_.most_bytes, words.rows == 0 ? kUsualRows : words.rows, [&](std::size_t rows) {
        DiffArguments shown = arguments;
        shown.rows = rows;
        std::string text;
        append_diff_json(text, diff, shown);
        return text;
      });
  return answer_of(std::move(fitted.text), fitted.whole,
                   command_of(words, kRowsOption, fitted.rows));
}

McpAnswer McpSession::waits(const ToolWords& given) {
  Call call;
  if (const auto problem = read_call(given, kRowsOption, call)) {
    return *problem;
  }
  WaitsArguments arguments = call.line.invocation().waits;
  arguments.file = call.file->asked();
  const auto found = counted(call, [&](McpReport& report) -> Status {
    Result<app::WaitTable> table = app::sum_waits(call.file->reader(), arguments.filter);
    if (!table) {
      return table.error();
    }
    report.waits = std::move(*table);
    return {};
  });
  if (!found) {
    return failed(call.file->asked(), found.error());
  }
  Fitted fitted = fit(arguments_.most_bytes, call.words.rows == 0 ? kUsualRows : call.words.rows,
                      [&](std::size_t rows) {
                        arguments.rows = rows;
                        std::string text;
                        append_wait_json(text, *(*found)->waits, arguments);
                        return text;
                      });
  return answer_of(std::move(fitted.text), fitted.whole,
                   command_of(call.words, kRowsOption, fitted.rows));
}

McpAnswer McpSession::event_report(const ToolWords& given) {
  Call call;
  if (const auto problem = read_call(given, kFramesOption, call)) {
    return *problem;
  }
  EventReportArguments arguments = call.line.invocation().event_report;
  arguments.file = call.file->asked();
  Status status;
  std::string_view lacking;
  Fitted fitted =
      fit(arguments_.most_bytes, call.words.rows == 0 ? kUsualEventRows : call.words.rows,
          [&](std::size_t rows) {
            arguments.limit = rows;
            Result<EventReportText> report = event_report_text(call.file->reader(), arguments);
            if (!report) {
              status = report.error();
              return std::string();
            }
            lacking = report->lacking;
            return std::move(report->text);
          });
  if (!status) {
    return failed(call.file->asked(), status.error());
  }
  if (!lacking.empty()) {
    fitted.text += fmt::format("{} {}\n", call.file->asked(), lacking);
  }
  return answer_of(std::move(fitted.text), false,
                   command_of(call.words, kFramesOption, fitted.rows));
}

// Of a file that is none of ours: what it is.
McpAnswer McpSession::not_opened(const std::string& asked, const Error& error) const {
  const Result<std::string> path = folders_.find(asked);
  const std::string_view kind = path ? app::content_kind(*path) : std::string_view();
  McpAnswer answer =
      kind.empty() ? failed(asked, error)
                   : failed(fmt::format("{} is {}; `open` lists the files that can be asked about",
                                        asked, kind));
  for (const FormatTried& format : tried_) {
    answer.text += fmt::format("\nnot read as {}: {}", format.format, format.why);
  }
  return answer;
}

McpAnswer McpSession::page(const ToolWords& words) {
  const Result<File> file = open(words.files.front());
  if (!file) {
    return not_opened(words.files.front(), file.error());
  }
  std::string text;
  append_page_link(text, (*file)->path(), words.function);
  return {std::move(text), false, true, {}};
}

}  // namespace stackpack::cli
