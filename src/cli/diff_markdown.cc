#include <algorithm>

#include <fmt/format.h>

#include "cli/diff_report.h"
#include "cli/human_text.h"

namespace stackpack::cli {

namespace {

// A name as it is, in a table of Markdown: neither HTML nor the end of a cell.
std::string code_of(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  std::string code = "<code>";
  std::size_t end = std::min(text.size(), kLongest);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) {
    --end;
  }
  for (const char c : text.substr(0, end)) {
    switch (c) {
      case '&':
        code += "&amp;";
        break;
      case '<':
        code += "&lt;";
        break;
      case '>':
        code += "&gt;";
        break;
      // What Markdown reads inside of HTML, too; a person called @name must not get mail.
      case '|':
      case '`':
      case '*':
      case '_':
      case '~':
      case '[':
      case ']':
      case '\\':
      case '@':
      case '#':
      case ':':
        code += fmt::format("&#{};", static_cast<int>(c));
        break;
      default:
        code += c;
    }
  }
  return code + (end < text.size() ? "...</code>" : "</code>");
}

void append_rows(std::string& out, const EventDiff& event, const std::vector<DiffLine>& lines,
                 std::size_t rows) {
  out +=
      "| | before | now | change | interval | visible | verdict |\n"
      "|---|--:|--:|--:|--:|--:|---|\n";
  const std::size_t shown = rows == 0 ? lines.size() : std::min(rows, lines.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const DiffFigure& figure = figure_of(event, lines[i]);
    out += fmt::format("| {} {} | {} | {} | {} | {} to {} | {} | {} |\n",
                       code_of(title_of_row(event.rows[lines[i].row])),
                       lines[i].self ? "self" : "total", share_text_of(figure.old_share, event),
                       share_text_of(figure.new_share, event),
                       change_text_of(figure.difference, event), change_text_of(figure.low, event),
                       change_text_of(figure.high, event),
                       change_text_of(figure.least_visible, event), verdict_name(figure.verdict));
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

void append_gate(std::string& out, const JudgedDiff& diff) {
  for (const std::string& sentence : gate_sentences(diff)) {
    out += "- " + code_of(sentence) + "\n";
  }
  for (const GateFinding& finding : diff.gate.findings) {
    out += fmt::format("- {}{}\n",
                       finding.allowed  ? "allowed: "
                       : finding.unsure ? "unsure: "
                                        : "**failed**: ",
                       code_of(finding_text(diff.report, diff.conditions, finding)));
  }
  out += diff.conditions.empty() ? "" : "\n";
}

}  // namespace

void append_diff_markdown(std::string& out, const JudgedDiff& diff, std::size_t rows) {
  out += heading_of(diff);
  append_gate(out, diff);
  for (const EventDiff& event : diff.report.events) {
    for (const std::string& sentence : sentences_of(event)) {
      out += code_of(sentence) + "<br>\n";
    }
    const DiffLines lines = lines_of(event);
    for (const std::vector<DiffLine>* const seen : {&lines.changed, &lines.unsure}) {
      if (!seen->empty()) {
        out += '\n';
        append_rows(out, event, *seen, rows);
      }
    }
    if (!lines.others.empty()) {
      out += fmt::format("\n<details><summary>{} in which no change is seen</summary>\n\n",
                         counted(lines.others.size(), "row"));
      append_rows(out, event, lines.others, rows);
      out += "\n</details>\n";
    }
    out += '\n';
  }
}

}  // namespace stackpack::cli
