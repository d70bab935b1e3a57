#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "app/analysis/hot_spots.h"
#include "app/console.h"
#include "app/convert/packed_capture.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

using app::HotSpot;
using app::HotSpots;

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

std::string title_of(const HotSpot& row, const std::set<std::string_view>& shared) {
  std::string text;
  if (!row.module.empty() && shared.contains(row.name)) {
    append_escaped(text, row.module);
    text += '!';
  }
  append_escaped(text, row.name);
  if (!row.place.empty()) {
    text += " at ";
    append_escaped(text, row.place);
  }
  return text;
}

// Text of at most `width` characters, cut between characters.
std::string fitted(std::string text, std::size_t width) {
  constexpr std::string_view kCut = "...";
  if (text.size() <= width) {
    return text;
  }
  std::size_t end = width - std::min(width, kCut.size());
  const auto inside = [&text](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80;
  };
  while (end > 0 && inside(end)) {
    --end;
  }
  return text.substr(0, end).append(kCut);
}

std::string bar_of(std::uint64_t part, std::uint64_t whole) {
  const auto width = static_cast<std::size_t>(
      whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole) * kBarWidth + 0.5);
  std::string bar(std::min(width, kBarWidth), '#');
  bar.resize(kBarWidth, ' ');
  return bar;
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  return whole == 0
             ? "-"
             : fmt::format("{:.2f}%", static_cast<double>(part) * 100 / static_cast<double>(whole));
}

void append_table(std::string& out, const HotSpots& spots, const ReportArguments& arguments,
                  const std::optional<HotSpot>& center) {
  const std::uint64_t whole = spots.value;
  const std::set<std::string_view> shared = shared_names(spots);
  out += fmt::format("{} samples", grouped(spots.samples));
  if (!spots.event.empty()) {
    out += " of ";
    append_escaped(out, spots.event);
  }
  if (spots.value != spots.samples) {
    out += fmt::format(", {} in all", grouped(spots.value));
  }
  out += '\n';
  if (center) {
    out += fmt::format("{}: self {} ({}), total {} ({}); {}\n", title_of(*center, shared),
                       grouped(center->self), share_text(center->self, whole),
                       grouped(center->total), share_text(center->total, whole),
                       arguments.kind == ReportKind::kCallers ? "called by" : "calls");
  }
  std::size_t width = 5;
  for (const HotSpot& row : spots.rows) {
    width = std::max({width, grouped(row.self).size(), grouped(row.total).size()});
  }
  out += fmt::format("{:>{}}  {:>7}  {:>{}}  {:>7}  {:<{}}  {}\n", "self", width, "self%", "total",
                     width, "total%", "", kBarWidth, "name");
  // A name that does not fit would take a line of its own on a terminal; elsewhere it is whole.
  constexpr std::size_t kShortestName = 16;
  const std::size_t before_name = 2 * (width + 2) + 2 * (kShareWidth + 2) + kBarWidth + 2;
  const std::size_t columns = app::terminal_columns(app::Stream::kStandardOutput);
  const std::size_t name_width = !app::is_terminal(app::Stream::kStandardOutput)
                                     ? std::string::npos
                                     : std::max(columns, before_name + kShortestName) - before_name;
  std::size_t shown = 0;
  for (const HotSpot& row : spots.rows) {
    if (arguments.rows != 0 && shown++ == arguments.rows) {
      out += fmt::format("... {} more\n", grouped(spots.rows.size() - arguments.rows));
      break;
    }
    out += fmt::format("{:>{}}  {:>7}  {:>{}}  {:>7}  {}  {}\n", grouped(row.self), width,
                       share_text(row.self, whole), grouped(row.total), width,
                       share_text(row.total, whole),
                       bar_of(arguments.by_self ? row.self : row.total, whole),
                       fitted(title_of(row, shared), name_width));
  }
}

void write_row(JsonText& json, const HotSpot& row) {
  json.begin_object();
  json.field("name", row.name);
  if (!row.module.empty()) {
    json.field("module", row.module);
  }
  if (!row.place.empty()) {
    json.field("place", row.place);
  }
  json.field("self", row.self);
  json.field("total", row.total);
  json.end_object();
}

void append_json(std::string& out, const HotSpots& spots, const ReportArguments& arguments,
                 const std::optional<HotSpot>& center) {
  JsonText json(out);
  json.begin_object();
  json.field("samples", spots.samples);
  json.field("weight", spots.value);
  if (!spots.event.empty()) {
    json.field("event", spots.event);
  }
  if (center) {
    json.key("function");
    write_row(json, *center);
  }
  json.key("rows");
  json.begin_array();
  const std::size_t count =
      arguments.rows == 0 ? spots.rows.size() : std::min(arguments.rows, spots.rows.size());
  for (std::size_t i = 0; i < count; ++i) {
    write_row(json, spots.rows[i]);
  }
  json.end_array();
  json.end_object();
  out += '\n';
}

// Adds the figures of one file.
Status count_file(const Reader& reader, const std::string& file, const ReportArguments& arguments,
                  HotSpots& spots, std::optional<HotSpot>& center) {
  if (arguments.kind == ReportKind::kTop) {
    Result<HotSpots> counted = app::hot_spots(reader, arguments.query);
    if (!counted) {
      return counted.error();
    }
    // Rows of sources have numbers of their file: those of two files are not the same source.
    if (arguments.query.by == app::HotSpotKind::kSource && arguments.files.size() > 1) {
      for (HotSpot& row : counted->rows) {
        row.name = file + ": " + row.name;
      }
    }
    spots.add(*counted);
    return {};
  }
  const auto counted =
      app::neighbours(reader, arguments.query, arguments.function,
                      arguments.kind == ReportKind::kCallers ? app::NeighbourSide::kCallers
                                                             : app::NeighbourSide::kCallees);
  if (!counted) {
    return counted.error();
  }
  spots.add(counted->around);
  if (!center) {
    center = counted->center;
  } else {
    center->self += counted->center.self;
    center->total += counted->center.total;
  }
  return {};
}

}  // namespace

int run_report(const ReportArguments& arguments, const Messages& messages) {
  HotSpots spots;
  std::optional<HotSpot> center;
  int exit_code = kExitSuccess;
  bool any = false;
  for (const std::string& file : arguments.files) {
    const Result<app::PackedCapture> opened = app::PackedCapture::open(file, arguments.options);
    const Status counted = opened ? count_file(opened->reader(), file, arguments, spots, center)
                                  : Status(opened.error());
    if (counted) {
      any = true;
    } else {
      messages.error(file, counted.error());
      exit_code = std::max<int>(exit_code, exit_code_of(counted.error()));
    }
  }
  if (!any) {
    return exit_code;
  }
  app::sort_hot_spots(spots.rows, arguments.by_self);
  std::string text;
  if (arguments.json) {
    append_json(text, spots, arguments, center);
  } else {
    append_table(text, spots, arguments, center);
  }
  return std::max(exit_code, print(text, messages));
}

}  // namespace stackpack::cli
