// A capture made by hand, as the exporters see it, and helpers that export it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "codec/gzip_codec.h"
#include "export/job/export_job.h"
#include "io/output_file.h"
#include "query/selection/capture_view.h"
#include "support/sample_row.h"
#include "support/test_bytes.h"

namespace stackpack::test {

/// A directory that is gone with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "stackpack-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Tables and samples in plain containers.
struct HandMadeCapture {
  query::CaptureView tables;
  std::vector<std::vector<Frame>> stacks;  // leaf first, by stack id
  std::vector<StoredSample> samples;       // in time order

  StackId add_stack(std::vector<Frame> leaf_first) {
    stacks.push_back(std::move(leaf_first));
    return static_cast<StackId>(stacks.size() - 1);
  }

  StoredSample& add_sample(std::uint64_t time_ns, std::uint32_t pid, std::uint32_t tid,
                           StackId stack) {
    StoredSample& sample = samples.emplace_back();
    sample.time_ns = time_ns;
    sample.pid = pid;
    sample.tid = tid;
    sample.cpu = 0;
    sample.stack = stack;
    sample.origin = stack == kNoStack ? StackOrigin::kNone : StackOrigin::kRecorded;
    return sample;
  }

  void add_module(std::uint32_t pid, std::uint64_t base, std::uint64_t size, std::string path,
                  std::uint64_t start_ns = kUnknownTime, std::uint64_t end_ns = kUnknownTime) {
    Module module;
    module.pid = pid;
    module.base = base;
    module.size = size;
    module.path = std::move(path);
    module.start_ns = start_ns;
    module.end_ns = end_ns;
    tables.modules.push_back(module);
  }

  void add_thread(std::uint32_t pid, std::uint32_t tid, std::string name) {
    if (pid == tid) {
      Process process;
      process.pid = pid;
      process.name = name;
      tables.processes.push_back(process);
    }
    Thread thread;
    thread.pid = pid;
    thread.tid = tid;
    thread.name = std::move(name);
    tables.threads.push_back(thread);
  }

  /// The capture must outlive the view.
  [[nodiscard]] query::CaptureView view() const {
    query::CaptureView view = tables;
    view.stack_count = static_cast<StackId>(stacks.size());
    view.samples = [this](const SampleQuery& query, const auto& visit) {
      for (const StoredSample& sample : samples) {
        if (is_wanted(sample, query) && !visit(std::span(&sample, 1))) {
          break;
        }
      }
      return Status{};
    };
    view.columns = [this](const SampleScan& scan, const auto& visit) {
      for (const StoredSample& sample : samples) {
        if (is_wanted(sample, scan.query) && !visit(columns_of(sample, scan.columns))) {
          break;
        }
      }
      return Status{};
    };
    view.callstacks = [this](std::span<const StackId> ids, const auto& visit) {
      for (std::size_t i = 0; i < ids.size(); ++i) {
        visit(i, stacks.at(ids[i]));
      }
      return Status{};
    };
    return view;
  }

 private:
  static bool is_wanted(const StoredSample& sample, const SampleQuery& query) {
    return sample.time_ns >= query.from_ns && sample.time_ns <= query.to_ns &&
           (!query.pid || *query.pid == sample.pid) && (!query.tid || *query.tid == sample.tid);
  }
};

inline Frame user(std::uint64_t address) {
  return {FrameMode::kUser, address};
}
inline Frame kernel(std::uint64_t address) {
  return {FrameMode::kKernel, address};
}

/// Two processes which map one library at different places, a kernel, four stacks, nine samples.
inline HandMadeCapture small_capture() {
  HandMadeCapture capture;
  capture.tables.events = {{"cycles", true}, {"sched:sched_switch", false}};
  capture.add_thread(10, 10, "alpha");
  capture.add_thread(10, 11, "worker");
  capture.add_thread(20, 20, "beta");
  capture.add_module(10, 0x1000, 0x1000, "/bin/alpha");
  capture.add_module(10, 0x10000, 0x1000, "/lib/libc.so.6");
  capture.add_module(20, 0x1000, 0x1000, "/bin/beta");
  capture.add_module(20, 0x20000, 0x1000, "/lib/libc.so.6");
  capture.add_module(kKernelPid, 0xffff0000, 0x10000, "[kernel.kallsyms]");
  const StackId main_only = capture.add_stack({user(0x1010)});
  const StackId alpha_libc = capture.add_stack({user(0x10020), user(0x1010)});
  const StackId beta_libc = capture.add_stack({user(0x20020), user(0x1010)});
  const StackId in_kernel = capture.add_stack({kernel(0xffff0100), user(0x10020), user(0x1010)});
  capture.add_sample(1000, 10, 10, main_only).weight = 5;
  capture.add_sample(2000, 10, 10, alpha_libc).weight = 6;
  capture.add_sample(2500, 20, 20, main_only).weight = 7;
  capture.add_sample(3000, 10, 11, alpha_libc).weight = 8;
  capture.add_sample(3500, 20, 20, beta_libc).weight = 9;
  capture.add_sample(4000, 10, 10, in_kernel).weight = 10;
  capture.add_sample(4500, 10, 10, in_kernel).event = 1;
  capture.add_sample(5000, 20, 20, kNoStack).weight = 11;
  capture.add_sample(90'000, 10, 10, main_only).weight = 12;
  return capture;
}

/// small_capture() with names: main() of alpha (with helper() inlined at the call) and of beta
/// (made at run time by the CLR), read() of the library, do_read() of the kernel.
inline HandMadeCapture named_capture() {
  HandMadeCapture capture = small_capture();
  Names& names = capture.tables.names;
  enum Text : std::uint32_t { kMain, kRead, kReadLinkage, kDoRead, kHelper, kMainFile, kUtilFile };
  for (const char* text :
       {"main", "read", "__libc_read", "do_read", "helper", "/src/main.c", "/src/util.h"}) {
    names.texts.add(text);
  }
  const auto range = [](FunctionOwner owner, std::uint32_t pid, std::uint32_t module,
                        std::uint64_t start, std::uint64_t size) {
    return CodeRange{owner, pid, kUnknownTime, module, start, size};
  };
  const auto add = [&names](const CodeRange& code, FunctionSource source, Text name) -> Function& {
    Function& function = names.functions.emplace_back();
    static_cast<CodeRange&>(function) = code;
    function.source = source;
    function.name = name;
    return function;
  };
  add(range(FunctionOwner::kProcess, 20, 0, 0x1000, 0x100), FunctionSource::kClr, kMain);
  add(range(FunctionOwner::kKernel, kKernelPid, 0, 0xffff0100, 0x10), FunctionSource::kKsymbol,
      kDoRead);
  Function& main =
      add(range(FunctionOwner::kImage, kKernelPid, 0, 0, 0x20), FunctionSource::kDwarf, kMain);
  main.file = kMainFile;
  main.line = 3;
  add(range(FunctionOwner::kImage, kKernelPid, 1, 0x20, 0x10), FunctionSource::kSymtab, kRead)
      .linkage = kReadLinkage;
  names.inlined.push_back({kNoInline, kHelper, kNoText, kMainFile, 11});
  const auto add_line = [&](std::uint64_t start, std::uint32_t inlined, Text file,
                            std::uint32_t number) {
    CodeLine& line = names.lines.emplace_back();
    static_cast<CodeRange&>(line) = range(FunctionOwner::kImage, kKernelPid, 0, start, 1);
    line.inlined = inlined;
    line.file = file;
    line.line = number;
  };
  add_line(0xf, 0, kUtilFile, 7);
  add_line(0x10, kNoInline, kMainFile, 12);
  return capture;
}

struct Exported {
  Status status;
  ExportReport report;
  std::string content;  // decompressed
};

inline std::string content_of(const std::string& path) {
  const std::vector<std::byte> bytes = read_test_file(path);
  std::vector<std::byte> plain = bytes;
  if (codec::looks_like_gzip(bytes)) {
    plain.clear();
    codec::GzipDecompressor gzip;
    std::span<const std::byte> input = bytes;
    while (!input.empty()) {
      REQUIRE(gzip.decode(input, 1 << 20, plain).has_value());
    }
    CHECK(gzip.at_member_end());
  }
  std::string text;
  for (const std::byte byte : plain) {
    text += static_cast<char>(byte);
  }
  return text;
}

using Encoder = Status (*)(exporting::ExportJob&, exporting::ExportOutput&);

inline ExportFormat format_of(Encoder encoder) {
  return encoder == exporting::write_pprof        ? ExportFormat::kPprof
         : encoder == exporting::write_speedscope ? ExportFormat::kSpeedscope
         : encoder == exporting::write_firefox    ? ExportFormat::kFirefox
         : encoder == exporting::write_otlp       ? ExportFormat::kOtlp
                                                  : ExportFormat::kFolded;
}

inline Exported export_with(Encoder encoder, const HandMadeCapture& capture,
                            const ExportOptions& asked, bool gzip = false) {
  Exported result;
  const query::CaptureView view = capture.view();
  ExportOptions options = asked;
  options.format = format_of(encoder);
  auto selection = query::SampleSelection::create(view, options);
  if (!selection) {
    result.status = selection.error();
    return result;
  }
  const TemporaryDirectory directory;
  exporting::ExportJob job{**selection, options, directory.path(), {}};
  auto file = io::OutputFile::create(directory.file("out"));
  REQUIRE(file.has_value());
  exporting::ExportOutput out(**file, gzip ? exporting::ExportOutput::Coding::kGzip
                                           : exporting::ExportOutput::Coding::kPlain);
  result.status = encoder(job, out);
  if (result.status) {
    REQUIRE(out.finish().has_value());
    REQUIRE((*file)->commit().has_value());
    result.content = content_of(directory.file("out"));
    result.report = job.report;
  }
  return result;
}

/// The lines of `text`, sorted.
inline std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace stackpack::test
