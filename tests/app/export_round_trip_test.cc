// Folded text and profiles, packed and exported again; a request the file cannot meet.
#include <filesystem>

#include <doctest/doctest.h>

#include "app/convert/measure.h"
#include "app/listing/selected_samples.h"
#include "app/listing/stack_listing.h"
#include "export/hand_made_capture.h"
#include "stackpack/convert.h"
#include "stackpack/export.h"
#include "stackpack/merge.h"
#include "stackpack/reader.h"
#include "support/source_folder.h"

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
    const std::string again = exported(*reader, directory, ExportFormat::kFolded,
                                       samples ? "samples.folded" : "counts.folded");
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

namespace {

// What a sample is, but for its callstack: time of day, process, thread, event, weight.
std::vector<std::string> sample_rows(const Reader& reader) {
  const auto events = reader.events();
  const auto metadata = reader.metadata();
  REQUIRE(events.has_value());
  REQUIRE(metadata.has_value());
  std::int64_t offset = 0;
  for (const MetadataEntry& entry : *metadata) {
    offset = entry.key == "clock.wall_offset_ns" ? std::stoll(entry.value) : offset;
  }
  std::vector<std::string> rows;
  const Status read = reader.samples({}, [&](std::span<const StoredSample> block) {
    for (const StoredSample& sample : block) {
      const std::uint64_t time = sample.time_ns + static_cast<std::uint64_t>(offset);
      rows.push_back(std::to_string(time) + " " + std::to_string(sample.pid) + " " +
                     std::to_string(sample.tid) + " " + (*events)[sample.event].name + " " +
                     std::to_string(sample.weight));
    }
    return true;
  });
  REQUIRE(read.has_value());
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<std::string> folded_by_thread(const Reader& reader,
                                          const test::TemporaryDirectory& directory,
                                          const std::string& event) {
  ExportOptions options;
  options.filter.events = {event};
  options.folded.root = FoldedRoot::kThread;
  options.folded.inlines = true;
  options.keep_broken = true;
  std::filesystem::remove(directory.file("text"));
  REQUIRE(export_capture(reader, directory.file("text"), options).has_value());
  return test::sorted_lines(test::content_of(directory.file("text")));
}

}  // namespace

TEST_CASE("round trip: recordings come back through OpenTelemetry profiles") {
  for (const char* const name :
       {"file.perf.data", "events.perf.data", "named/words.perf.data", "small.nettrace"}) {
    CAPTURE(name);
    const test::TemporaryDirectory directory;
    std::filesystem::copy_file(test::source_folder() + std::string("/testdata/") + name,
                               directory.file("a"));
    const auto first = packed(directory, "a");
    exported(*first, directory, ExportFormat::kOtlp, "b");
    const auto second = packed(directory, "b");
    CHECK(second->statistics().source_kind == "otlp");
    CHECK(second->statistics().samples.total == first->statistics().samples.total);
    CHECK(sample_rows(*second) == sample_rows(*first));
    const auto events = first->events();
    REQUIRE(events.has_value());
    for (std::size_t i = 0; i < events->size(); ++i) {
      const std::string& event = (*events)[i].name;
      CAPTURE(event);
      if (first->statistics().events.at(i).samples != 0) {
        CHECK(folded_by_thread(*second, directory, event) ==
              folded_by_thread(*first, directory, event));
      }
    }
  }
}

TEST_CASE("round trip: recordings come back through speedscope and the Firefox Profiler") {
  const test::TemporaryDirectory directory;
  std::filesystem::copy_file(test::source_folder() + std::string("/testdata/events.perf.data"),
                             directory.file("a"));
  const auto first = packed(directory, "a");
  const auto both = {std::pair(ExportFormat::kSpeedscope, "speedscope"),
                     std::pair(ExportFormat::kFirefox, "firefox")};
  // Event, process, thread and distance from the first sample; weights are lengths of time there.
  const auto rows_of = [](const Reader& reader, bool with_event) {
    const auto events = reader.events();
    REQUIRE(events.has_value());
    std::vector<std::string> rows;
    std::optional<std::uint64_t> zero;
    const Status read = reader.samples({}, [&](std::span<const StoredSample> block) {
      for (const StoredSample& sample : block) {
        zero = zero.value_or(sample.time_ns);
        if (sample.origin == StackOrigin::kRecorded) {
          rows.push_back((with_event ? (*events)[sample.event].name : "") + " " +
                         std::to_string(sample.pid) + " " + std::to_string(sample.tid) + " " +
                         std::to_string(sample.time_ns - *zero));
        }
      }
      return true;
    });
    REQUIRE(read.has_value());
    std::sort(rows.begin(), rows.end());
    return rows;
  };
  const auto folded = [&directory](const Reader& reader) {
    ExportOptions options;
    options.all_events = true;
    options.count = CountBy::kSamples;
    options.keep_broken = true;
    options.folded.inlines = true;
    options.folded.root = FoldedRoot::kThread;
    std::filesystem::remove(directory.file("text"));
    REQUIRE(export_capture(reader, directory.file("text"), options).has_value());
    return test::sorted_lines(test::content_of(directory.file("text")));
  };
  for (const auto& [format, kind] : both) {
    CAPTURE(kind);
    exported(*first, directory, format, kind);
    const auto second = packed(directory, kind);
    CHECK(second->statistics().source_kind == kind);
    // Firefox has no name for the event of threads with plain names.
    const bool with_event = format == ExportFormat::kSpeedscope;
    CHECK(rows_of(*second, with_event) == rows_of(*first, with_event));
    CHECK(folded(*second) == folded(*first));
  }
}

TEST_CASE("merge: names in images keep their callstacks, whatever came first in each file") {
  const test::TemporaryDirectory directory;
  write_file(directory.file("a"),
             "x 1/1 1.000000: 5 cycles: \n\t 10 leaf (/lib/a.so)\n\t 20 main (/bin/x)\n");
  write_file(directory.file("b"),
             "x 2/2 1.000000: 7 cycles: \n\t 10 other (/lib/a.so)\n\t 15 leaf (/lib/a.so)\n"
             "\t 18 next (/lib/a.so)\n\t 20 main (/bin/x)\n");
  packed(directory, "a");
  packed(directory, "b");
  REQUIRE(merge({directory.file("a.spk"), directory.file("b.spk")}, directory.file("both.spk"), {},
                nullptr)
              .has_value());
  const auto both = Reader::open(directory.file("both.spk"));
  REQUIRE(both.has_value());
  CHECK(test::sorted_lines(exported(**both, directory, ExportFormat::kFolded, "text")) ==
        std::vector<std::string>{"main;leaf 5", "main;next;leaf;other 7"});
}

TEST_CASE("round trip: names of an old file are in modules, and come out alike") {
  const test::TemporaryDirectory directory;
  write_file(directory.file("a.folded"), kFolded);
  const auto packed_now = packed(directory, "a.folded");
  // A file of version 1.0 of the same text.
  const auto packed_then = Reader::open(std::string(test::source_folder()) +
                                        "/testdata/spk/v1-imported/folded-names.spk");
  REQUIRE(packed_then.has_value());
  CHECK(packed_now->modules()->empty());
  CHECK(packed_then.value()->names()->functions.empty());
  CHECK(test::sorted_lines(exported(**packed_then, directory, ExportFormat::kFolded, "then")) ==
        test::sorted_lines(kFolded));
  const auto speedscope = [&directory](const Reader& reader, const std::string& name) {
    exported(reader, directory, ExportFormat::kSpeedscope, name);
    const auto again = packed(directory, name);
    return test::sorted_lines(exported(*again, directory, ExportFormat::kFolded, name + ".text"));
  };
  CHECK(speedscope(*packed_now, "now.json") == speedscope(**packed_then, "then.json"));
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
  no_match.filter.pid = 4711;
  ExportOptions no_event;
  no_event.filter.events = {"cycles"};
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

TEST_CASE("export: an imported profile counts by its weights, with and without samples") {
  const test::TemporaryDirectory directory;
  write_file(directory.file("a.folded"), "main;work 10\nmain 5\nidle 100\n");
  for (const bool samples : {true, false}) {
    CAPTURE(samples);
    ConvertOptions options;
    options.samples = samples;
    const auto reader = packed(directory, "a.folded", options);
    const auto stacks = app::count_recorded_stacks(*reader, {});
    REQUIRE(stacks.has_value());
    std::vector<std::uint64_t> counts = stacks->counts;
    std::sort(counts.begin(), counts.end());
    CHECK(counts == std::vector<std::uint64_t>{5, 10, 100});
    const auto measured = app::measure(directory.file("a.folded.spk"), {}, {}, false, nullptr);
    REQUIRE(measured.has_value());
    REQUIRE(measured->event_weights.size() == 1);
    CHECK(measured->event_weights.front().digits == 115);
    CHECK(measured->event_weights.front().decimals == 0);
    CHECK(measured->statistics.samples.total == 3);
  }
}

TEST_CASE("stats: a filter that lets everything pass gives the figures of the file") {
  const test::TemporaryDirectory directory;
  write_file(directory.file("a.folded"), "main;work 10\nmain;rest 4\nmain 5\nidle 100\n");
  const auto reader = packed(directory, "a.folded");
  const Statistics whole = reader->statistics();
  Statistics counted = whole;
  SampleFilter everything;
  everything.from = CaptureTime{0, false};
  REQUIRE(app::recount(*reader, everything, counted).has_value());
  CHECK(counted.samples.total == whole.samples.total);
  CHECK(counted.samples.recorded == whole.samples.recorded);
  CHECK(counted.callstacks.raw_frames == whole.callstacks.raw_frames);
  CHECK(counted.callstacks.unique == whole.callstacks.unique);
  CHECK(counted.callstacks.unique_frames == whole.callstacks.unique_frames);
  CHECK(counted.callstacks.unique_leaf_frames == whole.callstacks.unique_leaf_frames);
  CHECK(counted.callstacks.max_depth == whole.callstacks.max_depth);
  SampleFilter some;
  some.modules = {"main"};
  REQUIRE(app::recount(*reader, some, counted).has_value());
  CHECK(counted.samples.total == 3);
  CHECK(counted.callstacks.unique == 3);
  CHECK(counted.events.at(0).samples == 3);
}

TEST_CASE("export: csv that fails leaves no folder") {
  const test::TemporaryDirectory directory;
  write_file(directory.file("a.folded"), kFolded);
  packed(directory, "a.folded");
  const std::vector<std::byte> file = test::read_test_file(directory.file("a.folded.spk"));
  ExportOptions options;
  options.format = ExportFormat::kCsv;
  int failed = 0;
  for (std::size_t at = 0; at < file.size(); at += 3) {
    std::vector<std::byte> damaged = file;
    damaged[at] ^= std::byte{0x55};
    const auto reader = Reader::open_memory(damaged);
    const std::string output = directory.file("deep/tables");
    if (reader && !export_capture(**reader, output, options)) {
      ++failed;
      CHECK_FALSE(std::filesystem::exists(directory.file("deep")));
    }
    std::filesystem::remove_all(directory.file("deep"));
  }
  CHECK(failed > 50);
}
