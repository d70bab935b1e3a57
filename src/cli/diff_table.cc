#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/console.h"
#include "cli/colours.h"
#include "cli/diff_report.h"
#include "cli/human_text.h"

namespace stackpack::cli {

namespace {

constexpr std::size_t kHalfBar = 8;

/// Cells of a line before its name.
struct TableLine {
  std::array<std::string, 6> cells;
  std::string bar;
  std::string verdict;
  std::string name;
  bool more = false;
  bool less = false;
};

// Less to the left of the middle, more to the right.
std::string diff_bar(double difference, double largest) {
  const auto length = static_cast<std::size_t>(
      largest > 0 ? std::abs(difference) / largest * static_cast<double>(kHalfBar) + 0.5 : 0);
  const std::string mark(std::min(length, kHalfBar), difference < 0 ? '-' : '+');
  return difference < 0 ? fmt::format("{:>{}}|{:{}}", mark, kHalfBar, "", kHalfBar)
                        : fmt::format("{:{}}|{:<{}}", "", kHalfBar, mark, kHalfBar);
}

TableLine table_line(const EventDiff& event, const DiffLine& line, DiffUnit unit, double largest) {
  const DiffFigure& figure = figure_of(event, line);
  TableLine result;
  result.cells = {
      line.self ? "self" : "total",
      share_text_of(figure.old_share, unit),
      share_text_of(figure.new_share, unit),
      change_text_of(figure.difference, unit),
      fmt::format("{}..{}", change_text_of(figure.low, unit), change_text_of(figure.high, unit)),
      change_text_of(figure.least_visible, unit)};
  result.bar = diff_bar(figure.difference, largest);
  result.verdict = verdict_name(figure.verdict);
  result.name = title_of_row(event.rows[line.row]);
  result.more = is_change(figure.verdict) && figure.difference > 0;
  result.less = is_change(figure.verdict) && figure.difference < 0;
  return result;
}

// At most `width` characters, cut between characters.
std::string cut_to(std::string text, std::size_t width) {
  constexpr std::string_view kCut = "...";
  if (text.size() <= width) {
    return text;
  }
  std::size_t end = width - std::min(width, kCut.size());
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) {
    --end;
  }
  return text.substr(0, end).append(kCut);
}

void append_lines(std::string& out, const std::vector<TableLine>& lines, bool colours) {
  constexpr std::array<std::string_view, 6> kHeads = {"",       "before",   "now",
                                                      "change", "interval", "visible"};
  std::array<std::size_t, 6> widths{};
  std::size_t verdicts = std::string_view("verdict").size();
  for (std::size_t i = 0; i < kHeads.size(); ++i) {
    widths[i] = kHeads[i].size();
    for (const TableLine& line : lines) {
      widths[i] = std::max(widths[i], line.cells[i].size());
    }
  }
  for (const TableLine& line : lines) {
    verdicts = std::max(verdicts, line.verdict.size());
  }
  constexpr std::size_t kShortestName = 16;
  std::size_t before_name = verdicts + 2 + 2 * kHalfBar + 3;
  for (const std::size_t width : widths) {
    before_name += width + 2;
  }
  const std::size_t columns = app::terminal_columns(app::Stream::kStandardOutput);
  const std::size_t name_width = !app::is_terminal(app::Stream::kStandardOutput)
                                     ? std::string::npos
                                     : std::max(columns, before_name + kShortestName) - before_name;
  const auto append = [&](const auto& cells, std::string_view bar, std::string_view verdict,
                          std::string_view name) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      out += i == 0 ? fmt::format("{:<{}}  ", cells[i], widths[i])
                    : fmt::format("{:>{}}  ", cells[i], widths[i]);
    }
    out += fmt::format("{:<{}}  {:<{}}  {}", bar, 2 * kHalfBar + 1, verdict, verdicts, name);
  };
  append(kHeads, "", "verdict", "name");
  out += '\n';
  for (const TableLine& line : lines) {
    const bool coloured = colours && (line.more || line.less);
    if (coloured) {
      out += line.more ? colours::kRed : colours::kGreen;
    }
    append(line.cells, line.bar, line.verdict, cut_to(line.name, name_width));
    out += coloured ? std::string(colours::kPlain) + "\n" : "\n";
  }
}

void append_event(std::string& out, const EventDiff& event, DiffUnit unit, std::size_t rows,
                  bool colours) {
  for (const std::string& sentence : sentences_of(event, unit)) {
    out += sentence + '\n';
  }
  const DiffLines all = lines_of(event);
  std::vector<DiffLine> chosen = all.changed;
  chosen.insert(chosen.end(), all.unsure.begin(), all.unsure.end());
  chosen.insert(chosen.end(), all.others.begin(), all.others.end());
  const std::size_t shown = rows == 0 ? chosen.size() : std::min(rows, chosen.size());
  double largest = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    largest = std::max(largest, std::abs(figure_of(event, chosen[i]).difference));
  }
  std::vector<TableLine> lines;
  for (std::size_t i = 0; i < shown; ++i) {
    lines.push_back(table_line(event, chosen[i], unit, largest));
  }
  append_lines(out, lines, colours);
  if (shown < chosen.size()) {
    out += fmt::format("... {} more\n", grouped(chosen.size() - shown));
  }
}

}  // namespace

void append_diff_table(std::string& out, const JudgedDiff& diff, std::size_t rows, bool colours) {
  for (std::size_t i = 0; i < diff.report.events.size(); ++i) {
    out += i == 0 ? "" : "\n";
    append_event(out, diff.report.events[i], diff.report.unit, rows, colours);
  }
}

}  // namespace stackpack::cli
