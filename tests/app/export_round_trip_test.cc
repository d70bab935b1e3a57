// Folded text and profiles, packed and exported again; a request the file cannot meet.
#include <filesystem>

#include <doctest/doctest.h>

#include "export/hand_made_capture.h"
#include "stackpack/convert.h"
#include "stackpack/export.h"
#include "stackpack/reader.h"

using namespace stackpack;

namespace {

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::unique_ptr<Reader> packed(const test::TemporaryDirectory& directory, const std::string& input,
                               const ConvertOptions& options = {}) {
  const std::string output = input + ".spk";
  const auto report = convert(directory.file(input), directory.file(output), options, nullptr);
  REQUIRE(report.has_value());
  auto reader = Reader::open(directory.file(output));
  REQUIRE(reader.has_value());
  REQUIRE((*reader)->verify().has_value());
  return std::move(*reader);
}

std::string exported(const Reader& reader, const test::TemporaryDirectory& directory,
                     ExportFormat format, const std::string& name) {
  ExportOptions options;
  options.format = format;
  const auto report = export_capture(reader, directory.file(name), options);
  REQUIRE(report.has_value());
  CHECK(report->output_bytes == std::filesystem::file_size(directory.file(name)));
  return test::content_of(directory.file(name));
}

const char* const kFolded =
    "alpha-10;libc.so.6+0x20;[kernel.kallsyms]+0x100 7\n"
    "main;std::vector<int, std::allocator<int> >::push_back(int&&) 18446744073709551615\n"
    "main 3\n"
    "main;work;with;;an;empty;name 1\n"
    "[no callstack] 12\n"
    "0x7ffd0010;lib.so+0x1_[k] 5\n";

}  // namespace

TEST_CASE("round trip: folded text, packed and exported, is the same text sorted") {
  const test::TemporaryDirectory directory;
  write_file(directory.file("a.folded"), kFolded);
  for (const bool samples : {true, false}) {
    CAPTURE(samples);
    ConvertOptions options;
    options.samples = samples;
    const auto reader = packed(directory, "a.folded", options);
    CHECK(reader->statistics().source_kind == "folded");
    const std::string again = exported(*reader, directory, ExportFormat::kFolded, "b.folded");
    CHECK(test::sorted_lines(again) == test::sorted_lines(kFolded));
  }
}

TEST_CASE("round trip: a profile of names comes back through pprof") {
  const test::TemporaryDirectory directory;
  write_file(directory.file("a.folded"), "main;work 5\nmain 2\n");
  const auto first = packed(directory, "a.folded");
  exported(*first, directory, ExportFormat::kPprof, "a.pb.gz");
  const auto second = packed(directory, "a.pb.gz");
  CHECK(second->statistics().source_kind == "pprof");
  const auto events = second->events();
  REQUIRE(events.has_value());
  CHECK(*events == std::vector<Event>{{"samples", true}});
  const std::string again = exported(*second, directory, ExportFormat::kFolded, "b.folded");
  CHECK(test::sorted_lines(again) == std::vector<std::string>{"main 2", "main;work 5"});
}

TEST_CASE("export: a refused or failed request leaves no output") {
  const test::TemporaryDirectory directory;
  write_file(directory.file("a.folded"), kFolded);
  const auto reader = packed(directory, "a.folded");
  struct Case {
    const char* name;
    ExportOptions options;
    std::string output;
    ErrorCode code;
  };
  ExportOptions no_match;
  no_match.pid = 4711;
  ExportOptions no_event;
  no_event.event = "cycles";
  ExportOptions csv;
  csv.format = ExportFormat::kCsv;
  for (const Case& c :
       std::vector<Case>{{"no sample matches", no_match, directory.file("out"), ErrorCode::kUsage},
                         {"no such event", no_event, directory.file("out"), ErrorCode::kUsage},
                         {"csv to standard output", csv, "-", ErrorCode::kUsage},
                         {"no such directory", {}, directory.file("none/out"), ErrorCode::kIo},
                         {"a full disk", {}, "/dev/full", ErrorCode::kIo}}) {
    CAPTURE(c.name);
    const auto report = export_capture(*reader, c.output, c.options);
    REQUIRE_FALSE(report.has_value());
    CHECK(report.error().code == c.code);
    CHECK_FALSE(std::filesystem::exists(directory.file("out")));
  }
}
