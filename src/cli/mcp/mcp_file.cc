#include "cli/mcp/mcp_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_line.h"

namespace stackpack::cli {

namespace {

constexpr std::string_view kCallsKey = "calls";
constexpr std::string_view kByModule = "--by=module";
constexpr std::string_view kByProcess = "--by=process";
constexpr std::string_view kByLine = "--by=line";

// As the tools say them: tool_table.cc.
std::vector<std::string> words_by(std::string_view word) {
  return {"top", "--json", "--function-names=short", std::string(word)};
}

bool says_naming(std::string_view word) {
  return word == kNoSymbols || word.starts_with(kKallsyms) || word.starts_with(kPerfMap);
}

// The order of words says nothing.
std::string key_of(std::span<const std::string> words) {
  std::vector<std::string_view> said;
  for (const std::string& word : words) {
    if (!says_naming(word)) {
      said.push_back(word);
    }
  }
  std::sort(said.begin(), said.end());
  return fmt::format("{}", fmt::join(said, "\n"));
}

// Whether words are the tool's own, and nothing of the client's but the order, or one of `others`.
bool are_plain(std::span<const std::string> words, std::string_view others) {
  constexpr std::array<std::string_view, 8> kPlainWords = {
      "top",    "callers", "callees",      "--json", "--function-names=short",
      "--self", "--total", "--by=function"};
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(kPlainWords.begin(), kPlainWords.end(), word) != kPlainWords.end() ||
           says_naming(word) ||
           (!others.empty() && (word == "--by=line" || word.starts_with(others)));
  });
}

// Rows of `top`, `callers` and `callees`.
Status count_spots(const Reader& reader, const ReportArguments& arguments, app::HotSpots& rows,
                   ReportCenter& center) {
  if (arguments.kind == ReportKind::kTop) {
    Result<app::HotSpots> spots = app::hot_spots(reader, arguments.query);
    if (!spots) {
      return spots.error();
    }
    rows = std::move(*spots);
  } else {
    auto around =
        app::neighbours(reader, arguments.query, arguments.function,
                        arguments.kind == ReportKind::kCallers ? app::NeighbourSide::kCallers
                                                               : app::NeighbourSide::kCallees);
    if (!around) {
      return around.error();
    }
    rows = std::move(around->around);
    center = {around->center, around->matches, around->occurring};
  }
  if (const Status kept = app::keep_functions(rows.rows, arguments.only); !kept) {
    return kept.error();
  }
  app::sort_hot_spots(rows.rows, arguments.by_self);
  return {};
}

}  // namespace

std::size_t McpReport::rows() const {
  return spots.rows.size() + center.occurring.size() + (tree ? tree->rows.size() : 0) +
         (waits ? waits->threads.size() : 0);
}

McpFile::McpFile(std::string asked, std::string path, FileVersion version,
                 app::PackedCapture capture, core::TaskLine& line)
    : asked_(std::move(asked)),
      path_(std::move(path)),
      version_(version),
      capture_(std::move(capture)),
      line_(line) {}

// Tasks that nobody has begun end at once, those that run as soon as they look.
McpFile::~McpFile() {
  stopped_.store(true, std::memory_order_relaxed);
  for (Early& early : early_) {
    if (early.in_line) {
      static_cast<void>(line_.collect(early, core::TaskLine::IfNotBegun::kRunHere));
    }
  }
}

Status McpFile::run_early(core::TaskLine::Task& task) {
  return static_cast<Early&>(task).work();
}

void McpFile::add_early(const std::vector<std::string>& words) {
  std::vector<std::string> command = words;
  command.emplace_back("--");
  command.push_back(path_);
  CommandLine line;
  if (line.parse(command).kind != Parsed::Kind::kRun) {
    return;
  }
  Early& early = early_.emplace_back();
  early.key = key_of(words);
  early.report = std::make_shared<McpReport>();
  early.work = [this, arguments = line.invocation().report, report = early.report.get()] {
    return count_now(arguments, *report);
  };
}

void McpFile::begin_early() {
  if (!early_.empty()) {
    return;
  }
  // What a summary has, which most begin with, comes first.
  add_early(words_by(kByModule));
  add_early(words_by(kByProcess));
  Early& calls = early_.emplace_back();
  calls.key = kCallsKey;
  calls.work = [this] { return count_calls(); };
  for (const std::string_view word :
       {std::string_view("--tree"), std::string_view("--by=callstack"), kByLine,
        std::string_view("--by=thread")}) {
    add_early(words_by(word));
  }
  for (Early& early : early_) {
    early.in_line = true;
    line_.submit(early);
  }
}

// What is known under a key, once it is; null: nothing, or it could not be had.
McpFile::Early* McpFile::finished(std::string_view key) {
  const auto early = std::find_if(early_.begin(), early_.end(),
                                  [key](const Early& one) { return one.key == key; });
  if (early == early_.end()) {
    return nullptr;
  }
  if (early->in_line) {
    early->is_good = line_.collect(*early, core::TaskLine::IfNotBegun::kRunHere).has_value();
    early->in_line = false;
    if (early->report && (!early->is_good || early->report->rows() > kMostKeptRows)) {
      early->report.reset();
    }
  }
  return early->is_good ? &*early : nullptr;
}

std::shared_ptr<const McpReport> McpFile::early_report(std::span<const std::string> words) {
  const Early* const early = finished(key_of(words));
  return early == nullptr ? nullptr : early->report;
}

// Of a thread of the line, or of the one who asks: calls_ is looked at when the task is done.
Status McpFile::count_calls() {
  app::HotSpotQuery query;
  query.filters.frames = FrameStyle::kFunction;
  query.stopped = &stopped_;
  auto calls = app::CallSums::count(reader(), query);
  if (!calls) {
    return calls.error();
  }
  calls_ = std::move(*calls);
  return {};
}

const app::CallSums* McpFile::calls() {
  begin_early();
  return finished(kCallsKey) == nullptr ? nullptr : calls_.get();
}

// Whatever is known already is not looked at: this is called on any thread.
Status McpFile::count_now(const ReportArguments& arguments, McpReport& report) const {
  ReportArguments counted = arguments;
  counted.query.stopped = &stopped_;
  if (counted.tree) {
    Result<app::CallTree> tree = app::call_tree(reader(), counted.query, kMostRows);
    if (!tree) {
      return tree.error();
    }
    report.tree = std::move(*tree);
    return {};
  }
  counted.query.most_callstacks = counted.only.empty() ? kMostRows : 0;
  return count_spots(reader(), counted, report.spots, report.center);
}

Status McpFile::count(std::span<const std::string> words, const ReportArguments& arguments,
                      McpReport& report) {
  if (arguments.query.by == app::HotSpotKind::kLine && !arguments.only.empty() &&
      are_plain(words, "--only=")) {
    return count_lines_of(arguments, report);
  }
  const app::CallSums* const sums = are_plain(words, "") ? calls() : nullptr;
  if (sums == nullptr) {
    return count_now(arguments, report);
  }
  if (arguments.kind == ReportKind::kTop) {
    report.spots = sums->hot_spots(arguments.by_self);
    return {};
  }
  auto around = sums->neighbours(arguments.function, arguments.kind == ReportKind::kCallers
                                                         ? app::NeighbourSide::kCallers
                                                         : app::NeighbourSide::kCallees);
  if (!around) {
    return count_now(arguments, report);
  }
  report.spots = std::move(around->around);
  report.center = {around->center, around->matches, {}};
  app::sort_hot_spots(report.spots.rows, arguments.by_self);
  return {};
}

// Lines of one function are those of all of them, as counting has it, without the others.
Status McpFile::count_lines_of(const ReportArguments& arguments, McpReport& report) {
  begin_early();
  const std::shared_ptr<const McpReport> lines = early_report(words_by(kByLine));
  if (lines == nullptr) {
    return count_now(arguments, report);
  }
  report = *lines;
  if (const Status kept = app::keep_functions(report.spots.rows, arguments.only); !kept) {
    return kept;
  }
  app::sort_hot_spots(report.spots.rows, arguments.by_self);
  return {};
}

// Nothing where no sample is selected.
Result<std::optional<app::HotSpots>> McpFile::rows_by(std::string_view word) {
  begin_early();
  const std::vector<std::string> words = words_by(word);
  if (const auto report = early_report(words)) {
    return std::optional(report->spots);
  }
  app::HotSpotQuery query;
  query.by = word == kByModule ? app::HotSpotKind::kModule : app::HotSpotKind::kProcess;
  query.filters.frames = FrameStyle::kFunction;
  Result<app::HotSpots> spots = app::hot_spots(reader(), query);
  if (!spots && spots.error().code != ErrorCode::kUsage) {
    return spots.error();
  }
  if (!spots) {
    return std::optional<app::HotSpots>();
  }
  app::sort_hot_spots(spots->rows, true);
  return std::optional(std::move(*spots));
}

Result<SummaryFigures> McpFile::figures(bool whole) {
  if (!facts_) {
    Result<SummaryFigures> found = summary_figures(reader());
    if (!found) {
      return found.error();
    }
    facts_ = std::move(*found);
  }
  SummaryFigures figures = *facts_;
  if (whole) {
    auto by_module = rows_by(kByModule);
    auto by_process = rows_by(kByProcess);
    if (!by_module || !by_process) {
      return by_module ? by_process.error() : by_module.error();
    }
    figures.by_module = std::move(*by_module);
    figures.by_process = std::move(*by_process);
  }
  return figures;
}

}  // namespace stackpack::cli
