#include "cli/trend_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/name_column.h"
#include "cli/next_commands.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

constexpr double kPercent = 100;

std::size_t commits_with_several_runs(const app::TrendReport& report) {
  return static_cast<std::size_t>(
      std::count_if(report.commits.begin(), report.commits.end(),
                    [](const app::TrendCommit& commit) { return commit.runs > 1; }));
}

std::string commit_text(const app::TrendReport& report, std::size_t index) {
  constexpr std::size_t kShown = 12;
  return report.commits[index].id.substr(0, kShown);
}

// From the first commit to the last one.
std::string whole_trend_sentence(const app::TrendReport& report) {
  if (report.unit != DiffUnit::kRun) {
    return {};
  }
  const std::vector<app::TrendValue>& values = report.series.front().values;
  const double first = values.front().median;
  const double last = values.back().median;
  return fmt::format("{}: {} at first, {} now{}.", trend_measure_text(report),
                     trend_value_text(first, report), trend_value_text(last, report),
                     first > 0 ? fmt::format(", {:+.1f} %", (last / first - 1) * kPercent) : "");
}

std::string changes_sentence(const app::TrendReport& report) {
  constexpr std::size_t kLeastCommits = 4;
  if (report.commits.size() < kLeastCommits) {
    return "Fewer than four commits show no change of level.";
  }
  std::string text;
  if (report.unit == DiffUnit::kRun) {
    const std::size_t changes = report.series.front().changes.size();
    text = changes == 0 ? "No change of the whole is seen."
                        : fmt::format("The whole changed at {}.", counted(changes, "commit"));
  }
  if (report.tests != 0) {
    const auto changed = std::count_if(report.series.begin(), report.series.end(),
                                       [](const app::TrendSeries& series) {
                                         return !series.name.empty() && !series.changes.empty();
                                       });
    text += fmt::format("{}{} of {} changed.", text.empty() ? "" : " ", changed,
                        counted(report.tests, "row"));
  }
  return text;
}

void write_series(JsonText& json, const app::TrendReport& report, const app::TrendSeries& series) {
  json.begin_object();
  json.field("name", series.name);
  json.field("module", series.module);
  json.field("p", series.p);
  const auto values = [&](std::string_view name, double app::TrendValue::*value) {
    json.key(name);
    json.begin_array();
    for (const app::TrendValue& each : series.values) {
      json.value(each.*value);
    }
    json.end_array();
  };
  values("median", &app::TrendValue::median);
  values("least", &app::TrendValue::least);
  values("most", &app::TrendValue::most);
  json.key("changes");
  json.begin_array();
  for (const app::TrendChange& change : series.changes) {
    json.begin_object();
    json.field("commit", report.commits[change.point.index].id);
    json.field("index", change.point.index);
    json.field("before", change.point.before);
    json.field("after", change.point.after);
    json.field("p", change.point.p);
    json.key("doubts");
    json.begin_array();
    for (const std::string& doubt : change.doubts) {
      json.value(doubt);
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

// The lines of a table, and how many changes there are beyond `rows`.
struct ChangeLine {
  std::array<std::string, 4> cells;
  std::size_t series = 0;
};

std::vector<ChangeLine> change_lines(const app::TrendReport& report) {
  std::vector<ChangeLine> lines;
  for (std::size_t i = 0; i < report.series.size(); ++i) {
    for (const app::TrendChange& change : report.series[i].changes) {
      lines.push_back({{trend_value_text(change.point.before, report),
                        trend_value_text(change.point.after, report),
                        trend_change_text(change.point) + (change.doubts.empty() ? "" : "?"),
                        commit_text(report, change.point.index)},
                       i});
    }
  }
  return lines;
}

// Why the runs on both sides of a change cannot be compared.
void append_doubts(std::string& out, const app::TrendReport& report) {
  if (report.unit != DiffUnit::kRun) {
    return;
  }
  for (const app::TrendChange& change : report.series.front().changes) {
    for (const std::string& doubt : change.doubts) {
      out += fmt::format("The runs before and after {} cannot be compared: ",
                         commit_text(report, change.point.index));
      append_escaped(out, doubt);
      out += ".\n";
    }
  }
}

}  // namespace

std::string trend_measure_text(const app::TrendReport& report) {
  if (report.unit != DiffUnit::kRun) {
    return "share of the samples";
  }
  const std::string what = report.measure != "ns"      ? report.measure
                           : report.event == "blocked" ? "blocked time"
                                                       : "cpu time";
  return what + " a run";
}

std::string trend_value_text(double value, const app::TrendReport& report) {
  return report.unit == DiffUnit::kRun ? cost_text(value, report.measure)
                                       : fmt::format("{:.2f}%", value * kPercent);
}

std::string trend_change_text(const diff::ChangePoint& change) {
  return change.before > 0 ? fmt::format("{:+.1f} %", (change.after / change.before - 1) * kPercent)
                           : "new";
}

std::vector<std::string> trend_sentences(const app::TrendReport& report) {
  std::vector<std::string> sentences;
  std::size_t runs = 0;
  for (const app::TrendCommit& commit : report.commits) {
    runs += commit.runs;
  }
  std::string name;
  append_escaped(name, report.event);
  sentences.push_back(fmt::format("{}: {} of {}.", name, counted(runs, "run"),
                                  counted(report.commits.size(), "commit")));
  if (const std::string whole = whole_trend_sentence(report); !whole.empty()) {
    sentences.push_back(whole);
  }
  sentences.push_back(changes_sentence(report));
  if (2 * commits_with_several_runs(report) < report.commits.size()) {
    sentences.emplace_back("Most commits have one run: five show smaller changes.");
  }
  if (report.runs_left_out != 0) {
    sentences.push_back(fmt::format("Left out, without selected samples: {}, and all of {}.",
                                    counted(report.runs_left_out, "run"),
                                    counted(report.left_out.size(), "commit")));
  }
  if (report.too_small != 0) {
    sentences.push_back(
        fmt::format("{} never had 0.1 % of the whole and 5 samples a run, and {} left out.",
                    counted(report.too_small, "row"), report.too_small == 1 ? "is" : "are"));
  }
  return sentences;
}

std::vector<std::string> trend_titles(const app::TrendReport& report, app::FunctionNames names,
                                      std::size_t width) {
  std::vector<std::array<std::string, 2>> escaped(report.series.size());
  std::vector<app::FunctionTitle> titles;
  for (std::size_t i = 0; i < report.series.size(); ++i) {
    auto& [name, module] = escaped[i];
    append_escaped(name, report.series[i].name);
    append_escaped(module, report.series[i].module);
    titles.push_back({name.empty() ? std::string_view("(everything)") : name,
                      module == name ? std::string_view() : module,
                      {}});
  }
  return app::function_titles(titles, names, width);
}

void append_trend_table(std::string& out, const app::TrendReport& report, std::size_t rows,
                        app::FunctionNames names) {
  for (const std::string& sentence : trend_sentences(report)) {
    out += sentence + '\n';
  }
  append_doubts(out, report);
  std::vector<ChangeLine> lines = change_lines(report);
  if (lines.empty()) {
    return;
  }
  const std::size_t count = lines.size();
  lines.resize(rows == 0 ? count : std::min(rows, count));
  constexpr std::array<std::string_view, 4> kTrendHeads = {"before", "after", "change", "at"};
  std::array<std::size_t, kTrendHeads.size()> widths{};
  std::size_t taken = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    widths[i] = kTrendHeads[i].size();
    for (const ChangeLine& line : lines) {
      widths[i] = std::max(widths[i], line.cells[i].size());
    }
    taken += widths[i] + 2;
  }
  constexpr std::size_t kLeastName = 16;
  const auto columns = output_columns();
  const std::size_t width =
      columns ? std::max(*columns, taken + kLeastName) - taken : app::kAnyWidth;
  const std::vector<std::string> titles = trend_titles(report, names, width);
  const auto append = [&](const auto& cells, std::string_view name) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      out += i + 1 == widths.size() ? fmt::format("{:<{}}  ", cells[i], widths[i])
                                    : fmt::format("{:>{}}  ", cells[i], widths[i]);
    }
    out += fmt::format("{}\n", name);
  };
  append(kTrendHeads, "name");
  for (const ChangeLine& line : lines) {
    append(line.cells, titles[line.series]);
  }
  if (lines.size() < count) {
    out += fmt::format("... {} more\n", grouped(count - lines.size()));
  }
}

void append_trend_json(std::string& out, const app::TrendReport& report,
                       const TrendArguments& arguments) {
  const std::size_t rows = arguments.rows.value_or(0);
  JsonText json(out);
  json.begin_object();
  json.field("event", report.event);
  json.field("unit", report.unit == DiffUnit::kRun ? "run" : "share");
  json.field("measure", report.measure);
  json.key("commits");
  json.begin_array();
  for (const app::TrendCommit& commit : report.commits) {
    json.begin_object();
    json.field("commit", commit.id);
    json.field("runs", commit.runs);
    json.end_object();
  }
  json.end_array();
  json.key("commits_left_out");
  json.begin_array();
  for (const std::string& commit : report.left_out) {
    json.value(commit);
  }
  json.end_array();
  json.field("runs_left_out", report.runs_left_out);
  json.field("tests", report.tests);
  json.field("too_small", report.too_small);
  json.field("level", report.level);
  json.key("series");
  json.begin_array();
  const std::size_t wholes = report.unit == DiffUnit::kRun ? 1 : 0;
  const std::size_t shown =
      rows == 0 ? report.series.size() : std::min(rows + wholes, report.series.size());
  for (std::size_t i = 0; i < shown; ++i) {
    write_series(json, report, report.series[i]);
  }
  json.end_array();
  json.field("series_left_out", report.series.size() - shown);
  // The files of a commit are in the list of baselines, and what changed is in their comparison.
  NextCommands next;
  next.add({"baseline", "show", arguments.folder});
  if (report.series.size() > wholes) {
    next.add({"trend", arguments.folder, "--by=module"});
  }
  next.add_longer({"trend", arguments.folder}, rows, report.series.size() - shown);
  next.write(json);
  json.end_object();
  out += '\n';
}

}  // namespace stackpack::cli
