#include "cli/batch_progress.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/console.h"
#include "app/listing/ratios.h"
#include "cli/batch_report.h"
#include "cli/human_text.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

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
