// --time-resolution, from a capture to its file: times are rounded, and nothing else differs.
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/convert/fingerprint.h"
#include "app/listing/capture_facts.h"
#include "app/listing/thread_names.h"
#include "stackpack/convert.h"
#include "stackpack/merge.h"
#include "stackpack/reader.h"
#include "stackpack/symbols.h"
#include "support/source_folder.h"
#include "support/temporary_folder.h"
#include "support/test_bytes.h"

namespace stackpack::app {

namespace {

/// What is known of one sample: all that depends on its time, and the time.
struct KnownSample {
  StoredSample sample;
  std::string text;  ///< names of process and thread, and where every frame is
};

std::string answers_about(const StoredSample& sample, const Reader& reader, const Symbols& symbols,
                          const ThreadNames& names) {
  std::string text(names.process_name(sample.pid, sample.time_ns));
  text += '|';
  text += names.name(sample.pid, sample.tid, sample.time_ns);
  std::vector<Frame> frames;
  if (sample.stack != kNoStack) {
    REQUIRE(reader.callstack(sample.stack, frames).has_value());
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const CodeLocation place =
        symbols.locate(frames[i], sample.pid, sample.time_ns,
                       symbols.use_of(frames, i, sample.pid, sample.time_ns));
    text += '|' + std::to_string(frames[i].address) + ' ';
    text += place.module == nullptr ? std::string("-")
                                    : std::to_string(place.module - symbols.modules().data()) +
                                          "+" + std::to_string(place.offset);
    text += place.function == nullptr
                ? std::string(" -")
                : ' ' + std::to_string(place.function - symbols.names().functions.data());
  }
  return text;
}

std::vector<KnownSample> samples_of(const Reader& reader) {
  const auto symbols = Symbols::load(reader);
  const auto processes = reader.processes();
  const auto threads = reader.threads();
  REQUIRE(symbols.has_value());
  REQUIRE(processes.has_value());
  REQUIRE(threads.has_value());
  const ThreadNames names(*processes, *threads);
  std::vector<KnownSample> all;
  const Status read = reader.samples({}, [&](std::span<const StoredSample> block) {
    for (const StoredSample& sample : block) {
      all.push_back({sample, answers_about(sample, reader, **symbols, names)});
    }
    return true;
  });
  REQUIRE(read.has_value());
  return all;
}

std::unique_ptr<Reader> open(const std::string& path) {
  auto reader = Reader::open(path);
  REQUIRE(reader.has_value());
  REQUIRE((*reader)->verify().has_value());
  return std::move(*reader);
}

// Samples alike but for their times, and those rounded by less than the resolution.
void check_alike(const std::vector<KnownSample>& exact, const std::vector<KnownSample>& rounded,
                 std::uint64_t resolution) {
  REQUIRE(exact.size() == rounded.size());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    StoredSample sample = rounded[i].sample;
    REQUIRE(sample.time_ns <= exact[i].sample.time_ns);
    REQUIRE(exact[i].sample.time_ns - sample.time_ns < resolution);
    sample.time_ns = exact[i].sample.time_ns;
    REQUIRE(sample == exact[i].sample);
    REQUIRE(rounded[i].text == exact[i].text);
  }
}

}  // namespace

TEST_CASE("app.rounded_times: every answer but times is that of the file without rounding") {
  const test::ScratchDirectory folder;
  const std::string exact_path = folder.file("exact.spk");
  const std::string path = folder.file("rounded.spk");
  for (const char* name : {"file.perf.data", "threads.perf.data", "zstd.perf.data",
                           "events.perf.data", "group.perf.data", "dwarf.perf.data",
                           "killed.perf.data", "sampled.x64.etl", "sampled.x86.etl"}) {
    CAPTURE(name);
    const std::string input = test::source_folder() + "/testdata/" + name;
    REQUIRE(convert(input, exact_path, {}, nullptr).has_value());
    const auto exact = open(exact_path);
    const std::vector<KnownSample> samples = samples_of(*exact);
    std::uint64_t before = exact->statistics().sample_stream_bytes;
    for (const std::uint64_t resolution : {1'000U, 1'000'000U, 1'000'000'000U}) {
      CAPTURE(resolution);
      ConvertOptions options;
      options.time_resolution_ns = resolution;
      REQUIRE(convert(input, path, options, nullptr).has_value());
      const auto reader = open(path);
      check_alike(samples, samples_of(*reader), resolution);
      CHECK(reader->processes().value() == exact->processes().value());
      CHECK(reader->threads().value() == exact->threads().value());
      CHECK(reader->modules().value() == exact->modules().value());
      CHECK(reader->fingerprint() != exact->fingerprint());
      CHECK(capture_facts(*reader, {}, false)->time_resolution_ns == resolution);
      CHECK(reader->statistics().sample_stream_bytes <= before + 16);  // or hardly more
      before = reader->statistics().sample_stream_bytes;
    }
    CHECK(before < exact->statistics().sample_stream_bytes);
  }
}

TEST_CASE("app.rounded_times: one nanosecond is no rounding, and counts have no times") {
  const test::ScratchDirectory folder;
  const std::string input = test::source_folder() + "/testdata/file.perf.data";
  const auto bytes_of = [&](const ConvertOptions& options) {
    REQUIRE(convert(input, folder.file("a.spk"), options, nullptr).has_value());
    return test::read_test_file(folder.file("a.spk"));
  };
  ConvertOptions options;
  const auto exact = bytes_of(options);
  options.time_resolution_ns = 1;
  CHECK(bytes_of(options) == exact);
  options.samples = false;
  const auto counts = bytes_of(options);
  options.time_resolution_ns = 1'000;
  CHECK(bytes_of(options) == counts);
  options.samples = true;
  const auto rounded = bytes_of(options);
  options.encoders = 0;
  options.memory_limit = 16 << 20;
  CHECK(bytes_of(options) == rounded);
}

TEST_CASE("app.rounded_times: a merge rounds, and knows of inputs that were rounded") {
  const test::ScratchDirectory folder;
  std::vector<std::string> inputs;
  for (const char* name : {"file.perf.data", "threads.perf.data"}) {
    inputs.push_back(test::source_folder() + "/testdata/" + name);
  }
  int merges = 0;
  const auto merged = [&](const std::vector<std::string>& files, std::uint64_t resolution) {
    MergeOptions options;
    options.time_resolution_ns = resolution;
    // Windows replaces no file that is open.
    const std::string output = folder.file("all" + std::to_string(merges++) + ".spk");
    REQUIRE(merge(files, output, options, nullptr).has_value());
    return open(output);
  };
  const auto exact = samples_of(*merged(inputs, 0));
  const auto reader = merged(inputs, 1'000'000);
  check_alike(exact, samples_of(*reader), 1'000'000);
  CHECK(capture_facts(*reader, {}, false)->time_resolution_ns == 1'000'000);
  ConvertOptions options;
  options.time_resolution_ns = 5'000;
  REQUIRE(convert(inputs[0], folder.file("in.spk"), options, nullptr).has_value());
  inputs[0] = folder.file("in.spk");
  CHECK(capture_facts(*merged(inputs, 0), {}, false)->time_resolution_ns == 5'000);
  CHECK(capture_facts(*merged(inputs, 1'000), {}, false)->time_resolution_ns == 5'000);
  CHECK(capture_facts(*merged({inputs[1]}, 0), {}, false)->time_resolution_ns == 0);
}

TEST_CASE("app.rounded_times: an output with other times is not up to date") {
  const test::ScratchDirectory folder;
  const std::string input = test::source_folder() + "/testdata/tiny.perf.data";
  const std::string output = folder.file("out.spk");
  const std::string content = content_of(input).value();
  ConvertOptions options;
  options.time_resolution_ns = 1'000;
  REQUIRE(convert(input, output, options, nullptr).has_value());
  const std::string rebased = folder.file("rebased.spk");
  MergeOptions merging;
  merging.time_resolution_ns = 1'000;
  REQUIRE(merge({input}, rebased, merging, nullptr).has_value());
  for (const std::uint64_t resolution : {0U, 1'000U, 2'000U}) {
    options.time_resolution_ns = resolution;
    CHECK(is_up_to_date(input, output, content, options) == (resolution == 1'000));
    CHECK(is_up_to_date(input, rebased, content, options, false, true) == (resolution == 1'000));
  }
}

TEST_CASE("app.rounded_times: samples of an imported profile have no times") {
  const test::ScratchDirectory folder;
  ConvertOptions options;
  options.time_resolution_ns = 1'000;
  std::ofstream(folder.file("a.folded")) << "main;work 3\nmain 2\n";
  REQUIRE(convert(folder.file("a.folded"), folder.file("a.spk"), options, nullptr).has_value());
  CHECK(capture_facts(*open(folder.file("a.spk")), {}, false)->time_resolution_ns == 0);
}

}  // namespace stackpack::app
