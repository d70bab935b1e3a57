#include "cli/diff_findings.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "cli/json_text.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

std::string xml_of(std::string_view text) {
  std::string escaped;
  append_escaped(escaped, text);
  return markup_of(escaped);
}

// A value of a command of GitHub's runner; of a property where `property`.
std::string runner_text(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','))) {
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out;
}

// The findings of a condition that nothing allows, a line each.
std::string findings_of(const JudgedDiff& diff, std::size_t condition) {
  std::string text;
  for (const GateFinding& finding : diff.gate.findings) {
    if (finding.condition == condition && !finding.allowed) {
      text += xml_of(finding_text(diff.report, diff.conditions, finding)) + '\n';
    }
  }
  return text;
}

// `file:line`.
std::optional<GrownLine> grown_line(const DiffRow& row, const EventDiff& event,
                                    const std::string& working_directory) {
  const std::size_t colon = row.place.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return std::nullopt;
  }
  GrownLine line;
  const char* const end = row.place.data() + row.place.size();
  const auto [rest, failure] = std::from_chars(row.place.data() + colon + 1, end, line.line);
  if (failure != std::errc{} || rest != end || line.line == 0) {
    return std::nullopt;
  }
  line.file = row.place.substr(0, colon);
  if (line.file.starts_with(working_directory + '/')) {
    line.file.erase(0, working_directory.size() + 1);
  }
  line.text = fmt::format(
      "{}: {} -> {}, {} ({} at least)", row.name, share_text_of(row.self.old_share, event),
      share_text_of(row.self.new_share, event), change_text_of(row.self.difference, event),
      change_text_of(row.self.low, event));
  return line;
}

void write_message(JsonText& json, std::string_view text) {
  json.key("message");
  json.begin_object();
  json.field("text", text);
  json.end_object();
}

void write_location(JsonText& json, const GrownLine& line) {
  json.key("locations");
  json.begin_array();
  json.begin_object();
  json.key("physicalLocation");
  json.begin_object();
  json.key("artifactLocation");
  json.begin_object();
  json.field("uri", line.file);
  json.end_object();
  json.key("region");
  json.begin_object();
  json.field("startLine", line.line);
  json.end_object();
  json.end_object();
  json.end_object();
  json.end_array();
}

void write_results(JsonText& json, const JudgedDiff& diff, const std::vector<GrownLine>& lines) {
  json.begin_array();
  for (const GateFinding& finding : diff.gate.findings) {
    if (finding.allowed) {
      continue;
    }
    json.begin_object();
    json.field("ruleId", diff.conditions[finding.condition].text);
    json.field("level", finding.unsure ? "note" : "error");
    write_message(json, finding_text(diff.report, diff.conditions, finding));
    json.end_object();
  }
  for (const GrownLine& line : lines) {
    json.begin_object();
    json.field("ruleId", "grown-line");
    json.field("level", "warning");
    write_message(json, line.text);
    write_location(json, line);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void append_diff_junit(std::string& out, const JudgedDiff& diff) {
  std::size_t failed = 0;
  std::size_t skipped = 0;
  for (const GateResult& result : diff.gate.results) {
    failed += result.outcome == GateOutcome::kFailed ? 1U : 0U;
    skipped += result.outcome == GateOutcome::kUndecided ? 1U : 0U;
  }
  out += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format(
      "<testsuite name=\"stackpack diff\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
      diff.conditions.size(), failed, skipped);
  const std::vector<std::string> sentences = gate_sentences(diff);
  for (std::size_t i = 0; i < diff.conditions.size(); ++i) {
    out += fmt::format("  <testcase classname=\"stackpack.diff\" name=\"{}\">",
                       xml_of(diff.conditions[i].text));
    const std::string sentence = xml_of(sentences[i]);
    switch (diff.gate.results[i].outcome) {
      case GateOutcome::kPassed:
        break;
      case GateOutcome::kFailed:
        out += fmt::format("<failure message=\"{}\">{}</failure>", sentence, findings_of(diff, i));
        break;
      case GateOutcome::kUndecided:
        out += fmt::format("<skipped message=\"{}\"/>", sentence);
        break;
    }
    out += "</testcase>\n";
  }
  out += "</testsuite>\n";
}

std::vector<GrownLine> grown_lines(const DiffReport& by_line,
                                   const std::string& working_directory) {
  constexpr std::size_t kMostLines = 10;
  std::vector<GrownLine> lines;
  for (const EventDiff& event : by_line.events) {
    for (const DiffRow& row : event.rows) {
      const bool grown =
          row.self.verdict == DiffVerdict::kMore || row.self.verdict == DiffVerdict::kAppeared;
      if (grown && lines.size() < kMostLines) {
        if (auto line = grown_line(row, event, working_directory)) {
          lines.push_back(std::move(*line));
        }
      }
    }
  }
  return lines;
}

void append_diff_sarif(std::string& out, const JudgedDiff& diff,
                       const std::vector<GrownLine>& lines) {
  JsonText json(out);
  json.begin_object();
  json.field("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.field("version", "2.1.0");
  json.key("runs");
  json.begin_array();
  json.begin_object();
  json.key("tool");
  json.begin_object();
  json.key("driver");
  json.begin_object();
  json.field("name", "stackpack");
  json.end_object();
  json.end_object();
  json.key("results");
  write_results(json, diff, lines);
  json.end_object();
  json.end_array();
  json.end_object();
  out += '\n';
}

void append_annotations(std::string& out, const std::vector<GrownLine>& lines) {
  for (const GrownLine& line : lines) {
    std::string text;
    append_escaped(text, line.text);
    out += fmt::format("::warning file={},line={},title=takes more than before::{}\n",
                       runner_text(line.file, true), line.line, runner_text(text, false));
  }
}

}  // namespace stackpack::cli
