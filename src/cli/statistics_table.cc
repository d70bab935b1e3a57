#include "cli/statistics_table.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "app/listing/ratios.h"
#include "cli/human_text.h"
#include "cli/measure_text.h"
#include "cli/text_escape.h"
#include "core/loss_families.h"

namespace stackpack::cli {

namespace {

constexpr double kNsPerSecond = 1e9;

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
  append(out, "\nratio {} (deduplication {}, compression {}); capture to file {}\n",
         human_ratio(figures.total_ratio), human_ratio(figures.dedup_ratio),
         human_ratio(figures.dag_ratio), human_ratio(figures.file_ratio));
}

// Of a selection: what the file is like is another matter.
void append_selection(std::string& out, const Statistics& statistics) {
  append(out,
         "samples       {} ({} with a recorded callstack, {} with an instruction pointer alone, "
         "{} with neither)\n",
         grouped(statistics.samples.total), grouped(statistics.samples.recorded),
         grouped(statistics.samples.ip_only), grouped(statistics.samples.none));
  append(out, "callstacks    {} distinct; deepest {}\n", grouped(statistics.callstacks.unique),
         grouped(statistics.callstacks.max_depth));
  append(out, "frames        {} recorded, {} in distinct callstacks\n",
         grouped(statistics.callstacks.raw_frames), grouped(statistics.callstacks.unique_frames));
}

// A line `name  text`.
void append_fact(std::string& out, std::string_view name, std::string_view text) {
  append(out, "{:<14}{}\n", name, text);
}

// The same for a text of the capture, which may be missing.
void append_text_fact(std::string& out, std::string_view name, std::string_view text) {
  if (!text.empty()) {
    append(out, "{:<14}", name);
    append_escaped(out, text);
    out += '\n';
  }
}

void append_origin(std::string& out, const app::Measurement& measurement) {
  const Statistics& statistics = measurement.statistics;
  append_fact(out, "capture",
              fmt::format("{}, {}", statistics.source_kind, human_bytes(statistics.source_bytes)));
  if (measurement.facts.sources != 0) {
    append_fact(
        out, "merged from",
        fmt::format("{} sources; {} distinct recorded callstacks, {} before the merge",
                    grouped(measurement.facts.sources), grouped(statistics.callstacks.unique),
                    grouped(measurement.facts.callstacks_before)));
  }
  append_text_fact(out, "host", measurement.facts.host);
  append_text_fact(out, "recorded by", measurement.facts.command);
  if (const auto& times = measurement.facts.times; times) {
    const auto duration = static_cast<double>(times->to_ns - times->from_ns);
    append_fact(
        out, "duration",
        fmt::format("{}, {} to {} of the capture's clock", human_seconds(duration / kNsPerSecond),
                    seconds_text(times->from_ns), seconds_text(times->to_ns)));
  }
  if (measurement.facts.time_resolution_ns != 0) {
    append_fact(
        out, "times",
        "of samples are rounded down to " + time_step_text(measurement.facts.time_resolution_ns));
  }
  append_fact(out, "file", human_bytes(measurement.file_bytes));
}

void append_sample_counts(std::string& out, const Statistics& statistics) {
  const auto& samples = statistics.samples;
  append_fact(
      out, "samples",
      fmt::format("{} ({} with a recorded callstack, {} with an instruction pointer alone, "
                  "{} with neither; {} recorded callstacks without frames)",
                  grouped(samples.total), grouped(samples.recorded), grouped(samples.ip_only),
                  grouped(samples.none), grouped(samples.empty_chains)));
  if (samples.records != samples.total) {
    append_fact(out, "",
                fmt::format("of {} records: a group of counters gives several samples each",
                            grouped(samples.records)));
  }
  if (samples.unwound != 0) {
    append_fact(
        out, "",
        fmt::format("{} with user frames that were unwound from dumps", grouped(samples.unwound)));
  }
  if (samples.stack_dump_only != 0) {
    append_fact(out, "",
                fmt::format("{} with a dump of registers and stack memory instead of a callstack",
                            grouped(samples.stack_dump_only)));
  }
}

void append_facts(std::string& out, const app::Measurement& measurement,
                  const app::DerivedFigures& figures) {
  const Statistics& statistics = measurement.statistics;
  out += '\n';
  append_origin(out, measurement);
  append_sample_counts(out, statistics);
  append_fact(out, "frames",
              fmt::format("{} recorded, {} in distinct callstacks, {} distinct; deepest {}",
                          grouped(statistics.callstacks.raw_frames),
                          grouped(statistics.callstacks.unique_frames),
                          grouped(statistics.dag.distinct_frames),
                          grouped(statistics.callstacks.max_depth)));
  const std::string resident =
      measurement.resident_bytes
          ? fmt::format("{:.2f} B in memory",
                        app::ratio(*measurement.resident_bytes, statistics.dag.nodes))
          : std::string("a page is damaged: see verify");
  append_fact(out, "callstacks",
              fmt::format("a tree of {} nodes in {} pages; {:.2f} B per node in the file, {}",
                          grouped(statistics.dag.nodes), grouped(statistics.dag.pages),
                          figures.bytes_per_node_stored, resident));
  append_fact(out, "sample data",
              fmt::format("{}, {:.2f} B per sample", human_bytes(statistics.sample_stream_bytes),
                          figures.bytes_per_sample));
  append_fact(out, "system",
              fmt::format("{} processes, {} threads, {} modules", grouped(statistics.processes),
                          grouped(statistics.threads), grouped(statistics.modules)));
}

void append_events(std::string& out, const app::Measurement& measurement) {
  const std::vector<EventCount>& events = measurement.statistics.events;
  out += events.empty() ? "" : "\nevents\n";
  for (std::size_t i = 0; i < events.size(); ++i) {
    append(out, "{:>14}  ", grouped(events[i].samples));
    append_escaped(out, events[i].name);
    if (i < measurement.event_weights.size()) {
      append(out, " (stands for {})", grouped_decimal(measurement.event_weights[i]));
    }
    out += '\n';
  }
}

void append_processes(std::string& out, const app::CaptureFacts& facts) {
  constexpr std::size_t kShown = 20;
  if (!facts.by_process) {
    return;
  }
  const std::vector<app::ProcessSamples>& rows = *facts.by_process;
  out += "\nsamples by process\n";
  for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i) {
    const app::ProcessSamples& row = rows[i];
    append(out, "{:>14}  {:>10}  ", grouped(row.samples),
           row.pid == kUnknownId ? "-" : std::to_string(row.pid));
    append_escaped(out, row.name.empty() ? std::string_view("-") : row.name);
    out += '\n';
  }
  if (rows.size() > kShown) {
    append(out, "{:>14}  others: --json lists all\n", grouped(rows.size() - kShown));
  }
}

// What to fetch, for callstacks that reach their root.
void append_missing_images(std::string& out, const std::vector<app::MissingImage>& rows) {
  constexpr std::size_t kShown = 20;
  out += rows.empty() ? "" : "\nimages missing for unwinding (samples, build id, reason, path)\n";
  for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i) {
    const app::MissingImage& row = rows[i];
    append(out, "{:>14}  {:<40}  {:<11}  ", grouped(row.samples),
           row.build_id.empty() ? std::string("-") : row.build_id, row.reason);
    append_escaped(out, row.path);
    out += '\n';
  }
  if (rows.size() > kShown) {
    append(out, "{:>14}  others: --json lists all\n", grouped(rows.size() - kShown));
  }
}

void append_losses(std::string& out, const std::vector<LossCounter>& losses) {
  bool first = true;
  for (const LossCounter& loss : losses) {
    if (loss.count == 0 || !core::not_kept_name(loss.name).family.empty()) {
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

// A line for each family: nearly every capture has fields and records of which no use is made.
void append_not_kept(std::string& out, const std::vector<LossCounter>& losses) {
  std::string_view family;
  for (const LossCounter& loss : losses) {
    const core::NotKeptName name = core::not_kept_name(loss.name);
    if (loss.count == 0 || name.family.empty()) {
      continue;
    }
    if (family.empty()) {
      out += "\nin the capture and not kept (dump --losses says where)";
    }
    if (name.family != family) {
      std::string words(name.family);
      std::replace(words.begin(), words.end(), '_', ' ');
      append(out, "\n  {:<16}", words);
      family = name.family;
    } else {
      out += ", ";
    }
    append_escaped(out, name.member);
    append(out, " {}", grouped(loss.count));
  }
  out += family.empty() ? "" : "\n";
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
    append_processes(out, measurement.facts);
    return;
  }
  append_forms(out, measurement.statistics, figures);
  append_facts(out, measurement, figures);
  append_events(out, measurement);
  append_processes(out, measurement.facts);
  append_missing_images(out, measurement.facts.missing_images);
  append_losses(out, measurement.statistics.losses);
  append_not_kept(out, measurement.statistics.losses);
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
  append(out, "{:>12}{:>12}{:>12}{:>14}{:>12}{:>9}  ", human_bytes(statistics.source_bytes),
         human_bytes(measurement.file_bytes), grouped(statistics.samples.total),
         grouped(statistics.samples.recorded), grouped(statistics.callstacks.unique),
         human_ratio(figures.total_ratio));
  append_escaped(out, measurement.file);
  out += '\n';
}

}  // namespace stackpack::cli
