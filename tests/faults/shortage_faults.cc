// Refuses each request for memory in turn, and each thread, to every operation on small inputs:
//
//   shortage_faults TESTDATA [OPERATION...]
//
// An operation then ends with kResource, or std::bad_alloc where it returns no Result, and leaves
// what was there before; or it did without, and its output is as ever. Nothing else may happen.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "app/batch/batch.h"
#include "app/convert/measure.h"
#include "faults/shortage_allocator.h"
#include "stackpack/convert.h"
#include "stackpack/export.h"
#include "stackpack/reader.h"
#include "support/temporary_folder.h"

using namespace stackpack;
using test::Shortage;

namespace {

constexpr const char* kOld = "what was there before";

struct Operation {
  std::string name;
  std::function<Status(const std::string& output)> run;
};

// What the program is doing, for the signal handler.
char doing[256];

void end_by_abort(int /*signal*/) {
  const auto ignored = ::write(STDOUT_FILENO, doing, std::strlen(doing));
  static_cast<void>(ignored);
  constexpr char kText[] = ": aborted\n";
  const auto also_ignored = ::write(STDOUT_FILENO, kText, sizeof kText - 1);
  static_cast<void>(also_ignored);
  ::_exit(1);
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

template <typename T>
Status status_of(const Result<T>& result) {
  return result ? Status{} : Status(result.error());
}

Operation convert_operation(const std::string& testdata, const std::string& name,
                            const ConvertOptions& options = {}) {
  const std::string input = testdata + '/' + name;
  return {"convert " + name + (options.memory_limit != 0 ? ", limited" : ""),
          [input, options = options](const std::string& output) mutable {
            options.force = true;
            return status_of(convert(input, output, options, nullptr));
          }};
}

Operation export_operation(const std::string& packed, const char* name, ExportFormat format) {
  return {std::string("export ") + name, [packed, format](const std::string& output) {
            const auto reader = Reader::open(packed);
            if (!reader) {
              return Status(reader.error());
            }
            ExportOptions options;
            options.format = format;
            options.force = true;
            return status_of(export_capture(**reader, output, options));
          }};
}

std::vector<Operation> all_operations(const std::string& testdata, const std::string& packed) {
  std::vector<Operation> all;
  for (const char* name :
       {"tiny.perf.data", "tiny-pipe.perf.data", "tiny-zstd.perf.data", "threads.perf.data",
        "sampled.x64.etl", "sampled.x64.huffman.etl", "sampled.x64.keys.xpress.etl"}) {
    all.push_back(convert_operation(testdata, name));
  }
  ConvertOptions limited;
  limited.memory_limit = std::uint64_t{16} << 20;
  all.push_back(convert_operation(testdata, "file.perf.data", limited));
  ConvertOptions without_samples;
  without_samples.samples = false;
  all.push_back(convert_operation(testdata, "group.perf.data", without_samples));
  all.push_back({"convert a batch", [testdata](const std::string& output) {
                   app::BatchOptions options;
                   options.workers = 2;
                   options.convert.force = true;
                   app::Batch batch({{testdata + "/tiny.perf.data", "", output}}, options);
                   if (const Status started = batch.start(); !started) {
                     return started;
                   }
                   while (!batch.done()) {
                     batch.wait(std::chrono::milliseconds(100));
                   }
                   const app::BatchResult& result = batch.result(0);
                   return result.outcome == app::BatchOutcome::kConverted ? Status{}
                                                                          : Status(result.error);
                 }});
  all.push_back({"stats of a capture", [testdata](const std::string&) {
                   return status_of(
                       app::measure(testdata + "/tiny.perf.data", {}, {}, false, nullptr));
                 }});
  all.push_back({"stats", [packed](const std::string&) {
                   return status_of(app::measure(packed, {}, {}, false, nullptr));
                 }});
  all.push_back({"verify", [packed](const std::string&) {
                   const auto reader = Reader::open(packed);
                   return reader ? (*reader)->verify() : Status(reader.error());
                 }});
  all.push_back(export_operation(packed, "folded", ExportFormat::kFolded));
  all.push_back(export_operation(packed, "pprof", ExportFormat::kPprof));
  all.push_back(export_operation(packed, "speedscope", ExportFormat::kSpeedscope));
  all.push_back(export_operation(packed, "firefox", ExportFormat::kFirefox));
  all.push_back(export_operation(packed, "otlp", ExportFormat::kOtlp));
  all.push_back(export_operation(packed, "perfetto", ExportFormat::kPerfetto));
  all.push_back(export_operation(packed, "cpuprofile", ExportFormat::kCpuprofile));
  return all;
}

struct Outcome {
  Status status;
  std::uint64_t requests = 0;
};

Outcome run(const Operation& operation, const std::string& output, Shortage what, std::uint64_t nth,
            bool stays) {
  Outcome outcome;
  std::snprintf(doing, sizeof doing, "%s: %s %llu%s", operation.name.c_str(),
                what == Shortage::kMemory ? "memory" : "thread",
                static_cast<unsigned long long>(nth), stays ? " and later" : "");
  test::begin_shortage(what, nth, stays);
  try {
    outcome.status = operation.run(output);
  } catch (const std::bad_alloc&) {
    outcome.status = Error{ErrorCode::kResource, kNoOffset, "std::bad_alloc"};
  }
  outcome.requests = test::end_shortage();
  return outcome;
}

// Figures of one operation under one kind of shortage.
struct Tally {
  std::uint64_t refused = 0;
  std::uint64_t failed = 0;
  std::uint64_t problems = 0;
};

void tell(const std::string& problem) {
  std::printf("FAILED %s: %s\n", doing, problem.c_str());
}

Tally refuse_all(const Operation& operation, const test::ScratchDirectory& folder, Shortage what,
                 bool stays) {
  constexpr std::uint64_t kMostProblems = 5;
  Tally tally;
  const std::string output = folder.file("out");
  write(output, kOld);
  const Outcome perfect = run(operation, output, what, 0, false);
  const std::string expected = content_of(output);
  if (!perfect.status) {
    tell(std::string(perfect.status.error().what));
    tally.problems = 1;
    return tally;
  }
  for (std::uint64_t nth = 1; tally.problems < kMostProblems; ++nth) {
    write(output, kOld);
    const Outcome outcome = run(operation, output, what, nth, stays);
    if (outcome.requests < nth) {
      break;  // all were granted
    }
    ++tally.refused;
    std::string problem;
    const std::string left = content_of(output);
    if (outcome.status) {
      problem = left != expected ? "success, but another output" : "";
    } else {
      ++tally.failed;
      const Error& error = outcome.status.error();
      // The system may say itself that it has no memory, to a call of ours.
      if (error.code != ErrorCode::kResource && error.os_error != ENOMEM) {
        problem = "error code " + std::to_string(static_cast<int>(error.code)) + ": " +
                  std::string(error.what);
      } else if (left != kOld) {
        problem = "the old output is gone";
      }
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder.file(""))) {
      if (entry.path().filename() != "out") {
        problem = "left behind: " + entry.path().filename().string();
        std::filesystem::remove_all(entry.path());
      }
    }
    if (!problem.empty()) {
      tell(problem);
      ++tally.problems;
    }
  }
  return tally;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    return 1;
  }
  std::signal(SIGABRT, end_by_abort);
  std::signal(SIGSEGV, end_by_abort);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string testdata = argv[1];
  const std::vector<std::string> wanted(argv + 2, argv + argc);
  const test::ScratchDirectory folder;
  const test::ScratchDirectory inputs;
  ::setenv("TMPDIR", folder.file("").c_str(), 1);
  const std::string packed = inputs.file("packed.spk");
  if (!convert(testdata + "/tiny.perf.data", packed, {}, nullptr)) {
    std::printf("FAILED to convert\n");
    return 1;
  }
  std::uint64_t problems = 0;
  std::uint64_t failed = 0;
  for (const Operation& operation : all_operations(testdata, packed)) {
    if (!wanted.empty() &&
        std::find(wanted.begin(), wanted.end(), operation.name) == wanted.end()) {
      continue;
    }
    for (const bool stays : {false, true}) {
      const Tally memory = refuse_all(operation, folder, Shortage::kMemory, stays);
      const Tally threads = refuse_all(operation, folder, Shortage::kThreads, stays);
      std::printf(
          "%s%s: %llu requests for memory refused, %llu errors; %llu threads, %llu errors\n",
          operation.name.c_str(), stays ? ", for good" : "",
          static_cast<unsigned long long>(memory.refused),
          static_cast<unsigned long long>(memory.failed),
          static_cast<unsigned long long>(threads.refused),
          static_cast<unsigned long long>(threads.failed));
      if (memory.failed == 0) {
        std::printf("FAILED %s: nothing went wrong\n", operation.name.c_str());
        ++problems;
      }
      problems += memory.problems + threads.problems;
      failed += memory.failed;
    }
  }
  std::printf("%llu errors, %llu problems\n", static_cast<unsigned long long>(failed),
              static_cast<unsigned long long>(problems));
  return problems != 0 || failed == 0 ? 1 : 0;
}
