#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/diff_report.h"
#include "cli/human_text.h"
#include "cli/messages.h"
#include "cli/name_column.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

constexpr std::size_t kHalfBar = 8;

/// What stands in a line. The last columns are left out where names would have too little room.
enum DiffCell : std::size_t {
  kWhat,
  kBefore,
  kNow,
  kChange,
  kVerdict,
  kPart,
  kInterval,
  kVisible,
  kCells
};

struct TableLine {
  std::array<std::string, kCells> cells;
  std::string bar;
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

TableLine table_line(const EventDiff& event, const DiffLine& line, double largest) {
  const DiffFigure& figure = figure_of(event, line);
  TableLine result;
  result.cells[kWhat] = line.self ? "self" : "total";
  result.cells[kBefore] = share_text_of(figure.old_share, event);
  result.cells[kNow] = share_text_of(figure.new_share, event);
  result.cells[kChange] = change_text_of(figure.difference, event);
  result.cells[kVerdict] = verdict_name(figure.verdict);
  result.cells[kPart] = part_text_of(figure, event);
  result.cells[kInterval] =
      fmt::format("{}..{}", change_text_of(figure.low, event), change_text_of(figure.high, event));
  result.cells[kVisible] = change_text_of(figure.least_visible, event);
  result.bar = diff_bar(figure.difference, largest);
  result.more = is_change(figure.verdict) && figure.difference > 0;
  result.less = is_change(figure.verdict) && figure.difference < 0;
  return result;
}

constexpr std::array<std::string_view, kCells> kHeads = {
    "", "before", "now", "change", "verdict", "share", "interval", "visible"};

// How a table fits into what it is written to.
struct DiffLayout {
  std::array<std::size_t, kCells> widths{};
  std::size_t cells = kCells;
  bool bars = false;
  std::size_t name = app::kAnyWidth;
};

DiffLayout diff_layout(const std::vector<TableLine>& lines, bool parts) {
  constexpr std::size_t kLeastName = 16;
  constexpr std::size_t kGoodName = 28;
  constexpr std::size_t kBar = 2 + 2 * kHalfBar + 1;
  DiffLayout layout;
  for (std::size_t i = 0; i < kCells; ++i) {
    layout.widths[i] = kHeads[i].size();
    for (const TableLine& line : lines) {
      layout.widths[i] = std::max(layout.widths[i], line.cells[i].size());
    }
  }
  layout.widths[kPart] = parts ? layout.widths[kPart] : 0;
  const std::optional<std::size_t> columns = output_columns();
  if (!columns) {
    return layout;
  }
  std::size_t before = 0;
  layout.cells = 0;
  for (const std::size_t width : layout.widths) {
    if (layout.cells > kVerdict && before + width + 2 + kGoodName > *columns) {
      break;
    }
    before += width == 0 ? 0 : width + 2;
    ++layout.cells;
  }
  layout.bars = before + kGoodName + kBar <= *columns;
  before += layout.bars ? kBar : 0;
  layout.name = std::max(*columns, before + kLeastName) - before;
  return layout;
}

}  // namespace

std::vector<std::string> diff_titles(const EventDiff& event, const std::vector<DiffLine>& lines,
                                     app::FunctionNames names, std::size_t width) {
  std::vector<std::array<std::string, 3>> escaped(lines.size());
  std::vector<app::FunctionTitle> titles;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const DiffRow& row = event.rows[lines[i].row];
    auto& [name, module, place] = escaped[i];
    append_escaped(name, row.name);
    append_escaped(place, row.place);
    if (row.shared_name) {
      append_escaped(module, row.module);
    }
    titles.push_back({name, module, place});
  }
  return app::function_titles(titles, names, width);
}

namespace {

void append_lines(std::string& out, const std::vector<TableLine>& lines, const DiffLayout& layout,
                  bool colours) {
  const auto append = [&](const auto& cells) {
    for (std::size_t i = 0; i < layout.cells; ++i) {
      if (layout.widths[i] == 0) {
        continue;
      }
      out += i == kWhat || i == kVerdict ? fmt::format("{:<{}}  ", cells[i], layout.widths[i])
                                         : fmt::format("{:>{}}  ", cells[i], layout.widths[i]);
    }
  };
  append(kHeads);
  out += "name\n";
  for (const TableLine& line : lines) {
    const bool coloured = colours && (line.more || line.less);
    if (coloured) {
      out += line.more ? colours::kRed : colours::kGreen;
    }
    append(line.cells);
    append_name_and_bar(out, line.name, layout.name, layout.bars ? line.bar : std::string_view());
    if (coloured) {
      out.insert(out.size() - 1, colours::kPlain);
    }
  }
}

// As wide as the terminal at most, where there are blanks.
void append_sentence(std::string& out, std::string_view sentence) {
  const std::size_t columns = output_columns().value_or(sentence.size());
  while (sentence.size() > columns) {
    const std::size_t blank = sentence.rfind(' ', columns);
    if (blank == std::string_view::npos || blank == 0) {
      break;
    }
    out += fmt::format("{}\n", sentence.substr(0, blank));
    sentence.remove_prefix(blank + 1);
  }
  out += fmt::format("{}\n", sentence);
}

void append_event(std::string& out, const EventDiff& event, const DiffReport& report,
                  const DiffTableForm& form) {
  for (const std::string& sentence : sentences_of(event)) {
    append_sentence(out, sentence);
  }
  const DiffLines all = lines_of(event);
  std::vector<DiffLine> chosen = all.changed;
  chosen.insert(chosen.end(), all.unsure.begin(), all.unsure.end());
  chosen.insert(chosen.end(), all.others.begin(), all.others.end());
  const std::size_t count = chosen.size();
  chosen.resize(form.rows == 0 ? count : std::min(form.rows, count));
  double largest = 0;
  for (const DiffLine& line : chosen) {
    largest = std::max(largest, std::abs(figure_of(event, line).difference));
  }
  std::vector<TableLine> lines;
  lines.reserve(chosen.size());
  for (const DiffLine& line : chosen) {
    lines.push_back(table_line(event, line, largest));
  }
  const DiffLayout layout = diff_layout(lines, event.unit == DiffUnit::kRun);
  const bool functions = report.by == DiffGrain::kFunction || report.by == DiffGrain::kLine;
  const std::vector<std::string> titles =
      diff_titles(event, chosen, functions ? form.names : app::FunctionNames::kFull, layout.name);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    lines[i].name = titles[i];
  }
  append_lines(out, lines, layout, form.colours);
  if (chosen.size() < count) {
    out += fmt::format("... {} more\n", grouped(count - chosen.size()));
  }
}

}  // namespace

void append_diff_table(std::string& out, const JudgedDiff& diff, const DiffTableForm& form) {
  for (std::size_t i = 0; i < diff.report.events.size(); ++i) {
    out += i == 0 ? "" : "\n";
    append_event(out, diff.report.events[i], diff.report, form);
  }
}

}  // namespace stackpack::cli
