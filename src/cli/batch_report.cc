#include "cli/batch_report.h"

#include <fmt/format.h>

#include "app/listing/ratios.h"
#include "cli/human_text.h"
#include "cli/messages.h"
#include "cli/next_commands.h"
#include "cli/statistics_json.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

std::string_view outcome_name(const app::BatchResult& result) {
  switch (result.outcome) {
    case app::BatchOutcome::kWaiting:
      return "not begun";
    case app::BatchOutcome::kConverted:
      return "converted";
    case app::BatchOutcome::kSkipped:
      return "skipped";
    case app::BatchOutcome::kFailed:
      return result.error.code == ErrorCode::kCancelled ? "interrupted" : "failed";
  }
  return "?";
}

void write_error(JsonText& json, const app::BatchResult& result) {
  json.key("error");
  json.begin_object();
  json.field("text", message(result.error));
  if (result.error.offset != kNoOffset) {
    json.field("offset", result.error.offset);
  }
  json.end_object();
}

// What it cost to find the callstacks that are alike.
void write_builder(JsonText& json, const Statistics& statistics,
                   const app::DerivedFigures& figures) {
  json.key("builder");
  json.begin_object();
  json.field("lookups", statistics.builder.lookups);
  json.field("probes_per_lookup", figures.probes_per_lookup);
  json.field("prefix_saved_percent", figures.prefix_saved_percent);
  json.field("map_bytes", statistics.builder.map_bytes);
  json.field("segments", statistics.builder.segments);
  json.end_object();
}

void write_report(JsonText& json, const ConvertReport& report) {
  const Statistics& statistics = report.statistics;
  const app::DerivedFigures figures = app::derive(statistics, report.output_bytes);
  json.field("input_bytes", report.input_bytes);
  json.field("output_bytes", report.output_bytes);
  json.field("kind", statistics.source_kind);
  json.field("samples", statistics.samples.total);
  json.field("recorded", statistics.samples.recorded);
  json.field("callstacks", statistics.callstacks.unique);
  write_ratios(json, figures);
  write_builder(json, statistics, figures);
  json.field("lossy", report.lossy);
  json.key("losses");
  write_losses(json, statistics.losses);
  json.key("warnings");
  json.begin_array();
  for (const std::string& warning : report.warnings) {
    json.value(warning);
  }
  json.end_array();
}

}  // namespace

std::string input_name(const app::BatchJob& job) {
  if (job.session.size() > 1) {
    return fmt::format("{} and {} more", job.input, job.session.size() - 1);
  }
  return job.member.empty() ? job.input : job.input + ':' + job.member;
}

void write_conversion(JsonText& json, const app::BatchJob& job, const app::BatchResult& result) {
  json.begin_object();
  json.field("input", job.input);
  if (job.session.size() > 1) {
    json.key("inputs");
    json.begin_array();
    for (const std::string& input : job.session) {
      json.value(input);
    }
    json.end_array();
  }
  if (!job.member.empty()) {
    json.field("member", job.member);
  }
  json.field("output", job.output);
  json.field("result", outcome_name(result));
  json.field("seconds", result.seconds);
  if (result.outcome == app::BatchOutcome::kConverted) {
    write_report(json, result.report);
    if (result.report.statistics.samples.total != 0) {
      next_of_file(job.output).write(json);
    }
  } else if (result.outcome == app::BatchOutcome::kFailed) {
    write_error(json, result);
  }
  json.end_object();
}

std::string conversion_line(const app::BatchJob& job, const app::BatchResult& result) {
  std::string line;
  append_escaped(line, input_name(job));
  if (result.outcome == app::BatchOutcome::kSkipped) {
    line += ": up to date, skipped";
    return line;
  }
  const ConvertReport& report = result.report;
  line += " -> ";
  append_escaped(line, job.output);
  line += fmt::format(": {} to {} ({}), {} samples, {} callstacks, {}",
                      human_bytes(report.input_bytes), human_bytes(report.output_bytes),
                      human_ratio(app::ratio(report.input_bytes, report.output_bytes)),
                      grouped(report.statistics.samples.total),
                      grouped(report.statistics.callstacks.unique), human_seconds(result.seconds));
  return line;
}

}  // namespace stackpack::cli
