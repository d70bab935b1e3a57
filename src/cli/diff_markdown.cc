#include <algorithm>

#include <fmt/format.h>

#include "cli/diff_report.h"
#include "cli/human_text.h"

namespace stackpack::cli {

namespace {

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

std::string markdown_row(const EventDiff& event, const DiffLine& line, std::string_view title) {
  const DiffFigure& figure = figure_of(event, line);
  return fmt::format("| {} {} | {} | {} | {} | {} to {} | {} | {} |\n", code_of(title, true),
                     line.self ? "self" : "total", share_text_of(figure.old_share, event),
                     share_text_of(figure.new_share, event),
                     change_text_of(figure.difference, event), change_text_of(figure.low, event),
                     change_text_of(figure.high, event),
                     change_text_of(figure.least_visible, event), verdict_name(figure.verdict));
}

// How long a comment may be, and how many rows a table may have.
struct Room {
  std::size_t bytes = 0;  ///< 0: any number
  std::size_t rows = 0;   ///< 0: all
  app::FunctionNames names = app::FunctionNames::kShort;

  [[nodiscard]] bool has(std::size_t used, std::size_t more) const {
    return bytes == 0 || used + more <= bytes;
  }
};

constexpr std::string_view kTableHead =
    "| | before | now | change | interval | visible | verdict |\n"
    "|---|--:|--:|--:|--:|--:|---|\n";

void append_rows(std::string& out, const EventDiff& event, const std::vector<DiffLine>& lines,
                 const Room& room) {
  constexpr std::size_t kWidth = 60;
  constexpr std::size_t kReserve = 200;  // for what ends a table, and begins the next one
  const std::size_t most = room.rows == 0 ? lines.size() : std::min(room.rows, lines.size());
  const std::vector<DiffLine> chosen(lines.begin(),
                                     lines.begin() + static_cast<std::ptrdiff_t>(most));
  const std::vector<std::string> titles =
      diff_titles(event, chosen, room.names, room.bytes == 0 ? app::kAnyWidth : kWidth);
  out += kTableHead;
  std::size_t shown = 0;
  for (; shown < most; ++shown) {
    const std::string row = markdown_row(event, chosen[shown], titles[shown]);
    if (!room.has(out.size(), row.size() + kReserve)) {
      break;
    }
    out += row;
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

void append_gate(std::string& out, const JudgedDiff& diff, const Room& room) {
  for (const std::string& sentence : gate_sentences(diff)) {
    out += "- " + code_of(sentence) + "\n";
  }
  std::size_t shown = 0;
  for (const GateFinding& finding : diff.gate.findings) {
    const std::string line =
        fmt::format("- {}{}\n",
                    finding.allowed  ? "allowed: "
                    : finding.unsure ? "unsure: "
                                     : "**failed**: ",
                    code_of(finding_text(diff.report, diff.conditions, finding)));
    if (!room.has(out.size(), line.size() + room.bytes / 2)) {
      break;
    }
    out += line;
    ++shown;
  }
  if (shown < diff.gate.findings.size()) {
    out += fmt::format("- {} more\n", counted(diff.gate.findings.size() - shown, "finding"));
  }
  out += diff.conditions.empty() ? "" : "\n";
}

}  // namespace

void append_diff_markdown(std::string& out, const JudgedDiff& diff, const DiffMarkdownForm& form) {
  constexpr std::size_t kComment = 4096;
  constexpr std::size_t kCommentRows = 10;
  const std::size_t begin = out.size();
  const Room room{form.rows ? 0 : begin + kComment, form.rows.value_or(kCommentRows), form.names};
  out += heading_of(diff);
  append_gate(out, diff, room);
  for (const EventDiff& event : diff.report.events) {
    for (const std::string& sentence : sentences_of(event)) {
      out += "- " + code_of(sentence) + "\n";
    }
    const DiffLines lines = lines_of(event);
    for (const std::vector<DiffLine>* const seen : {&lines.changed, &lines.unsure}) {
      if (!seen->empty()) {
        out += '\n';
        append_rows(out, event, *seen, room);
      }
    }
    if (!lines.others.empty()) {
      out += fmt::format("\n<details><summary>{} in which no change is seen</summary>\n\n",
                         counted(lines.others.size(), "row"));
      append_rows(out, event, lines.others, room);
      out += "\n</details>\n";
    }
    out += '\n';
  }
}

}  // namespace stackpack::cli
