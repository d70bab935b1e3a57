// Every exporter over a capture whose tables, samples and stacks are made of the input: it ends
// well, and with little memory it counts the same samples, weights and callstacks as with much.
#include <cstdlib>
#include <filesystem>
#include <span>

#include <unistd.h>

#include "bytes/byte_cursor.h"
#include "export/job/export_job.h"
#include "io/directories.h"
#include "io/output_file.h"
#include "support/sample_row.h"

namespace stackpack::fuzz {

namespace {

using query::CaptureView;

struct MadeCapture {
  CaptureView view;
  std::vector<std::vector<Frame>> stacks;
  std::vector<StoredSample> samples;
};

std::string text_from(bytes::ByteCursor& in) {
  const std::size_t size = in.read<std::uint8_t>() % 8;
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += static_cast<char>(in.read<std::uint8_t>());
  }
  return text;
}

std::uint64_t time_from(bytes::ByteCursor& in) {
  const auto byte = in.read<std::uint8_t>();
  return byte == 255 ? kUnknownTime : byte;
}

std::uint32_t id_from(bytes::ByteCursor& in) {
  const auto byte = in.read<std::uint8_t>();
  return byte == 255 ? kUnknownId : byte % 4;
}

void read_tables(bytes::ByteCursor& in, CaptureView& view) {
  for (unsigned i = in.read<std::uint8_t>() % 3 + 1; i > 0; --i) {
    view.events.push_back({text_from(in), in.read<std::uint8_t>() % 2 == 0});
  }
  for (unsigned i = in.read<std::uint8_t>() % 4; i > 0; --i) {
    Process process;
    process.pid = id_from(in);
    process.parent_pid = id_from(in);
    process.start_ns = time_from(in);
    process.inherits_mappings = in.read<std::uint8_t>() % 2 == 0;
    process.name = text_from(in);
    view.processes.push_back(process);
    Thread thread;
    thread.pid = id_from(in);
    thread.tid = id_from(in);
    thread.start_ns = time_from(in);
    thread.name = text_from(in);
    view.threads.push_back(thread);
  }
  for (unsigned i = in.read<std::uint8_t>() % 8; i > 0; --i) {
    Module module;
    module.pid = id_from(in);
    module.base = in.read<std::uint8_t>();
    module.size = in.read<std::uint8_t>() % 32;
    module.file_offset = in.read<std::uint8_t>();
    module.start_ns = time_from(in);
    module.end_ns = time_from(in);
    module.path = text_from(in);
    view.modules.push_back(module);
  }
  if (in.read<std::uint8_t>() % 2 == 0) {
    view.metadata = {{"frames.synthetic", "1"}, {"samples.aggregated", "1"}};
  }
}

void read_samples(bytes::ByteCursor& in, MadeCapture& capture) {
  for (unsigned i = in.read<std::uint8_t>() % 16; i > 0; --i) {
    std::vector<Frame>& frames = capture.stacks.emplace_back();
    for (unsigned depth = in.read<std::uint8_t>() % 6 + 1; depth > 0; --depth) {
      const auto mode = static_cast<FrameMode>(in.read<std::uint8_t>() % kFrameModeCount);
      frames.push_back({mode, in.read<std::uint8_t>()});
    }
  }
  std::uint64_t time = 0;
  while (in.remaining() >= 6 && capture.samples.size() < 200) {
    StoredSample sample;
    time += in.read<std::uint8_t>() % 16U;
    sample.time_ns = time;
    sample.pid = id_from(in);
    sample.tid = id_from(in);
    sample.event = in.read<std::uint8_t>() % 4;  // sometimes not there
    sample.weight = in.read<std::uint8_t>();
    const auto stack = in.read<std::uint8_t>();
    sample.stack = stack == 255 ? kNoStack : stack % 18;  // sometimes not there
    capture.samples.push_back(sample);
  }
}

void connect(MadeCapture& capture) {
  capture.view.stack_count = static_cast<StackId>(capture.stacks.size());
  capture.view.samples = [&capture](const SampleQuery&, const auto& visit) {
    visit(std::span<const StoredSample>(capture.samples));
    return Status{};
  };
  capture.view.columns = [&capture](const SampleScan& scan, const auto& visit) {
    for (const StoredSample& sample : capture.samples) {
      if (!visit(test::columns_of(sample, scan.columns))) {
        break;
      }
    }
    return Status{};
  };
  capture.view.callstacks = [&capture](std::span<const StackId> ids, const auto& visit) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      visit(i, capture.stacks.at(ids[i]));
    }
    return Status{};
  };
}

struct Outcome {
  bool done = false;
  std::uint64_t samples = 0;
  std::uint64_t weight = 0;
  std::uint64_t stacks = 0;
  bool operator==(const Outcome&) const = default;
};

Outcome run(const CaptureView& view, ExportOptions options, std::uint64_t memory_limit) {
  options.memory_limit = memory_limit;
  auto selection = query::SampleSelection::create(view, options);
  if (!selection) {
    return {};
  }
  exporting::ExportJob job{**selection, options, io::temporary_directory(), {}};
  auto file = io::OutputFile::create(io::temporary_directory() + "/stackpack-fuzz-" +
                                     std::to_string(::getpid()));
  if (!file) {
    return {};
  }
  exporting::ExportOutput out(**file, exporting::ExportOutput::Coding::kPlain);
  Status status;
  switch (options.format) {
    case ExportFormat::kFolded:
      status = exporting::write_folded(job, out);
      break;
    case ExportFormat::kPprof:
      status = exporting::write_pprof(job, out);
      break;
    case ExportFormat::kSpeedscope:
      status = exporting::write_speedscope(job, out);
      break;
    case ExportFormat::kFirefox:
      status = exporting::write_firefox(job, out);
      break;
    case ExportFormat::kHtml:
      status = exporting::write_html(job, out);
      break;
    case ExportFormat::kCpuprofile:
      status = exporting::write_cpuprofile(job, out);
      break;
    default:
      status = exporting::write_otlp(job, out);
      break;
  }
  return {status.has_value(), job.report.samples, job.report.weight, job.report.stacks};
}

}  // namespace

void export_all(std::span<const std::byte> data) {
  bytes::ByteCursor in(data, 0);
  ExportOptions options;
  const auto choice = in.read<std::uint8_t>();
  options.format = static_cast<ExportFormat>(choice % 5);
  options.speedscope.aggregate = (choice & 0x10) != 0;
  options.otlp.stack_tree = (choice & 0x20) != 0;
  options.folded.root = static_cast<FoldedRoot>((choice >> 6) % 3);
  MadeCapture capture;
  read_tables(in, capture.view);
  read_samples(in, capture);
  connect(capture);
  for (const ExportFormat format :
       {options.format, ExportFormat::kHtml, ExportFormat::kCpuprofile}) {
    options.format = format;
    const Outcome much = run(capture.view, options, std::uint64_t{1} << 24);
    const Outcome little = run(capture.view, options, 0);
    if (much.done != little.done || (much.done && !(much == little))) {
      std::abort();
    }
  }
}

}  // namespace stackpack::fuzz
