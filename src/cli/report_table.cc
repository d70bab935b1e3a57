#include "cli/report_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/listing/function_titles.h"
#include "cli/event_note.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/measure_text.h"
#include "cli/name_column.h"
#include "cli/next_commands.h"
#include "cli/text_escape.h"
#include "core/weight_scale.h"

namespace stackpack::cli {

namespace {

using app::HotSpot;
using app::HotSpots;
using core::ScaledNumber;

constexpr std::size_t kBarWidth = 20;
constexpr std::size_t kShareWidth = 7;

// Names that rows of different modules have.
std::set<std::string_view> shared_names(const HotSpots& spots) {
  std::map<std::string_view, std::string_view> modules;
  std::set<std::string_view> shared;
  for (const HotSpot& row : spots.rows) {
    if (modules.try_emplace(row.name, row.module).first->second != row.module) {
      shared.insert(row.name);
    }
  }
  return shared;
}

// Names of rows on one line each. Rows that are no functions have names of another kind.
std::vector<std::string> report_titles(std::span<const HotSpot> rows,
                                       const ReportArguments& arguments,
                                       const std::set<std::string_view>& shared,
                                       std::size_t width) {
  const app::HotSpotKind by = arguments.query.by;
  const bool functions = arguments.kind != ReportKind::kTop || by == app::HotSpotKind::kFunction ||
                         by == app::HotSpotKind::kLine;
  std::vector<std::array<std::string, 3>> escaped(rows.size());
  std::vector<app::FunctionTitle> titles;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto& [name, module, place] = escaped[i];
    append_escaped(name, rows[i].name);
    append_escaped(place, rows[i].place);
    if (shared.contains(rows[i].name)) {
      append_escaped(module, rows[i].module);
    }
    titles.push_back({name, module, place});
  }
  const app::FunctionNames names = names_or_default(arguments.names);
  return app::function_titles(titles, functions ? names : app::FunctionNames::kFull, width);
}

std::string bar_of(std::uint64_t part, std::uint64_t whole, std::size_t room) {
  const auto width =
      static_cast<std::size_t>(whole == 0 ? 0
                                          : static_cast<double>(part) / static_cast<double>(whole) *
                                                    static_cast<double>(room) +
                                                0.5);
  return std::string(std::min(width, room), '#');
}

// Widths of the columns behind the shares. Outside of a terminal names may be of any length, and
// there are no bars, which only eyes read.
struct ReportLayout {
  std::size_t number = 5;
  std::size_t name = app::kAnyWidth;
  std::size_t bar = 0;
};

ReportLayout report_layout(std::span<const HotSpot> rows, const MeasureScale& scale) {
  constexpr std::size_t kLeastName = 16;
  constexpr std::size_t kLeastBar = 8;
  ReportLayout layout;
  layout.number = std::max(layout.number, std::string_view("total ").size() + scale.unit().size());
  for (const HotSpot& row : rows) {
    layout.number =
        std::max({layout.number, scale.text(row.self).size(), scale.text(row.total).size()});
  }
  if (const std::optional<std::size_t> columns = output_columns()) {
    const std::size_t before = 2 * (layout.number + 2) + 2 * (kShareWidth + 2);
    const std::size_t bar = std::clamp(*columns / 10, kLeastBar, kBarWidth);
    const bool has_bar = *columns >= before + 2 * kLeastName + 2 + bar;
    layout.bar = has_bar ? bar : 0;
    const std::size_t others = before + (has_bar ? bar + 2 : 0);
    layout.name = std::max(*columns, others + kLeastName) - others;
  }
  return layout;
}

// A function's name in a line that has `others` more characters and does not wrap.
std::string name_before(const HotSpot& row, const ReportArguments& arguments,
                        const std::set<std::string_view>& shared, std::size_t others) {
  constexpr std::size_t kLeastName = 16;
  const std::size_t columns = output_columns().value_or(app::kAnyWidth);
  const std::size_t width =
      columns == app::kAnyWidth ? columns : std::max(columns + 1, others + kLeastName) - others;
  return report_titles(std::span(&row, 1), arguments, shared, width).front();
}

// `of cpu-clock`; what is one under another name, and several, are listed.
void append_events(std::string& out, const HotSpots& spots) {
  constexpr std::size_t kMostParts = 4;
  const bool same =
      spots.parts.size() < 2 && (spots.parts.empty() || spots.parts.front() == spots.event);
  if (!spots.event.empty()) {
    out += " of ";
    append_escaped(out, spots.event);
  }
  if (same) {
    return;
  }
  out += spots.event.empty() ? " of " : " (";
  for (std::size_t i = 0; i < std::min(spots.parts.size(), kMostParts); ++i) {
    out += i == 0 ? "" : ", ";
    append_escaped(out, spots.parts[i]);
  }
  if (spots.parts.size() > kMostParts) {
    out += fmt::format(" and {} more", spots.parts.size() - kMostParts);
  }
  out += spots.event.empty() ? "" : ")";
}

void append_indented(std::string& out, const HotSpot& row, std::string_view indent,
                     const ReportArguments& arguments, const MeasureScale& scale,
                     std::uint64_t whole, const std::set<std::string_view>& shared) {
  const std::string figures =
      fmt::format(": self {} {} ({}), total {} {} ({})\n", scale.text(row.self), scale.unit(),
                  share_text(row.self, whole), scale.text(row.total), scale.unit(),
                  share_text(row.total, whole));
  out += indent;
  out += name_before(row, arguments, shared, indent.size() + figures.size()) + figures;
}

void append_center(std::string& out, const ReportCenter& center, const ReportArguments& arguments,
                   const MeasureScale& scale, std::uint64_t whole,
                   const std::set<std::string_view>& shared) {
  constexpr std::size_t kMostFunctions = 10;
  if (!center.whole) {
    return;
  }
  const auto line = [&](const HotSpot& row, std::string_view indent) {
    append_indented(out, row, indent, arguments, scale, whole, shared);
  };
  line(*center.whole, "");
  if (center.functions.size() > 1) {
    for (std::size_t i = 0; i < std::min(center.functions.size(), kMostFunctions); ++i) {
      line(center.functions[i], "  ");
    }
    if (center.functions.size() > kMostFunctions) {
      out += fmt::format("  ... {} more functions\n",
                         grouped(center.functions.size() - kMostFunctions));
    }
  }
  out += arguments.kind == ReportKind::kCallers ? "called by\n" : "calls\n";
}

// Digits of all values behind the point.
unsigned decimals_of(const HotSpots& spots) {
  return core::parse_unit(spots.unit).decimals;
}

// Rows as JSON: `name` is how a row is shown, the ids are of its whole name.
class SpotWriter {
 public:
  SpotWriter(JsonText& json, const ReportArguments& arguments, const HotSpots& about)
      : json_(json),
        decimals_(decimals_of(about)),
        by_(arguments.kind == ReportKind::kTop ? arguments.query.by : app::HotSpotKind::kFunction),
        one_file_(arguments.files.size() == 1) {}

  void write_fields(const HotSpot& row, const std::string& name) {
    json_.field("name", name);
    write_ids(row);
    if (!row.module.empty()) {
      json_.field("module", row.module);
    }
    if (!row.place.empty()) {
      json_.field("place", row.place);
    }
    json_.field("self", ScaledNumber{row.self, decimals_});
    json_.field("total", ScaledNumber{row.total, decimals_});
  }

  void write(const HotSpot& row, const std::string& name) {
    json_.begin_object();
    write_fields(row, name);
    json_.end_object();
  }

 private:
  void write_ids(const HotSpot& row) {
    const bool is_function = row.name != "[root]" && row.name != "[self]";
    if (by_ == app::HotSpotKind::kFunction && is_function) {
      json_.field("id", app::function_id(row.name, row.module));
    } else if (by_ == app::HotSpotKind::kLine) {
      json_.field("function_id", app::function_id(row.name, row.module));
    } else if (by_ == app::HotSpotKind::kCallstack) {
      json_.field("id", app::callstack_id(row.name));
      if (one_file_ && row.stack) {
        json_.field("stack", *row.stack);
      }
    }
  }

  JsonText& json_;
  unsigned decimals_;
  app::HotSpotKind by_;
  bool one_file_;
};

// What rows are called. Names are whole where programs read them, unless somebody wants them
// short.
std::vector<std::string> json_names(std::span<const HotSpot> rows,
                                    const ReportArguments& arguments) {
  std::vector<app::FunctionTitle> titles;
  for (const HotSpot& row : rows) {
    titles.push_back({row.name, "", ""});
  }
  if (arguments.names == app::FunctionNames::kShort) {
    return app::function_titles(titles, app::FunctionNames::kShort);
  }
  std::vector<std::string> names;
  for (const HotSpot& row : rows) {
    names.push_back(row.name);
  }
  return names;
}

void write_texts(JsonText& json, std::string_view key, const std::vector<std::string>& names) {
  json.key(key);
  json.begin_array();
  for (const std::string& name : names) {
    json.value(name);
  }
  json.end_array();
}

}  // namespace

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  return whole == 0
             ? "-"
             : fmt::format("{:.2f}%", static_cast<double>(part) * 100 / static_cast<double>(whole));
}

void append_report_head(std::string& out, const HotSpots& spots) {
  // Of an imported profile, a sample stands for many.
  const bool plain = core::parse_unit(spots.unit).unit == "samples";
  out += plain && decimals_of(spots) != 0 ? measured_text(spots.value, spots.unit)
                                          : counted(plain ? spots.value : spots.samples, "sample");
  if (!plain || spots.event != core::parse_unit(spots.unit).unit) {
    append_events(out, spots);
  }
  if (!plain) {
    out += ", " + measured_text(spots.value, spots.unit);
  }
  out += '\n';
  for (const std::string& sentence :
       {left_out_sentence(spots.events_left_out, "--event NAME, --all-events"),
        idle_sentence(spots.idle)}) {
    out += sentence.empty() ? "" : sentence + '\n';
  }
}

void append_report_about(JsonText& json, const HotSpots& spots) {
  json.field("samples", spots.samples);
  json.field("weight", ScaledNumber{spots.value, decimals_of(spots)});
  json.field("unit", core::parse_unit(spots.unit).unit);
  if (!spots.event.empty()) {
    json.field("event", spots.event);
  }
  write_texts(json, "events", spots.parts);
  write_left_out(json, spots.events_left_out, spots.idle);
  write_notices(json, spots.notices);
}

void append_function_line(std::string& out, const HotSpot& row, const ReportArguments& arguments,
                          const MeasureScale& scale, std::uint64_t whole) {
  append_indented(out, row, "", arguments, scale, whole, {});
}

void append_report_table(std::string& out, const HotSpots& spots, const ReportArguments& arguments,
                         const ReportCenter& center) {
  const std::uint64_t whole = spots.value;
  const std::set<std::string_view> shared = shared_names(spots);
  const MeasureScale scale(spots.unit, whole);
  append_report_head(out, spots);
  append_center(out, center, arguments, scale, whole, shared);
  const std::size_t count =
      arguments.rows == 0 ? spots.rows.size() : std::min(arguments.rows, spots.rows.size());
  const std::span<const HotSpot> rows = std::span(spots.rows).first(count);
  const ReportLayout layout = report_layout(rows, scale);
  const std::vector<std::string> titles = report_titles(rows, arguments, shared, layout.name);
  out += fmt::format("{:>7}  {:>7}  {:>{}}  {:>{}}  name\n", "self%", "total%",
                     "self " + scale.unit(), layout.number, "total " + scale.unit(), layout.number);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const HotSpot& row = rows[i];
    out += fmt::format("{:>7}  {:>7}  {:>{}}  {:>{}}  ", share_text(row.self, whole),
                       share_text(row.total, whole), scale.text(row.self), layout.number,
                       scale.text(row.total), layout.number);
    append_name_and_bar(out, titles[i], layout.name,
                        bar_of(arguments.by_self ? row.self : row.total, whole, layout.bar));
  }
  if (const std::size_t more = spots.rows.size() - count + spots.rows_left_out; more != 0) {
    out += fmt::format("... {} more\n", grouped(more));
  }
}

void append_tree_table(std::string& out, const app::CallTree& tree,
                       const ReportArguments& arguments) {
  constexpr std::size_t kDeepest = 30;  // levels that are shown by blanks
  constexpr std::size_t kLeastName = 16;
  append_report_head(out, tree.about);
  std::size_t deepest = 0;
  std::vector<HotSpot> spots;
  for (const app::CallTreeRow& row : tree.rows) {
    deepest = std::max(deepest, std::min(row.depth, kDeepest));
    spots.push_back(row.spot);
  }
  std::size_t width = app::kAnyWidth;
  if (const std::optional<std::size_t> columns = output_columns()) {
    const std::size_t others = 2 * (kShareWidth + 2) + deepest;
    width = std::max(*columns, others + kLeastName) - others;
  }
  HotSpots names;
  names.rows = spots;
  const std::vector<std::string> titles =
      report_titles(spots, arguments, shared_names(names), width);
  out += fmt::format("{:>7}  {:>7}  name\n", "total%", "self%");
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const app::CallTreeRow& row = tree.rows[i];
    out += fmt::format("{:>7}  {:>7}  ", share_text(row.spot.total, tree.about.value),
                       share_text(row.spot.self, tree.about.value));
    out.append(std::min(row.depth, kDeepest), ' ');
    out += titles[i] + '\n';
  }
  if (tree.left_out != 0) {
    out += fmt::format("... {} smaller\n", grouped(tree.left_out));
  }
}

void append_tree_json(std::string& out, const app::CallTree& tree,
                      const ReportArguments& arguments) {
  std::vector<HotSpot> rows;
  for (const app::CallTreeRow& row : tree.rows) {
    rows.push_back(row.spot);
  }
  const std::vector<std::string> names = json_names(rows, arguments);
  JsonText json(out);
  SpotWriter spot(json, arguments, tree.about);
  json.begin_object();
  append_report_about(json, tree.about);
  json.key("rows");
  json.begin_array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    json.begin_object();
    json.field("depth", tree.rows[i].depth);
    spot.write_fields(rows[i], names[i]);
    json.end_object();
  }
  json.end_array();
  json.field("rows_left_out", tree.left_out);
  next_commands(arguments, rows, tree.left_out, arguments.names == app::FunctionNames::kShort)
      .write(json);
  json.end_object();
  out += '\n';
}

void append_report_json(std::string& out, const HotSpots& spots, const ReportArguments& arguments,
                        const ReportCenter& center) {
  const std::size_t count =
      arguments.rows == 0 ? spots.rows.size() : std::min(arguments.rows, spots.rows.size());
  const std::size_t left_out = spots.rows.size() - count + spots.rows_left_out;
  const std::vector<HotSpot> rows(spots.rows.begin(),
                                  spots.rows.begin() + static_cast<std::ptrdiff_t>(count));
  const std::vector<std::string> names = json_names(rows, arguments);
  JsonText json(out);
  SpotWriter spot(json, arguments, spots);
  json.begin_object();
  append_report_about(json, spots);
  if (center.whole) {
    json.key("function");
    // Of several functions it is all of them together, and has the name that was asked for.
    const bool is_one = center.functions.size() == 1;
    if (is_one) {
      spot.write(*center.whole, center.whole->name);
    } else {
      json.begin_object();
      json.field("name", center.whole->name);
      json.field("self", ScaledNumber{center.whole->self, decimals_of(spots)});
      json.field("total", ScaledNumber{center.whole->total, decimals_of(spots)});
      json.end_object();
    }
    json.key("functions");
    json.begin_array();
    for (const HotSpot& row : center.functions) {
      spot.write(row, row.name);
    }
    json.end_array();
  }
  json.key("rows");
  json.begin_array();
  for (std::size_t i = 0; i < count; ++i) {
    spot.write(rows[i], names[i]);
  }
  json.end_array();
  json.field("rows_left_out", left_out);
  next_commands(arguments, rows, left_out, arguments.names == app::FunctionNames::kShort)
      .write(json);
  json.end_object();
  out += '\n';
}

}  // namespace stackpack::cli
