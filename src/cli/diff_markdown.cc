#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "cli/diff_report.h"
#include "cli/human_text.h"

namespace stackpack::cli {

namespace {

// What a comment is wide at most, where names may be shortened: so it can be read as it is, too.
constexpr std::size_t kColumns = 80;
// How much of a sentence is shown.
constexpr std::size_t kLongestSentence = 480;
// A word of a sentence that is longer is cut.
constexpr std::size_t kLongestWord = 60;
// For what ends a table and its block, and what says that more is not listed.
constexpr std::size_t kReserve = 240;

// A text as it is: a span of code, which neither Markdown nor HTML is read in, and that no person
// called @name gets mail for. In a cell of a table a bar would end it.
std::string code_of(std::string_view text, bool in_cell = false) {
  constexpr std::size_t kLongest = 200;
  std::size_t end = std::min(text.size(), kLongest);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) {
    --end;
  }
  std::string code;
  std::size_t ticks = 0;
  std::size_t most_ticks = 0;
  for (const char c : text.substr(0, end)) {
    ticks = c == '`' ? ticks + 1 : 0;
    most_ticks = std::max(most_ticks, ticks);
    code += c == '|' && in_cell ? "\\|" : std::string(1, c);
  }
  code += end < text.size() ? "..." : "";
  const std::string fence(most_ticks + 1, '`');
  const std::string_view room = most_ticks == 0 ? "" : " ";
  return fmt::format("{0}{1}{2}{1}{0}", fence, room, code);
}

// How long a comment may be, how many rows a table may have, and how names are written.
struct Room {
  std::size_t bytes = 0;  ///< 0: any number
  std::size_t rows = 0;   ///< 0: all
  app::FunctionNames names = app::FunctionNames::kShort;
  bool any_width = false;  ///< else kColumns

  [[nodiscard]] bool has(std::size_t used, std::size_t more) const {
    return bytes == 0 || used + more <= bytes;
  }
};

// Ticks take more when they are written.
std::string word_that_fits(std::string_view text, std::size_t used) {
  std::string word = app::cut_to(text, kLongestWord);
  for (std::size_t most = kLongestWord;
       used + app::columns_of(code_of(word)) > kColumns && most > 4; --most) {
    word = app::cut_to(text, most);
  }
  return word;
}

// An item of a list, whose lines are not wider than kColumns. Each line is a span of its own: what
// stands at the beginning of a line could begin something else.
std::string item_of(std::string_view label, std::string_view sentence, const Room& room) {
  if (room.any_width) {
    return fmt::format("- {}{}\n", label, code_of(sentence));
  }
  const std::string text = app::cut_to(sentence, kLongestSentence);
  std::string item = fmt::format("- {}", label);
  std::size_t used = item.size();
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = word_that_fits(std::string_view(text).substr(at, end - at), used);
    at = end + 1;
    std::string longer = line;
    longer += line.empty() ? "" : " ";
    longer += word;
    if (!line.empty() && used + app::columns_of(code_of(longer)) > kColumns) {
      item += code_of(line) + "\n  ";
      used = 2;
      line = word;
    } else {
      line = longer;
    }
  }
  return item + code_of(line) + '\n';
}

std::string markdown_row(const EventDiff& event, const DiffLine& line, std::string_view title) {
  const DiffFigure& figure = figure_of(event, line);
  return fmt::format("| {} {} | {} | {} | {} | {} to {} | {} | {} |\n", code_of(title, true),
                     line.self ? "self" : "total", share_text_of(figure.old_share, event),
                     share_text_of(figure.new_share, event),
                     change_text_of(figure.difference, event), change_text_of(figure.low, event),
                     change_text_of(figure.high, event),
                     change_text_of(figure.least_visible, event), verdict_name(figure.verdict));
}

constexpr std::string_view kWideHead =
    "| | before | now | change | interval | visible | verdict |\n"
    "|---|--:|--:|--:|--:|--:|---|\n";

// `+1.77..+6.69pp`: the unit once.
std::string interval_of(const DiffFigure& figure, const EventDiff& event) {
  const auto unit_at = [](std::string_view text) {
    while (!text.empty() && std::isdigit(static_cast<unsigned char>(text.back())) == 0) {
      text.remove_suffix(1);
    }
    return text.size();
  };
  std::string low = change_text_of(figure.low, event);
  const std::string high = change_text_of(figure.high, event);
  if (low.substr(unit_at(low)) == high.substr(unit_at(high))) {
    low.resize(unit_at(low));
  }
  return low + ".." + high;
}

enum class TableKind : std::uint8_t { kChanged, kUnsure, kOthers };

constexpr std::size_t kFigures = 4;
using NarrowCells = std::array<std::string, kFigures>;

NarrowCells narrow_heads(TableKind kind) {
  return kind == TableKind::kOthers ? NarrowCells{"before", "now", "visible", ""}
                                    : NarrowCells{"before", "now", "change", "interval"};
}

// Which table a row stands in says the verdict, with the sign of the change.
NarrowCells narrow_cells(const EventDiff& event, const DiffLine& line, TableKind kind) {
  const DiffFigure& figure = figure_of(event, line);
  NarrowCells cells{share_text_of(figure.old_share, event), share_text_of(figure.new_share, event),
                    "", ""};
  if (kind == TableKind::kOthers) {
    cells[2] = figure.verdict == DiffVerdict::kTooFew ? "too few"
                                                      : change_text_of(figure.least_visible, event);
  } else {
    cells[2] = change_text_of(figure.difference, event);
    cells[3] = interval_of(figure, event);
  }
  return cells;
}

/// A table of kColumns at most: columns of equal width, shortened names.
class NarrowTable {
 public:
  NarrowTable(const EventDiff& event, const std::vector<DiffLine>& lines, TableKind kind,
              app::FunctionNames names)
      : heads_(narrow_heads(kind)), title_(title_of(kind)) {
    for (const DiffLine& line : lines) {
      cells_.push_back(narrow_cells(event, line, kind));
    }
    measure();
    name_rows(event, lines, names);
  }

  [[nodiscard]] std::string head() const {
    std::string rule = "|:" + std::string(name_width_ + 1, '-') + '|';
    for (std::size_t i = 0; i < shown_; ++i) {
      rule += std::string(widths_[i] + 1, '-') + ":|";
    }
    return row_of(title_, heads_) + rule + '\n';
  }

  [[nodiscard]] std::string row(std::size_t number) const {
    return row_of(names_[number], cells_[number]);
  }

 private:
  static std::string_view title_of(TableKind kind) {
    return kind == TableKind::kChanged  ? "changed"
           : kind == TableKind::kUnsure ? "unsure"
                                        : "no change seen";
  }

  // How wide the figures are, and how many of them leave room for names.
  void measure() {
    constexpr std::size_t kGoodName = 24;
    constexpr std::size_t kAround = 3;  // of a cell: two blanks and a bar
    std::size_t used = 1;
    for (shown_ = 0; shown_ < kFigures && !heads_[shown_].empty(); ++shown_) {
      std::size_t width = heads_[shown_].size();
      for (const NarrowCells& cells : cells_) {
        width = std::max(width, cells[shown_].size());
      }
      if (shown_ > 2 && used + width + 2 * kAround + kGoodName > kColumns) {
        break;
      }
      widths_[shown_] = width;
      used += width + kAround;
    }
    room_ = kColumns - std::min(used + kAround, kColumns - kGoodName);
  }

  void name_rows(const EventDiff& event, const std::vector<DiffLine>& lines,
                 app::FunctionNames names) {
    constexpr std::size_t kLeast = 16;  // function_titles() goes no lower
    const std::size_t plain = std::string_view("`` total").size();
    const std::vector<std::string> titles =
        diff_titles(event, lines, names, std::max(room_ - plain, kLeast));
    name_width_ = title_.size();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string_view part = lines[i].self ? " self" : " total";
      std::string cell = code_of(titles[i], true);
      // Bars and ticks take more when they are written.
      for (std::size_t most = app::columns_of(titles[i]);
           app::columns_of(cell) + part.size() > room_ && most > 4; --most) {
        cell = code_of(app::cut_to(titles[i], most), true);
      }
      names_.push_back(cell.append(part));
      name_width_ = std::max(name_width_, app::columns_of(names_.back()));
    }
  }

  [[nodiscard]] std::string row_of(std::string_view name, const NarrowCells& cells) const {
    std::string row =
        fmt::format("| {}{} |", name, std::string(name_width_ - app::columns_of(name), ' '));
    for (std::size_t i = 0; i < shown_; ++i) {
      row += fmt::format(" {:>{}} |", cells[i], widths_[i]);
    }
    return row + '\n';
  }

  NarrowCells heads_;
  std::string_view title_;
  std::vector<NarrowCells> cells_;
  std::vector<std::string> names_;
  std::array<std::size_t, kFigures> widths_{};
  std::size_t shown_ = 0;
  std::size_t room_ = 0;  // for names
  std::size_t name_width_ = 0;
};

void append_rows(std::string& out, const EventDiff& event, const std::vector<DiffLine>& lines,
                 TableKind kind, const Room& room) {
  const std::size_t most = room.rows == 0 ? lines.size() : std::min(room.rows, lines.size());
  const std::vector<DiffLine> chosen(lines.begin(),
                                     lines.begin() + static_cast<std::ptrdiff_t>(most));
  std::size_t shown = 0;
  const auto append = [&](std::string_view head, const auto& row_of) {
    if (!room.has(out.size(), head.size() + kReserve)) {
      return;
    }
    out += head;
    for (; shown < most; ++shown) {
      const std::string row = row_of(shown);
      if (!room.has(out.size(), row.size() + kReserve)) {
        return;
      }
      out += row;
    }
  };
  if (room.any_width) {
    const std::vector<std::string> titles = diff_titles(event, chosen, room.names, app::kAnyWidth);
    append(kWideHead, [&](std::size_t i) { return markdown_row(event, chosen[i], titles[i]); });
  } else {
    const NarrowTable table(event, chosen, kind, room.names);
    append(table.head(), [&](std::size_t i) { return table.row(i); });
  }
  if (shown < lines.size()) {
    out += fmt::format("\n{} more are not listed.\n", grouped(lines.size() - shown));
  }
}

std::string heading_of(const JudgedDiff& diff) {
  std::size_t changed = 0;
  std::size_t unsure = 0;
  for (const EventDiff& event : diff.report.events) {
    const DiffLines lines = lines_of(event);
    changed += lines.changed.size();
    unsure += lines.unsure.size();
  }
  const std::string seen = changed != 0  ? counted(changed, "figure") + " changed"
                           : unsure != 0 ? counted(unsure, "figure") + " unsure"
                                         : "no change seen";
  const std::string gate = diff.conditions.empty() ? ""
                           : diff.gate.failed()    ? ", gate failed"
                           : diff.gate.undecided() ? ", gate undecided"
                                                   : ", gate passed";
  return "### Profiles compared: " + seen + gate + "\n\n";
}

// Items, as long as there is room; then how many more there are.
class ItemList {
 public:
  /// `reserve`: bytes that stay free behind the list.
  ItemList(std::string& out, const Room& room, std::size_t reserve)
      : out_(out), room_(room), reserve_(reserve) {}

  void add(std::string_view label, std::string_view sentence) {
    const std::string item = item_of(label, sentence, room_);
    if (left_out_ != 0 || !room_.has(out_.size(), item.size() + reserve_)) {
      ++left_out_;
    } else {
      out_ += item;
    }
  }

  void end(std::string_view what) {
    out_ += left_out_ == 0 ? "" : fmt::format("- {} more\n", counted(left_out_, what));
    left_out_ = 0;
  }

 private:
  std::string& out_;
  const Room& room_;
  std::size_t reserve_;
  std::size_t left_out_ = 0;
};

// What is missing in the files.
void append_notices(std::string& out, const JudgedDiff& diff, const Room& room) {
  if (diff.notices.empty()) {
    return;
  }
  ItemList list(out, room, room.bytes / 2 + room.bytes / 4);
  for (const std::string& notice : diff.notices) {
    list.add("**incomplete**: ", notice);
  }
  list.end("remark");
  out += '\n';
}

// The function of a finding, as the table has it.
std::string finding_of(const JudgedDiff& diff, const GateFinding& finding, const Room& room) {
  if (finding.whole || room.any_width) {
    return finding_text(diff.report, diff.conditions, finding);
  }
  const std::vector<std::string> titles = diff_titles(
      diff.report.events[finding.event], {{finding.row, finding.self}}, room.names, kLongestWord);
  return finding_text(diff.report, diff.conditions, finding, titles.front());
}

void append_gate(std::string& out, const JudgedDiff& diff, const Room& room) {
  if (diff.conditions.empty()) {
    return;
  }
  ItemList list(out, room, room.bytes / 2);
  for (const std::string& sentence :
       gate_sentences(diff, room.any_width ? app::kAnyWidth : kLongestWord)) {
    list.add("", sentence);
  }
  list.end("condition");
  for (const GateFinding& finding : diff.gate.findings) {
    list.add(finding.allowed  ? "allowed: "
             : finding.unsure ? "unsure: "
                              : "**failed**: ",
             finding_of(diff, finding, room));
  }
  list.end("finding");
  out += '\n';
}

void append_compared(std::string& out, const EventDiff& event, const Room& room) {
  ItemList list(out, room, kReserve);
  for (const std::string& sentence : sentences_of(event)) {
    list.add("", sentence);
  }
  list.end("remark");
  const DiffLines lines = lines_of(event);
  for (const auto& [seen, kind] : {std::pair(&lines.changed, TableKind::kChanged),
                                   std::pair(&lines.unsure, TableKind::kUnsure)}) {
    if (!seen->empty()) {
      out += '\n';
      append_rows(out, event, *seen, kind, room);
    }
  }
  if (!lines.others.empty() && room.has(out.size(), 2 * kReserve)) {
    out += fmt::format("\n<details><summary>{} in which no change is seen</summary>\n\n",
                       counted(lines.others.size(), "row"));
    append_rows(out, event, lines.others, TableKind::kOthers, room);
    out += "\n</details>\n";
  }
  out += '\n';
}

}  // namespace

void append_diff_markdown(std::string& out, const JudgedDiff& diff, const DiffMarkdownForm& form) {
  constexpr std::size_t kComment = 4096;
  constexpr std::size_t kCommentRows = 10;
  const std::size_t begin = out.size();
  const Room room{form.rows ? 0 : begin + kComment, form.rows.value_or(kCommentRows), form.names,
                  form.any_width};
  out += heading_of(diff);
  append_notices(out, diff, room);
  append_gate(out, diff, room);
  for (std::size_t i = 0; i < diff.report.events.size(); ++i) {
    if (i != 0 && !room.has(out.size(), 2 * kReserve)) {
      out += fmt::format("{} more not shown.\n", counted(diff.report.events.size() - i, "event"));
      break;
    }
    append_compared(out, diff.report.events[i], room);
  }
}

}  // namespace stackpack::cli
