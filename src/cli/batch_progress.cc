#include "cli/batch_progress.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/console.h"
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

constexpr double kMegabyte = 1e6;

// What fits a line of the terminal; a longer one would wrap and could not be removed again.
std::string fitted(std::string line) {
  const std::size_t columns = app::terminal_columns(app::Stream::kStandardError);
  if (line.size() >= columns && columns > 1) {
    line.resize(columns - 1);
  }
  return line + '\n';
}

std::string rate(std::uint64_t bytes, double seconds) {
  return seconds <= 0
             ? std::string("-")
             : fmt::format("{:.0f} MB/s", static_cast<double>(bytes) / kMegabyte / seconds);
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  constexpr double kHundred = 100;
  return fmt::format("{:3.0f}%", kHundred * std::min(1.0, app::ratio(part, whole)));
}

std::string reading_text(const app::BatchRunning& running) {
  const std::string speed = rate(running.bytes_done, running.seconds);
  if (running.bytes_total == 0) {
    return fmt::format("reading  {:>9}", speed);
  }
  std::string text =
      fmt::format("reading {} {:>9}", percent(running.bytes_done, running.bytes_total), speed);
  // Before a hundredth is done the guess would be nonsense.
  constexpr double kEnoughToGuess = 0.01;
  const double part = std::min(1.0, app::ratio(running.bytes_done, running.bytes_total));
  if (part > kEnoughToGuess && part < 1) {
    text += fmt::format(", {} left to read", human_seconds(running.seconds * (1 - part) / part));
  }
  return text;
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

std::string progress_text(const app::BatchRunning& running) {
  switch (running.stage) {
    case ConvertStage::kReading:
      return reading_text(running);
    case ConvertStage::kCallstacks:
      return "writing callstacks";
    case ConvertStage::kSamples:
      return "writing samples " + percent(running.samples_written, running.samples);
    case ConvertStage::kFinishing:
      return "finishing";
  }
  return "";
}

BatchProgress::BatchProgress(const app::Batch& batch, bool shown) : batch_(batch), shown_(shown) {}

void BatchProgress::count(std::size_t job) {
  const app::BatchResult& result = batch_.result(job);
  ++ended_;
  ended_bytes_ += result.report.input_bytes;
  ended_samples_ += result.report.statistics.samples.total;
}

std::string BatchProgress::line_of(const app::BatchRunning& running) const {
  std::string name;
  append_escaped(name, input_name(batch_.jobs()[running.job]));
  return fmt::format("{}, {} samples  {}", progress_text(running), grouped(running.samples), name);
}

std::string BatchProgress::total_line() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  std::uint64_t bytes = ended_bytes_;
  std::uint64_t samples = ended_samples_;
  for (const app::BatchRunning& running : batch_.running()) {
    bytes += running.bytes_done;
    samples += running.samples;
  }
  return fmt::format("{} of {} done, {}, {}, {} samples, {}", ended_, batch_.jobs().size(),
                     human_bytes(bytes), rate(bytes, seconds), grouped(samples),
                     human_seconds(seconds));
}

void BatchProgress::draw() {
  constexpr std::chrono::milliseconds kPause{200};
  const Clock::time_point now = Clock::now();
  // Short work shows nothing: the first picture comes after one pause.
  if (!shown_ || now - std::max(drawn_, begin_) < kPause) {
    return;
  }
  drawn_ = now;
  std::string text;
  std::size_t lines = 0;
  for (const app::BatchRunning& running : batch_.running()) {
    text += fitted(line_of(running));
    ++lines;
  }
  if (batch_.jobs().size() > 1) {
    text += fitted(total_line());
    ++lines;
  }
  clear();
  app::write_standard_error(text);
  lines_ = lines;
}

void BatchProgress::clear() {
  if (lines_ == 0) {
    return;
  }
  // Up to the first of our lines, then erase to the end of the screen.
  app::write_standard_error(fmt::format("\x1b[{}F\x1b[J", lines_));
  lines_ = 0;
}

}  // namespace stackpack::cli
