// For each pair of formats, that neither takes the other's files: whole conversions.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/convert.h"
#include "stackpack/export.h"
#include "stackpack/reader.h"
#include "support/source_folder.h"
#include "support/temporary_folder.h"

using namespace stackpack;

namespace {

// Which format the files of testdata are of, by their folder and the end of their names.
struct NamedFormat {
  const char* folder;
  const char* ending;
  const char* format;
};

constexpr NamedFormat kNamed[] = {
    {"", ".perf.data", "perf"},         {"unwind", ".data", "perf"},
    {"", ".script.txt", "perf-script"}, {"", ".etl", "etl"},
    {"", ".nettrace", "nettrace"},      {"", ".netperf", "nettrace"},
    {"jfr", ".jfr.gz", "jfr"},          {"pprof", ".pb.gz", "pprof"},
    {"pprof", ".txt", "pprof"},         {"foreign", ".pprof", "pprof"},
    {"foreign", ".raw", "folded"},      {"foreign", ".speedscope", "speedscope"},
    {"stacks", ".txt", "stacks"},       {"stacks", ".folded", "folded"},
    {"v8", ".cpuprofile", "v8"},        {"v8", ".heapprofile", "v8"},
    {"v8", ".json.gz", "v8"},
};

struct KnownFile {
  std::string path;
  std::string format;
};

std::vector<KnownFile> recorded_files() {
  std::vector<KnownFile> files;
  for (const NamedFormat& named : kNamed) {
    const std::size_t before = files.size();
    const std::filesystem::path folder =
        std::filesystem::path(test::source_folder()) / "testdata" / named.folder;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.is_regular_file() && entry.path().string().ends_with(named.ending)) {
        files.push_back({entry.path().string(), named.format});
      }
    }
    CAPTURE(named.ending);
    CHECK(files.size() != before);
  }
  return files;
}

// What our own exports make of a recording.
std::vector<KnownFile> exported_files(const test::ScratchDirectory& directory) {
  constexpr std::pair<ExportFormat, const char*> kExports[] = {
      {ExportFormat::kFolded, "folded"},   {ExportFormat::kPprof, "pprof"},
      {ExportFormat::kOtlp, "otlp"},       {ExportFormat::kSpeedscope, "speedscope"},
      {ExportFormat::kFirefox, "firefox"}, {ExportFormat::kCpuprofile, "v8"},
  };
  const std::string packed = directory.file("recording.spk");
  REQUIRE(convert(test::source_folder() + "/testdata/file.perf.data", packed, {}, nullptr));
  const auto reader = Reader::open(packed);
  REQUIRE(reader.has_value());
  std::vector<KnownFile> files;
  for (const auto& [kind, format] : kExports) {
    ExportOptions options;
    options.format = kind;
    files.push_back({directory.file(std::string("exported.") + format), format});
    REQUIRE(export_capture(**reader, files.back().path, options).has_value());
  }
  return files;
}

Result<std::string> converted_as(const KnownFile& file, const std::string& format,
                                 const std::string& output) {
  ConvertOptions options;
  options.format = format;
  const auto report = convert(file.path, output, options, nullptr);
  return report ? Result<std::string>(report->statistics.source_kind) : report.error();
}

}  // namespace

TEST_CASE("format pairs: a file is converted as its format and as no other") {
  const test::ScratchDirectory directory;
  std::vector<KnownFile> files = recorded_files();
  for (KnownFile& file : exported_files(directory)) {
    files.push_back(std::move(file));
  }
  const std::string output = directory.file("converted.spk");
  for (const KnownFile& file : files) {
    CAPTURE(file.path);
    const auto chosen = converted_as(file, {}, output);
    CHECK((chosen ? *chosen : std::string(chosen.error().what)) == file.format);
    for (const std::string& format : capture_format_names()) {
      CAPTURE(format);
      const auto kind = converted_as(file, format, output);
      CHECK(kind.has_value() == (format == file.format));
    }
  }
  for (const std::string& format : capture_format_names()) {
    CAPTURE(format);
    CHECK(std::any_of(files.begin(), files.end(),
                      [&](const KnownFile& file) { return file.format == format; }));
  }
}
