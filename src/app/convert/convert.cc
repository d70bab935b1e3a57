#include "stackpack/convert.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string_view>
#include <thread>

#include "app/convert/capture_input.h"
#include "app/convert/fingerprint.h"
#include "app/convert/packer.h"
#include "app/convert/sink_queue.h"
#include "io/output_file.h"

namespace stackpack {

namespace {

class StageClock {
 public:
  explicit StageClock(std::vector<StageTime>& stages) : stages_(stages) {}

  void finish_stage(std::string_view name) {
    const auto now = std::chrono::steady_clock::now();
    stages_.push_back({std::string(name), std::chrono::duration<double>(now - start_).count()});
    start_ = now;
  }

 private:
  std::vector<StageTime>& stages_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string scratch_directory_for(const std::string& output) {
  return output == "-" ? "/tmp" : io::directory_of(output);
}

unsigned encoders_of(const ConvertOptions& options) {
  constexpr unsigned kMost = 2;  // of more, the thread that feeds them cannot keep busy
  return options.encoders != ConvertOptions::kAutoEncoders
             ? options.encoders
             : std::clamp(std::thread::hardware_concurrency(), 1U, kMost);
}

// One line for each counter that a user should hear of.
std::vector<std::string> warnings_about(const Statistics& statistics) {
  std::vector<std::string> lines;
  for (const LossCounter& loss : statistics.losses) {
    if (loss.kind == LossKind::kNotice || loss.count == 0) {
      continue;
    }
    std::string line = loss.name + ": " + std::to_string(loss.count);
    if (loss.first_offset != kNoOffset) {
      line += " (first at offset " + std::to_string(loss.first_offset) + ")";
    }
    lines.push_back(std::move(line));
  }
  if (statistics.samples.stack_dump_only != 0) {
    lines.push_back("user stacks of " + std::to_string(statistics.samples.stack_dump_only) +
                    " samples exist only as register and memory dumps, which are not unwound");
  }
  return lines;
}

Result<ConvertReport> convert_inputs(const std::vector<std::string>& inputs, bool session,
                                     const std::string& output, const ConvertOptions& options,
                                     ConvertProgress* progress) {
  ConvertReport report;
  StageClock clock(report.stages);
  const std::string scratch = scratch_directory_for(output);
  Result<app::CaptureInput> opened =
      session ? app::CaptureInput::open_session(inputs, options, scratch)
              : app::CaptureInput::open(inputs.front(), options, scratch);
  if (!opened) {
    return opened.error();
  }
  ConvertProgress unwatched;
  ConvertProgress& watched = progress != nullptr ? *progress : unwatched;
  watched.bytes_total = opened->size().value_or(0);

  app::Packer packer({scratch, options.memory_limit, &watched.samples,
                      [&clock](std::string_view stage) { clock.finish_stage(stage); }});
  packer.system().set_redaction(options.redact);
  app::SinkQueue queue(packer);
  const Result<capture::ByteAccount> account =
      opened->read(queue, {&watched.bytes_done, &watched.cancelled});
  const Status packed = queue.finish();
  if (!account) {
    return account.error();
  }
  if (!packed) {
    return packed.error();
  }
  clock.finish_stage("read");

  const Result<std::string> passed = opened->content();
  if (!passed) {
    return passed.error();
  }
  const Result<std::string> content = app::content_of_all(inputs, *passed);
  if (!content) {
    return content.error();
  }

  // Only now: an input of which nothing can be read leaves no trace.
  Result<std::unique_ptr<io::OutputFile>> out = io::OutputFile::create(output);
  if (!out) {
    return out.error();
  }
  Result<Statistics> statistics = packer.write(
      **out, {.level = options.level, .samples = options.samples, .threads = encoders_of(options)},
      {opened->kind(), account->total, app::fingerprint_of(*content, options), *account});
  if (!statistics) {
    return statistics.error();
  }
  if (const Status committed = (*out)->commit(); !committed) {
    return committed.error();
  }
  clock.finish_stage("finish");
  report.stalls = {queue.stalls().source_waited, queue.stalls().sink_waited, packer.stalls().caller,
                   packer.stalls().encoders};

  report.input_bytes = account->total;
  report.output_bytes = (*out)->offset();
  report.statistics = std::move(*statistics);
  report.warnings = warnings_about(report.statistics);
  for (const LossCounter& loss : report.statistics.losses) {
    report.lossy |= loss.kind != LossKind::kNotice && loss.count != 0;
  }
  return report;
}

}  // namespace

Result<ConvertReport> convert(const std::string& input, const std::string& output,
                              const ConvertOptions& options, ConvertProgress* progress) {
  return convert_inputs({input}, false, output, options, progress);
}

Result<ConvertReport> convert_session(const std::vector<std::string>& inputs,
                                      const std::string& output, const ConvertOptions& options,
                                      ConvertProgress* progress) {
  return convert_inputs(inputs, true, output, options, progress);
}

}  // namespace stackpack
