#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "cli/diff_report.h"
#include "cli/event_note.h"
#include "cli/json_text.h"
#include "cli/next_commands.h"

namespace stackpack::cli {

namespace {

constexpr std::array<std::string_view, 4> kGrains = {"function", "module", "line", "callstack"};
constexpr std::array<std::string_view, 5> kUnitWords = {"measure", "weight", "time", "samples",
                                                        "run"};
constexpr std::array<std::string_view, 4> kRenameReasons = {"build id", "names", "asked",
                                                            "not there"};
constexpr std::array<std::string_view, 3> kScatters = {"runs", "blocks", "assumed"};

template <typename Names, typename Value>
std::string_view word_of(const Names& names, Value value) {
  return names[static_cast<std::size_t>(value)];
}

// JSON has no infinity.
void number_field(JsonText& json, std::string_view name, double value) {
  json.key(name);
  if (std::isfinite(value)) {
    json.value(value);
  } else {
    json.value(nullptr);
  }
}

void write_side(JsonText& json, std::string_view name, const DiffSide& side) {
  json.key(name);
  json.begin_object();
  json.field("runs", side.runs);
  json.field("runs_left_out", side.runs_left_out);
  json.field("samples", side.samples);
  number_field(json, "value", side.value);
  if (side.work > 0) {
    number_field(json, "work", side.work);
  }
  number_field(json, "seconds", side.seconds);
  number_field(json, "unpaired", side.unpaired);
  number_field(json, "idle", side.idle.share());
  json.end_object();
}

void write_figure(JsonText& json, std::string_view name, const DiffFigure& figure) {
  json.key(name);
  json.begin_object();
  json.field("verdict", verdict_name(figure.verdict));
  number_field(json, "old_value", figure.old_value);
  number_field(json, "new_value", figure.new_value);
  number_field(json, "old_share", figure.old_share);
  number_field(json, "new_share", figure.new_share);
  number_field(json, "difference", figure.difference);
  number_field(json, "low", figure.low);
  number_field(json, "high", figure.high);
  number_field(json, "ratio", figure.ratio);
  number_field(json, "ratio_low", figure.ratio_low);
  number_field(json, "ratio_high", figure.ratio_high);
  number_field(json, "least_visible", figure.least_visible);
  number_field(json, "p", figure.p);
  number_field(json, "overdispersion", figure.overdispersion);
  json.end_object();
}

void write_row(JsonText& json, const DiffRow& row) {
  json.begin_object();
  json.field("name", row.name);
  if (!row.module.empty()) {
    json.field("module", row.module);
  }
  if (!row.place.empty()) {
    json.field("place", row.place);
  }
  write_figure(json, "self", row.self);
  write_figure(json, "total", row.total);
  json.end_object();
}

void write_event(JsonText& json, const EventDiff& event, std::size_t rows) {
  json.begin_object();
  json.field("event", event.event);
  json.field("unit", word_of(kUnitWords, event.unit));
  json.field("measure", event.measure);
  write_side(json, "old", event.old_side);
  write_side(json, "new", event.new_side);
  json.field("scatter", word_of(kScatters, event.scatter));
  json.field("blocks", event.blocks);
  json.field("tests", event.tests);
  json.field("left_out", event.left_out);
  number_field(json, "level", event.level);
  if (event.whole) {
    json.field("work", event.work);
    json.key("doubts");
    json.begin_array();
    for (const std::string& doubt : event.doubts) {
      json.value(doubt);
    }
    json.end_array();
    write_figure(json, "whole", *event.whole);
  }
  json.key("renames");
  json.begin_array();
  for (const DiffRename& rename : event.renames) {
    json.begin_object();
    json.field("before", rename.before);
    json.field("after", rename.after);
    json.field("reason", word_of(kRenameReasons, rename.reason));
    json.end_object();
  }
  json.end_array();
  json.field("row_count", event.rows.size());
  json.key("rows");
  json.begin_array();
  const std::size_t shown = rows == 0 ? event.rows.size() : std::min(rows, event.rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    write_row(json, event.rows[i]);
  }
  json.end_array();
  json.end_object();
}

void write_gate(JsonText& json, const JudgedDiff& diff) {
  json.key("gate");
  json.begin_object();
  json.field("failed", diff.gate.failed());
  json.field("undecided", diff.gate.undecided());
  json.key("conditions");
  json.begin_array();
  for (std::size_t i = 0; i < diff.conditions.size(); ++i) {
    const GateResult& result = diff.gate.results[i];
    json.begin_object();
    json.field("condition", diff.conditions[i].text);
    json.field("outcome", outcome_name(result.outcome));
    json.field("visible", result.visible);
    json.field("not_visible", result.not_visible);
    json.field("unsure", result.unsure);
    number_field(json, "least_visible", result.least_visible);
    json.field("least_visible_in", result.least_visible_in);
    json.field("reason", result.reason);
    json.end_object();
  }
  json.end_array();
  json.key("findings");
  json.begin_array();
  for (const GateFinding& finding : diff.gate.findings) {
    const EventDiff& event = diff.report.events[finding.event];
    json.begin_object();
    json.field("condition", finding.condition);
    json.field("event", event.event);
    json.field("unit", word_of(kUnitWords, event.unit));
    json.field("name", finding.whole ? "" : event.rows[finding.row].name);
    json.field("module", finding.whole ? "" : event.rows[finding.row].module);
    json.field("figure", finding.whole ? "whole" : finding.self ? "self" : "total");
    json.field("allowed", finding.allowed);
    json.field("unsure", finding.unsure);
    json.field("text", finding_text(diff.report, diff.conditions, finding));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

// What calls the function that changed most, on both sides; of more files than one the first ones.
NextCommands next_of_diff(const JudgedDiff& diff, const DiffArguments& arguments) {
  NextCommands next;
  if (diff.report.events.empty() || arguments.before.empty() || arguments.after.empty()) {
    return next;
  }
  const EventDiff& event = diff.report.events.front();
  const std::string& before = arguments.before.front();
  const std::string& after = arguments.after.front();
  const bool functions =
      diff.report.by == DiffGrain::kFunction || diff.report.by == DiffGrain::kLine;
  const auto row = std::find_if(event.rows.begin(), event.rows.end(), [](const DiffRow& one) {
    return !one.name.empty() && one.name.front() != '[' && one.name.front() != '-';
  });
  if (functions && row != event.rows.end()) {
    if (row->total.new_value > 0) {
      next.add({"callers", after, row->name});
      next.add({"top", after, "--by=line", "--only=" + row->name});
    }
    if (row->total.old_value > 0) {
      next.add({"callers", before, row->name});
    }
  } else {
    next.add({"top", after});
    next.add({"top", before});
  }
  const std::size_t shown = arguments.rows.value_or(0);
  if (shown != 0 && shown < event.rows.size() && arguments.before.size() == 1 &&
      arguments.after.size() == 1) {
    next.add_longer({"diff", before, after}, shown, event.rows.size() - shown);
  }
  return next;
}

}  // namespace

void append_diff_page(std::string& out, const JudgedDiff& diff) {
  const EventDiff& event = diff.report.events.front();
  JsonText json(out);
  json.begin_object();
  json.field("by", word_of(kGrains, diff.report.by));
  json.field("unit", word_of(kUnitWords, diff.report.unit));
  json.field("event", event.event);
  number_field(json, "level", event.level);
  json.key("notes");
  json.begin_array();
  for (const std::string& sentence : sentences_of(event)) {
    json.value(sentence);
  }
  for (const std::string& sentence : gate_sentences(diff)) {
    json.value(sentence);
  }
  for (const std::string& other : diff.report.events_left_out) {
    json.value("not compared: " + other);
  }
  if (diff.report.by != DiffGrain::kFunction) {
    json.value(fmt::format("the table is of functions: the verdicts on {}s are in diff --json",
                           word_of(kGrains, diff.report.by)));
  }
  for (std::size_t i = 1; i < diff.report.events.size(); ++i) {
    json.value("compared, and not on this page: " + diff.report.events[i].event);
  }
  json.end_array();
  json.key("verdicts");
  json.begin_array();
  constexpr auto kLast = static_cast<std::uint8_t>(DiffVerdict::kDoubted);
  for (std::uint8_t verdict = 0; verdict <= kLast; ++verdict) {
    json.value(verdict_name(static_cast<DiffVerdict>(verdict)));
  }
  json.end_array();
  json.key("wholes");
  json.begin_array();
  const bool costs = event.unit == DiffUnit::kRun;
  json.value(costs ? event.old_side.work : event.old_side.value);
  json.value(costs ? event.new_side.work : event.new_side.value);
  json.end_array();
  if (costs && event.whole) {
    json.field("work", event.work);
    write_figure(json, "whole", *event.whole);
  }
  json.end_object();
}

void append_diff_json(std::string& out, const JudgedDiff& diff, const DiffArguments& arguments) {
  const std::size_t rows = arguments.rows.value_or(0);
  JsonText json(out);
  json.begin_object();
  json.field("by", word_of(kGrains, diff.report.by));
  json.field("unit", word_of(kUnitWords, diff.report.unit));
  json.key("events");
  json.begin_array();
  for (const EventDiff& event : diff.report.events) {
    write_event(json, event, rows);
  }
  json.end_array();
  json.key("events_left_out");
  json.begin_array();
  for (const std::string& event : diff.report.events_left_out) {
    json.value(event);
  }
  json.end_array();
  write_notices(json, diff.notices);
  write_gate(json, diff);
  next_of_diff(diff, arguments).write(json);
  json.end_object();
  out += '\n';
}

}  // namespace stackpack::cli
