#include "app/convert/format_choice.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/source_folder.h"
#include "support/test_bytes.h"
#include <protozero/pbf_writer.hpp>

using namespace stackpack;
using app::FormatChoice;
using capture::ProbeAnswer;

namespace {

struct Specimen {
  std::string format;
  std::string what;
  std::vector<std::byte> bytes;
};

std::vector<std::byte> bytes_of(const std::string& text) {
  return test::TestBytes().text(text).bytes;
}

std::vector<std::byte> test_data(const std::string& name) {
  return test::read_test_file(test::source_folder() + "/testdata/" + name);
}

void add_value_type(protozero::pbf_writer& profile, std::uint32_t field) {
  protozero::pbf_writer type(profile, field);
  type.add_int64(1, 1);
  type.add_int64(2, 2);
}

void add_strings(protozero::pbf_writer& profile) {
  for (const char* const text : {"", "cpu", "nanoseconds", "main"}) {
    profile.add_string(6, text);
  }
}

void add_sample(protozero::pbf_writer& profile) {
  protozero::pbf_writer sample(profile, 2);
  const std::uint64_t numbers[] = {1, 2};
  sample.add_packed_uint64(1, std::begin(numbers), std::end(numbers));
  sample.add_packed_uint64(2, std::begin(numbers), std::begin(numbers) + 1);
}

// profile.proto, with the fields in the order of several writers.
std::vector<Specimen> pprof_samples() {
  std::vector<Specimen> samples;
  std::string text;
  protozero::pbf_writer as_in_the_schema(text);
  add_value_type(as_in_the_schema, 1);
  add_sample(as_in_the_schema);
  add_strings(as_in_the_schema);
  samples.push_back({"pprof", "as in the schema", bytes_of(text)});
  text.clear();
  protozero::pbf_writer time_first(text);
  time_first.add_int64(9, 1'700'000'000'000'000'000);
  time_first.add_int64(12, 10'000'000);
  add_value_type(time_first, 11);
  add_sample(time_first);
  add_strings(time_first);
  add_value_type(time_first, 1);
  samples.push_back({"pprof", "time first, as Go writes it", bytes_of(text)});
  text.clear();
  protozero::pbf_writer strings_first(text);
  add_strings(strings_first);
  add_value_type(strings_first, 1);
  add_sample(strings_first);
  samples.push_back({"pprof", "strings first", bytes_of(text)});
  return samples;
}

std::vector<Specimen> otlp_samples() {
  std::string resource;
  {
    protozero::pbf_writer message(resource);
    protozero::pbf_writer profiles(message, 1);
    protozero::pbf_writer scopes(profiles, 2);
    protozero::pbf_writer profile(scopes, 2);
    profile.add_uint64(3, 5);
  }
  std::string dictionary;
  {
    protozero::pbf_writer message(dictionary);
    protozero::pbf_writer tables(message, 2);
    tables.add_string(1, "");
    tables.add_string(5, "");
    tables.add_string(5, "main");
  }
  return {
      {"otlp", "resource first", bytes_of(resource + dictionary)},
      {"otlp", "dictionary first", bytes_of(dictionary + resource)},
      {"otlp", "JSON",
       bytes_of("{ \"dictionary\" : { \"stringTable\" : [ \"\" ] },\n \"resourceProfiles\": []}")},
      {"otlp", "JSON, profiles first", bytes_of(R"({"resourceProfiles":[{"scopeProfiles":[]}]})")},
  };
}

// At least one file of every format, and of each that has no magic number several.
std::vector<Specimen> all_samples() {
  std::vector<Specimen> samples = {
      {"perf", "a file", test_data("tiny.perf.data")},
      {"perf", "a pipe", test_data("tiny-pipe.perf.data")},
      {"etl", "64 bits", test_data("kernel.x64.etl")},
      {"etl", "32 bits", test_data("kernel.x86.etl")},
      {"nettrace", "version 4", test_data("small.nettrace")},
      {"nettrace", "version 6", test_data("small.v6.nettrace")},
      {"nettrace", "netperf", test_data("small.netperf")},
      {"jfr", "a chunk", bytes_of(std::string("FLR\0\0\2\0\0", 8))},
      {"speedscope", "schema first",
       bytes_of(R"({"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{}})")},
      {"speedscope", "schema last",
       bytes_of("{\"shared\": {\"frames\": [ {\"name\": \"a\"} ]}, \"profiles\": [],\n"
                "\"$schema\": \"https://www.speedscope.app/file-format-schema.json\"}")},
      {"speedscope", "no schema",
       bytes_of(R"({"profiles":[{"endValue":3,"type":"sampled"}],"shared":{"frames":[{"name":)")},
      {"firefox", "version first",
       bytes_of(R"({"meta":{"preprocessedProfileVersion":60},"threads":[]})")},
      {"firefox", "threads first",
       bytes_of("{ \"threads\" : [ { \"processType\" : \"default\" } ],\n"
                "  \"meta\" : { \"version\" : 27 } }")},
      {"v8", "a profile", bytes_of(R"({"nodes":[{"id":1,"callFrame":{"functionName":")")},
      {"v8", "a profile of the heap", bytes_of(R"({"head":{"callFrame":{"url":"")")},
      {"v8", "events of a trace", bytes_of(R"([{"pid":1,"tid":2,"ts":3,"ph":"X"},)")},
      {"v8", "a trace", bytes_of(R"({"traceEvents": [ {"args":{},"ph":"M"}]})")},
      {"perf-script", "default fields",
       bytes_of("prog  77 [001]  12.345678:     250000 cycles: \n"
                "\t    55d0c0 main+0x10 (/bin/prog)\n\n")},
      {"perf-script", "a header", test_data("tiny.script.txt")},
      {"folded", "counts", bytes_of("main;work 10\nmain;rest 20\n")},
      {"stacks", "DTrace", bytes_of("  unix`idle+0x6\n  unix`main+0x8\n  41\n")},
      {"stacks", "bpftrace", bytes_of("Attaching 1 probe...\n\n@[\n    f+1\n]: 3\n")},
      {"stacks", "gdb", bytes_of("Thread 1 (LWP 7):\n#0  0x1 in f (x=1) at a.c:3\n\n")},
      {"stacks", "VTune", bytes_of("Function Stack,CPU Time:Self,Module\nf,0.5,a.so\n")},
      {"folded", "a comment first", bytes_of("# a comment\nmain;work 10\n")},
  };
  for (std::vector<Specimen>& more : std::vector{pprof_samples(), otlp_samples()}) {
    samples.insert(samples.end(), more.begin(), more.end());
  }
  return samples;
}

capture::CaptureHead head_of(const std::vector<std::byte>& bytes) {
  const bool whole = bytes.size() <= capture::kProbeBytes;
  return {std::span(bytes).first(std::min(bytes.size(), capture::kProbeBytes)), whole};
}

}  // namespace

TEST_CASE("format choice: each format takes its own files, and none takes another's") {
  std::vector<std::string> seen;
  for (const Specimen& specimen : all_samples()) {
    CAPTURE(specimen.format);
    CAPTURE(specimen.what);
    REQUIRE_FALSE(specimen.bytes.empty());
    seen.push_back(specimen.format);
    for (const app::FormatAnswer& answer : app::ask_formats(head_of(specimen.bytes))) {
      CAPTURE(answer.format->name);
      CAPTURE(answer.probe.reason);
      CHECK(bool{answer.probe} == (answer.format->name == specimen.format));
    }
  }
  for (const std::string& name : capture_format_names()) {
    CAPTURE(name);
    CHECK(std::count(seen.begin(), seen.end(), name) != 0);
  }
}

TEST_CASE("format choice: of a part of a file no other format is certain") {
  for (const Specimen& specimen : all_samples()) {
    CAPTURE(specimen.format);
    CAPTURE(specimen.what);
    for (std::size_t size = 16; size < std::min<std::size_t>(specimen.bytes.size(), 300); ++size) {
      CAPTURE(size);
      const std::span<const std::byte> part = std::span(specimen.bytes).first(size);
      for (const app::FormatAnswer& answer : app::ask_formats({part, false})) {
        CAPTURE(answer.format->name);
        CHECK((answer.probe.answer != ProbeAnswer::kCertain ||
               answer.format->name == specimen.format));
      }
    }
  }
}

TEST_CASE("format choice: what is no capture is taken by none, and each says why") {
  for (const std::string& text :
       {std::string("\x7f"
                    "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0>\0\1\0\0\0",
                    24),
        std::string("<html><body>1</body></html>\n"), std::string("Hello there,\nworld.\n"),
        std::string("{\"a\":[1,2,3]}"), std::string(1000, '\0'), std::string(100, '\xff'),
        std::string("nodes: 10\nedges: 3 or so\nThis is a list of things.\nAnd so on.\n")}) {
    CAPTURE(text);
    const std::vector<std::byte> bytes = bytes_of(text);
    const FormatChoice choice(head_of(bytes));
    CHECK(choice.format() == nullptr);
    CHECK(choice.error_of_all({}).code == ErrorCode::kUnsupported);
    const std::vector<FormatTried> tried = choice.tried();
    CHECK(tried.size() == capture_format_names().size());
    for (const FormatTried& format : tried) {
      CAPTURE(format.format);
      CHECK_FALSE(format.why.empty());
    }
  }
}

TEST_CASE("format choice: kinds of files that are no captures are named") {
  const auto what = [](const std::string& text) {
    return FormatChoice(head_of(bytes_of(text))).error_of_all({}).what;
  };
  CHECK(what("\x7f"
             "ELF\2\1\1") == "is an ELF file, a program or library; not a capture");
  CHECK(what("\n <svg version=\"1.1\">").find("folded text") != std::string_view::npos);
  CHECK(what(std::string(257, '\0') + "ustar").find("tar") != std::string_view::npos);
  CHECK(what("Hello") == "not a capture of a format that convert reads");
}

TEST_CASE("format choice: possible formats are tried in their order until one reads") {
  // The keys of both, as far as the head goes.
  const std::vector<std::byte> bytes =
      bytes_of(R"({"shared":{"frames":[{"name":"a"}],"stackTable":{"length":)");
  FormatChoice choice(head_of(bytes));
  REQUIRE(choice.format() != nullptr);
  CHECK(choice.format()->name == "speedscope");
  CHECK(choice.has_more());
  const Error damaged{ErrorCode::kCorrupt, 7, "speedscope: not JSON"};
  CHECK(choice.choose_next(damaged));
  CHECK(choice.format()->name == "firefox");
  CHECK_FALSE(choice.has_more());
  CHECK_FALSE(choice.choose_next({ErrorCode::kTruncated, 9, "firefox: cut"}));
  CHECK(choice.error_of_all(damaged).code == ErrorCode::kUnsupported);
  const std::vector<FormatTried> tried = choice.tried();
  REQUIRE(tried.size() > 2);
  CHECK(tried[0].why == "offset 7: speedscope: not JSON");
  CHECK(tried[1].why == "offset 9: firefox: cut");
}

TEST_CASE("format choice: an error that says nothing of the content ends it") {
  const std::vector<std::byte> bytes =
      bytes_of(R"({"shared":{"frames":[{"name":"a"}],"stackTable":{"length":)");
  for (const ErrorCode code : {ErrorCode::kIo, ErrorCode::kResource, ErrorCode::kCancelled,
                               ErrorCode::kLimit, ErrorCode::kUsage}) {
    FormatChoice choice(head_of(bytes));
    CHECK_FALSE(choice.choose_next({code, 0, "x"}));
    CHECK(choice.error_of_all({code, 0, "x"}).code == code);
  }
  FormatChoice certain(head_of(test_data("tiny.perf.data")));
  CHECK(certain.tried().empty());
  const Error cut{ErrorCode::kTruncated, 8, "perf: cut"};
  CHECK_FALSE(certain.choose_next(cut));
  CHECK(certain.error_of_all(cut).what == cut.what);
}
