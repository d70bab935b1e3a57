#include "cli/statistics_json.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "app/listing/ratios.h"
#include "cli/next_commands.h"
#include "core/figures.h"

namespace stackpack::cli {

namespace {

// The plain figures of a group, as the list has them.
void write_figures(JsonText& json, const Statistics& statistics, std::string_view group) {
  for (const core::Figure& figure : core::kFigures) {
    if (figure.group == group) {
      json.field(figure.name, figure.of(statistics));
    }
  }
}

void write_source(JsonText& json, const Statistics& statistics) {
  json.key("source");
  json.begin_object();
  json.field("kind", statistics.source_kind);
  json.field("bytes", statistics.source_bytes);
  json.key("bytes_by_kind");
  json.begin_object();
  json.field("parsed", statistics.source_parsed_bytes);
  json.field("padding", statistics.source_padding_bytes);
  json.field("skipped", statistics.source_skipped_bytes);
  json.end_object();
  json.key("skipped_by_reason");
  json.begin_object();
  for (const SkippedBytesCount& skip : statistics.source_skipped_by_reason) {
    json.field(skip.reason, skip.bytes);
  }
  json.end_object();
  json.end_object();
}

void write_samples(JsonText& json, const app::Measurement& measurement) {
  const Statistics& statistics = measurement.statistics;
  json.key("samples");
  json.begin_object();
  write_figures(json, statistics, "samples");
  if (measurement.event_weights.size() == 1) {
    json.field("weight", measurement.event_weights.front());
  }
  json.end_object();
}

void write_callstacks(JsonText& json, const Statistics& statistics,
                      const app::DerivedFigures& figures) {
  json.key("callstacks");
  json.begin_object();
  write_figures(json, statistics, "callstacks");
  json.field("raw_bytes", figures.raw_bytes);
  json.field("unique_bytes", figures.unique_bytes);
  json.end_object();
}

void write_dag(JsonText& json, const app::Measurement& measurement,
               const app::DerivedFigures& figures) {
  const Statistics& statistics = measurement.statistics;
  json.key("dag");
  json.begin_object();
  write_figures(json, statistics, "dag");
  if (measurement.resident_bytes) {
    json.field("resident_bytes", *measurement.resident_bytes);
    json.field("bytes_per_node_resident",
               app::ratio(*measurement.resident_bytes, statistics.dag.nodes));
  }
  json.field("bytes_per_node_stored", figures.bytes_per_node_stored);
  json.end_object();

  json.key("sample_stream");
  json.begin_object();
  write_figures(json, statistics, "sample_stream");
  json.field("bytes_per_sample", figures.bytes_per_sample);
  json.end_object();
}

void write_sections(JsonText& json, const std::vector<SectionInfo>& sections) {
  json.key("sections");
  json.begin_array();
  for (const SectionInfo& section : sections) {
    json.begin_object();
    json.field("name", section.name);
    json.field("raw_bytes", section.raw_bytes);
    json.field("stored_bytes", section.stored_bytes);
    json.end_object();
  }
  json.end_array();
}

void write_recording(JsonText& json, const app::CaptureFacts& facts) {
  json.key("recording");
  json.begin_object();
  json.field("host", facts.host);
  json.field("command", facts.command);
  if (facts.times) {
    json.field("from_ns", facts.times->from_ns);
    json.field("to_ns", facts.times->to_ns);
  }
  if (facts.time_resolution_ns != 0) {
    json.field("time_resolution_ns", facts.time_resolution_ns);
  }
  json.end_object();
}

void write_processes(JsonText& json, const std::vector<app::ProcessSamples>& rows) {
  json.key("by_process");
  json.begin_array();
  for (const app::ProcessSamples& row : rows) {
    json.begin_object();
    if (row.pid != kUnknownId) {
      json.field("pid", row.pid);
    }
    json.field("name", row.name);
    json.field("samples", row.samples);
    json.end_object();
  }
  json.end_array();
}

void write_missing_images(JsonText& json, const std::vector<app::MissingImage>& rows) {
  json.key("missing_images");
  json.begin_array();
  for (const app::MissingImage& row : rows) {
    json.begin_object();
    json.field("path", row.path);
    json.field("build_id", row.build_id);
    json.field("samples", row.samples);
    json.field("reason", row.reason);
    json.end_object();
  }
  json.end_array();
}

void write_events(JsonText& json, const app::Measurement& measurement) {
  const std::vector<EventCount>& events = measurement.statistics.events;
  json.key("events");
  json.begin_array();
  for (std::size_t i = 0; i < events.size(); ++i) {
    json.begin_object();
    json.field("name", events[i].name);
    json.field("samples", events[i].samples);
    if (i < measurement.event_weights.size()) {
      json.field("weight", measurement.event_weights[i]);
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_ratios(JsonText& json, const app::DerivedFigures& figures) {
  json.key("ratios");
  json.begin_object();
  json.field("dedup", figures.dedup_ratio);
  json.field("dag", figures.dag_ratio);
  json.field("total", figures.total_ratio);
  json.field("file", figures.file_ratio);
  json.end_object();
}

void write_losses(JsonText& json, const std::vector<LossCounter>& losses) {
  constexpr std::array<std::string_view, 3> kAlways = {
      "recorder_lost_events", "recorder_lost_samples", "recorder_lost_buffers"};
  json.begin_object();
  for (const std::string_view name : kAlways) {
    const bool known = std::any_of(losses.begin(), losses.end(),
                                   [name](const LossCounter& loss) { return loss.name == name; });
    if (!known) {
      json.field(name, std::uint64_t{0});
    }
  }
  for (const LossCounter& loss : losses) {
    json.field(loss.name, loss.count);
  }
  json.end_object();
}

void write_statistics(JsonText& json, const app::Measurement& measurement) {
  const Statistics& statistics = measurement.statistics;
  const app::DerivedFigures figures = app::derive(statistics, measurement.file_bytes);
  json.begin_object();
  json.field("file", measurement.file);
  json.field("file_bytes", measurement.file_bytes);
  if (measurement.filtered) {  // what is left out is about the file, not about these samples
    json.key("filtered");
    json.value(true);
    write_samples(json, measurement);
    write_callstacks(json, statistics, figures);
    write_events(json, measurement);
    json.end_object();
    return;
  }
  write_source(json, statistics);
  write_samples(json, measurement);
  write_callstacks(json, statistics, figures);
  write_dag(json, measurement, figures);
  write_sections(json, measurement.sections);
  write_ratios(json, figures);
  write_figures(json, statistics, "");
  write_events(json, measurement);
  json.key("losses");
  write_losses(json, statistics.losses);
  write_recording(json, measurement.facts);
  if (statistics.samples.unwound != 0) {
    write_missing_images(json, measurement.facts.missing_images);
  }
  if (measurement.facts.sources != 0) {
    json.key("merge");
    json.begin_object();
    json.field("sources", measurement.facts.sources);
    json.field("callstacks_before", measurement.facts.callstacks_before);
    json.field("callstacks_after", measurement.statistics.callstacks.unique);
    json.end_object();
  }
  if (measurement.facts.by_process) {
    write_processes(json, *measurement.facts.by_process);
  }
  if (measurement.file != kTotalName) {
    NextCommands next;
    next.add({"top", measurement.file});
    next.add({"top", measurement.file, "--by=module"});
    next.add({"top", measurement.file, "--tree"});
    next.write(json);
  }
  json.end_object();
}

}  // namespace stackpack::cli
