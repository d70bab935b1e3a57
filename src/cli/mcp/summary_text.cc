#include "cli/mcp/summary_text.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/analysis/hot_spots.h"
#include "app/listing/capture_facts.h"
#include "cli/json_text.h"
#include "cli/statistics_json.h"
#include "cli/text_escape.h"
#include "core/sort_rows.h"
#include "core/weight_scale.h"
#include "stackpack/names.h"

namespace stackpack::cli {

namespace {

void write_recorded(JsonText& json, const app::CaptureFacts& facts) {
  json.key("recording");
  json.begin_object();
  json.field("host", facts.host);
  json.field("command", facts.command);
  if (facts.times) {
    json.field("from_ns", facts.times->from_ns);
    json.field("to_ns", facts.times->to_ns);
  }
  json.end_object();
}

void write_event_counts(JsonText& json, std::vector<EventCount> events, std::size_t rows) {
  core::sort_rows(events,
                  [](const EventCount& a, const EventCount& b) { return a.samples > b.samples; });
  json.key("events");
  json.begin_array();
  for (std::size_t i = 0; i < std::min(rows, events.size()); ++i) {
    json.begin_object();
    json.field("name", events[i].name);
    json.field("samples", events[i].samples);
    json.end_object();
  }
  json.end_array();
  json.field("event_rows_left_out", events.size() - std::min(rows, events.size()));
}

// Only what was lost: a summary is short. What the file has no place for is in `stats`.
void write_losses_found(JsonText& json, const std::vector<LossCounter>& losses, std::size_t rows) {
  json.key("losses");
  json.begin_object();
  std::size_t shown = 0;
  std::size_t found = 0;
  for (const LossCounter& loss : losses) {
    const bool lost = loss.count != 0 && loss.name.find("_not_kept.") == std::string::npos;
    found += lost ? 1 : 0;
    if (lost && shown < rows) {
      json.field(loss.name, loss.count);
      ++shown;
    }
  }
  json.end_object();
  json.field("loss_rows_left_out", found - shown);
}

// The first rows of a report.
void write_rows(JsonText& json, std::string_view key, const std::optional<app::HotSpots>& spots,
                std::size_t rows) {
  if (!spots) {
    return;
  }
  json.key(key);
  json.begin_object();
  const auto [unit, decimals] = core::parse_unit(spots->unit);
  json.field("unit", unit);
  json.field("weight", core::ScaledNumber{spots->value, decimals});
  json.field("event", spots->event);
  json.key("rows");
  json.begin_array();
  for (std::size_t i = 0; i < std::min(rows, spots->rows.size()); ++i) {
    json.begin_object();
    json.field("name", spots->rows[i].name);
    json.field("self", core::ScaledNumber{spots->rows[i].self, decimals});
    json.end_object();
  }
  json.end_array();
  json.field("rows_left_out", spots->rows.size() - std::min(rows, spots->rows.size()));
  json.end_object();
}

void write_next(JsonText& json, const std::vector<std::string>& commands) {
  json.key("next");
  json.begin_array();
  for (const std::string& command : commands) {
    json.value(command);
  }
  json.end_array();
}

// As a part of a link: what is no letter, digit or mark of RFC 3986, section 2.3, in hex.
std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char letter : text) {
    const bool plain = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
                       (letter >= 'A' && letter <= 'Z') || letter == '-' || letter == '.' ||
                       letter == '_' || letter == '~';
    if (plain) {
      encoded += letter;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
  }
  return encoded;
}

}  // namespace

Result<SummaryFigures> summary_figures(const Reader& reader) {
  SummaryFigures figures;
  Result<app::CaptureFacts> facts = app::capture_facts(reader, {}, false);
  if (!facts) {
    return facts.error();
  }
  figures.facts = std::move(*facts);
  const Result<Names> names = reader.names();
  if (!names) {
    return names.error();
  }
  figures.functions = names->functions.size();
  return figures;
}

void append_summary(std::string& out, const Reader& reader, const SummaryFigures& figures,
                    const SummaryForm& form) {
  const Statistics& statistics = reader.statistics();
  JsonText json(out);
  json.begin_object();
  json.field("file", form.file);
  json.field("file_bytes", reader.file_bytes());
  json.key("source");
  json.begin_object();
  json.field("kind", statistics.source_kind);
  json.end_object();
  json.key("samples");
  json.begin_object();
  json.field("total", statistics.samples.total);
  json.end_object();
  json.key("callstacks");
  json.begin_object();
  json.field("unique", statistics.callstacks.unique);
  json.end_object();
  json.field("processes", statistics.processes);
  json.field("threads", statistics.threads);
  json.field("modules", statistics.modules);
  json.field("functions_with_names", figures.functions);
  write_event_counts(json, statistics.events, form.rows);
  write_losses_found(json, statistics.losses, form.rows);
  write_recorded(json, figures.facts);
  const std::string file = shell_word(form.file);
  std::vector<std::string> next{"top " + file};
  if (form.whole) {
    write_rows(json, "by_module", figures.by_module, form.rows);
    write_rows(json, "by_process_self", figures.by_process, form.rows);
    next.push_back("tree " + file);
  } else {
    next.push_back("summary " + file);
  }
  write_next(json, next);
  json.end_object();
  out += '\n';
}

void append_offered_files(std::string& out, const app::OfferedFiles& offered, std::size_t rows) {
  const std::size_t shown = std::min(rows, offered.files.size());
  JsonText json(out);
  json.begin_object();
  json.key("files");
  json.begin_array();
  for (std::size_t i = 0; i < shown; ++i) {
    json.begin_object();
    json.field("file", offered.files[i].path);
    json.field("bytes", offered.files[i].bytes);
    if (offered.files[i].is_capture) {
      json.field("packed", false);
    }
    json.end_object();
  }
  json.end_array();
  json.field("all_listed", offered.all && shown == offered.files.size());
  json.end_object();
  out += '\n';
}

void append_page_link(std::string& out, const std::string& file, const std::string& function) {
  const std::string fragment =
      function.empty() ? "" : "#view=functions&search=" + percent_encoded(function);
  JsonText json(out);
  json.begin_object();
  json.field("open", fmt::format("stackpack view {}", shell_word(file)));
  json.field("write",
             fmt::format("stackpack export {} --format html -o page.html", shell_word(file)));
  json.field("fragment", fragment);
  json.field("link", "page.html" + fragment);
  json.end_object();
  out += '\n';
}

}  // namespace stackpack::cli
