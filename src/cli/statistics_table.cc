#include "cli/statistics_table.h"

#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "app/listing/ratios.h"
#include "cli/human_text.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

template <typename... Arguments>
void append(std::string& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

// Raw, deduplicated and compressed: what packing did to the callstacks.
void append_forms(std::string& out, const Statistics& statistics,
                  const app::DerivedFigures& figures) {
  append(out, "{:<26}{:>14}{:>12}{:>10}\n", "", "count", "size", "share");
  const auto row = [&](std::string_view name, std::uint64_t count, std::uint64_t bytes) {
    append(out, "{:<26}{:>14}{:>12}{:>10}\n", name, grouped(count), human_bytes(bytes),
           human_share(bytes, figures.raw_bytes));
  };
  row("raw callstacks", statistics.samples.recorded, figures.raw_bytes);
  row("deduplicated callstacks", statistics.callstacks.unique, figures.unique_bytes);
  row("compressed callstacks", statistics.callstacks.unique, statistics.dag.stored_bytes);
  append(out,
         "\nratio {:.1f}x (deduplication {:.1f}x, compression {:.1f}x); capture to file {:.1f}x\n",
         figures.total_ratio, figures.dedup_ratio, figures.dag_ratio, figures.file_ratio);
}

// Of a selection: what the file is like is another matter.
void append_selection(std::string& out, const Statistics& statistics) {
  append(out, "samples       {} ({} with a recorded callstack, {} ip only, {} none)\n",
         grouped(statistics.samples.total), grouped(statistics.samples.recorded),
         grouped(statistics.samples.ip_only), grouped(statistics.samples.none));
  append(out, "callstacks    {} distinct; deepest {}\n", grouped(statistics.callstacks.unique),
         grouped(statistics.callstacks.max_depth));
  append(out, "frames        {} recorded, {} in distinct callstacks\n",
         grouped(statistics.callstacks.raw_frames), grouped(statistics.callstacks.unique_frames));
}

void append_facts(std::string& out, const app::Measurement& measurement,
                  const app::DerivedFigures& figures) {
  const Statistics& statistics = measurement.statistics;
  const auto fact = [&out](std::string_view name, const std::string& text) {
    append(out, "{:<14}{}\n", name, text);
  };
  out += '\n';
  fact("capture",
       fmt::format("{}, {}", statistics.source_kind, human_bytes(statistics.source_bytes)));
  fact("file", human_bytes(measurement.file_bytes));
  fact("samples",
       fmt::format("{} ({} with a recorded callstack, {} ip only, {} none; {} chains empty)",
                   grouped(statistics.samples.total), grouped(statistics.samples.recorded),
                   grouped(statistics.samples.ip_only), grouped(statistics.samples.none),
                   grouped(statistics.samples.empty_chains)));
  if (statistics.samples.records != statistics.samples.total) {
    fact("", fmt::format("of {} records: a group of counters gives several samples each",
                         grouped(statistics.samples.records)));
  }
  if (statistics.samples.stack_dump_only != 0) {
    fact("", fmt::format("{} with a user stack only as a register and memory dump",
                         grouped(statistics.samples.stack_dump_only)));
  }
  fact("frames", fmt::format("{} recorded, {} in distinct callstacks, {} distinct; deepest {}",
                             grouped(statistics.callstacks.raw_frames),
                             grouped(statistics.callstacks.unique_frames),
                             grouped(statistics.dag.distinct_frames),
                             grouped(statistics.callstacks.max_depth)));
  fact("dag", fmt::format("{} nodes in {} pages; {:.2f} B per node stored, {:.2f} resident",
                          grouped(statistics.dag.nodes), grouped(statistics.dag.pages),
                          figures.bytes_per_node_stored, figures.bytes_per_node_resident));
  fact("sample stream",
       fmt::format("{}, {:.2f} B per sample", human_bytes(statistics.sample_stream_bytes),
                   figures.bytes_per_sample));
  fact("builder",
       fmt::format("{} lookups, {:.2f} probes each; {:.1f} % of frames saved by prefixes",
                   grouped(statistics.builder.lookups), figures.probes_per_lookup,
                   figures.prefix_saved_percent));
  fact("tables", fmt::format("{} processes, {} threads, {} modules", grouped(statistics.processes),
                             grouped(statistics.threads), grouped(statistics.modules)));
}

void append_events(std::string& out, const app::Measurement& measurement) {
  const std::vector<EventCount>& events = measurement.statistics.events;
  out += events.empty() ? "" : "\nevents\n";
  for (std::size_t i = 0; i < events.size(); ++i) {
    append(out, "{:>14}  ", grouped(events[i].samples));
    append_escaped(out, events[i].name);
    if (i < measurement.event_weights.size()) {
      append(out, " (stands for {})", grouped(measurement.event_weights[i]));
    }
    out += '\n';
  }
}

void append_losses(std::string& out, const std::vector<LossCounter>& losses) {
  bool first = true;
  for (const LossCounter& loss : losses) {
    if (loss.count == 0) {
      continue;
    }
    out += first ? "\nlosses and remarks\n" : "";
    first = false;
    append(out, "{:>14}  ", grouped(loss.count));
    append_escaped(out, loss.name);
    if (loss.first_offset != ~std::uint64_t{0}) {
      append(out, " (first at offset {})", loss.first_offset);
    }
    out += '\n';
  }
}

void append_skips(std::string& out, const Statistics& statistics) {
  if (statistics.source_skipped_by_reason.empty()) {
    return;
  }
  append(out, "\nbytes of the capture that were passed over ({} of {})\n",
         human_share(statistics.source_skipped_bytes, statistics.source_bytes),
         human_bytes(statistics.source_bytes));
  for (const SkippedBytesCount& skip : statistics.source_skipped_by_reason) {
    append(out, "{:>14}  ", grouped(skip.bytes));
    append_escaped(out, skip.reason);
    out += '\n';
  }
}

void append_sections(std::string& out, const std::vector<SectionInfo>& sections,
                     std::uint64_t file_bytes) {
  if (sections.empty()) {
    return;
  }
  append(out, "\n{:<26}{:>14}{:>12}{:>10}\n", "section", "unpacked", "stored", "share");
  for (const SectionInfo& section : sections) {
    append(out, "{:<26}{:>14}{:>12}{:>10}\n", section.name, human_bytes(section.raw_bytes),
           human_bytes(section.stored_bytes), human_share(section.stored_bytes, file_bytes));
  }
}

}  // namespace

void append_statistics_table(std::string& out, const app::Measurement& measurement) {
  const app::DerivedFigures figures = app::derive(measurement.statistics, measurement.file_bytes);
  append_escaped(out, measurement.file);
  out += '\n';
  if (measurement.filtered) {
    append_selection(out, measurement.statistics);
    append_events(out, measurement);
    return;
  }
  append_forms(out, measurement.statistics, figures);
  append_facts(out, measurement, figures);
  append_events(out, measurement);
  append_losses(out, measurement.statistics.losses);
  append_skips(out, measurement.statistics);
  append_sections(out, measurement.sections, measurement.file_bytes);
}

void append_overview_header(std::string& out) {
  append(out, "{:>12}{:>12}{:>12}{:>14}{:>12}{:>9}  {}\n", "capture", "file", "samples",
         "callstacks", "distinct", "ratio", "name");
}

void append_overview_line(std::string& out, const app::Measurement& measurement) {
  const Statistics& statistics = measurement.statistics;
  const app::DerivedFigures figures = app::derive(statistics, measurement.file_bytes);
  append(out, "{:>12}{:>12}{:>12}{:>14}{:>12}{:>8.1f}x  ", human_bytes(statistics.source_bytes),
         human_bytes(measurement.file_bytes), grouped(statistics.samples.total),
         grouped(statistics.samples.recorded), grouped(statistics.callstacks.unique),
         figures.total_ratio);
  append_escaped(out, measurement.file);
  out += '\n';
}

}  // namespace stackpack::cli
