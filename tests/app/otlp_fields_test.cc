// Attributes, links, resources and scopes of OpenTelemetry profiles: into a file, and out again.
#include <algorithm>
#include <fstream>
#include <map>

#include <doctest/doctest.h>

#include "query/selection/label_choice.h"
#include "stackpack/convert.h"
#include "stackpack/export.h"
#include "stackpack/merge.h"
#include "stackpack/names.h"
#include "stackpack/reader.h"
#include "support/source_folder.h"
#include <protozero/pbf_writer.hpp>

using namespace stackpack;
using protozero::pbf_writer;

namespace {

using Indices = std::vector<std::uint32_t>;

void add_text(pbf_writer& owner, std::uint32_t field, const char* key, const std::string& text) {
  pbf_writer attribute(owner, field);
  attribute.add_string(1, key);
  pbf_writer value(attribute, 2);
  value.add_string(1, text);
}

// An attribute of the table whose value `write` writes. Attribute n has the key of string n.
template <typename Write>
void add_attribute(pbf_writer& dictionary, int number, Write write) {
  pbf_writer attribute(dictionary, 6);
  attribute.add_int32(1, number);
  pbf_writer value(attribute, 2);
  write(value);
}

void write_list(pbf_writer& any) {
  pbf_writer list(any, 5);
  {
    pbf_writer one(list, 1);
    one.add_string(1, "a\"b");
  }
  pbf_writer two(list, 1);
  pbf_writer map(two, 6);
  pbf_writer entry(map, 1);
  entry.add_string(1, "k");
  pbf_writer value(entry, 2);
  value.add_double(4, 0.5);
}

std::string field_tables() {
  std::string text;
  pbf_writer top(text);
  top.add_message(2, std::string());
  top.add_message(2, std::string());
  {
    pbf_writer location(top, 2);
    location.add_uint64(2, 0x10);
    pbf_writer line(location, 3);
    line.add_int32(1, 1);
  }
  top.add_message(3, std::string());
  {
    pbf_writer function(top, 3);
    function.add_int32(1, 10);
  }
  top.add_message(4, std::string());
  {
    pbf_writer link(top, 4);
    link.add_bytes(
        1, std::string("\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff", 16));
    link.add_bytes(2, std::string("\x01\x02\x03\x04\x05\x06\x07\x08", 8));
  }
  for (const char* const string :
       {"", "process.pid", "thread.id", "http.route", "retry", "ratio", "cached", "tags", "raw",
        "shared.key", "main", "cpu", "empty", "by.index", "thread.state"}) {
    top.add_string(5, string);
  }
  top.add_message(6, std::string());
  add_attribute(top, 1, [](pbf_writer& any) { any.add_int64(3, 7); });
  add_attribute(top, 2, [](pbf_writer& any) { any.add_int64(3, 8); });
  add_attribute(top, 3, [](pbf_writer& any) { any.add_string(1, "/cart"); });
  add_attribute(top, 4, [](pbf_writer& any) { any.add_int64(3, -3); });
  add_attribute(top, 5, [](pbf_writer& any) { any.add_double(4, 0.25); });
  add_attribute(top, 6, [](pbf_writer& any) { any.add_bool(2, true); });
  add_attribute(top, 7, write_list);
  add_attribute(top, 8, [](pbf_writer& any) { any.add_bytes(7, "\x01\xfe"); });
  add_attribute(top, 9, [](pbf_writer& any) { any.add_string(1, "of the profile"); });
  add_attribute(top, 12, [](pbf_writer& any) { any.add_string(1, ""); });
  add_attribute(top, 13, [](pbf_writer& any) { any.add_int32(8, 10); });
  add_attribute(top, 3, [](pbf_writer& any) { any.add_int64(3, 5); });  // another type
  top.add_message(7, std::string());
  for (const int location : {2}) {
    pbf_writer stack(top, 7);
    stack.add_packed_int32(1, &location, &location + 1);
  }
  return text;
}

constexpr char kProfileId[] = "\x0f\x1e\x2d\x3c\x4b\x5a\x69\x78\x87\x96\xa5\xb4\xc3\xd2\xe1\xf0";

struct Given {
  std::uint64_t time = 0;
  Indices attributes;
  int link = 0;
};

void add_profile(pbf_writer& scope, const std::vector<Given>& samples, const Indices& attributes) {
  pbf_writer profile(scope, 2);
  {
    pbf_writer type(profile, 1);
    type.add_int32(1, 11);
  }
  for (const Given& given : samples) {
    pbf_writer sample(profile, 2);
    sample.add_int32(1, 1);
    sample.add_packed_uint32(2, given.attributes.begin(), given.attributes.end());
    sample.add_int32(3, given.link);
    sample.add_packed_fixed64(5, &given.time, &given.time + 1);
  }
  profile.add_packed_uint32(11, attributes.begin(), attributes.end());
}

// Two containers on one machine.
std::string profiles_of_two_pods() {
  std::string text;
  pbf_writer top(text);
  for (const char* const pod : {"cart", "shop"}) {
    pbf_writer owner(top, 1);
    {
      pbf_writer resource(owner, 1);
      add_text(resource, 1, "host.name", "box");
      add_text(resource, 1, "os.type", "linux");
      add_text(resource, 1, "k8s.pod.name", pod);
    }
    {
      pbf_writer scoped(owner, 2);
      {
        pbf_writer scope(scoped, 1);
        scope.add_string(1, "profiler");
        scope.add_string(2, pod[0] == 'c' ? "1.0" : "2.0");
        add_text(scope, 3, "kind", "ebpf");
      }
      if (pod[0] == 'c') {
        add_profile(scoped, {{1'000, {1, 2, 3, 4, 5, 6, 7, 8, 11}, 1}, {2'000, {1, 2, 12}}}, {9});
      } else {
        // Alike in all but their attributes.
        add_profile(scoped, {{3'000, {1, 3}}, {3'000, {1}, 1}}, {});
      }
    }
    owner.add_string(3, "https://example.org/schema");
  }
  top.add_message(2, field_tables());
  return text;
}

std::unique_ptr<Reader> packed_file(const test::TemporaryDirectory& directory,
                                    const std::string& input, const ConvertOptions& options = {}) {
  const auto report =
      convert(directory.file(input), directory.file(input + ".spk"), options, nullptr);
  REQUIRE(report.has_value());
  auto reader = Reader::open(directory.file(input + ".spk"));
  REQUIRE(reader.has_value());
  REQUIRE((*reader)->verify().has_value());
  return std::move(*reader);
}

std::unique_ptr<Reader> packed_text(const test::TemporaryDirectory& directory,
                                    const std::string& text) {
  std::ofstream(directory.file("in"), std::ios::binary) << text;
  return packed_file(directory, "in");
}

// Of each sample with labels its time, process, whether it has no callstack, and its labels.
std::vector<std::string> labels_of(const Reader& reader) {
  std::vector<LabelSet> sets;
  const Status listed = reader.label_sets([&](std::span<const LabelSet> block) {
    sets.insert(sets.end(), block.begin(), block.end());
    return true;
  });
  REQUIRE(listed.has_value());
  std::map<std::uint64_t, std::uint64_t> set_of;  // by number of the sample
  const Status fields = reader.sample_fields([&](std::span<const FieldRow> rows) {
    for (const FieldRow& row : rows) {
      set_of[row.sample] = row.value(SampleField::kLabelSet);
    }
    return true;
  });
  REQUIRE(fields.has_value());
  std::vector<std::string> lines;
  std::uint64_t number = 0;
  const Status read = reader.samples({}, [&](std::span<const StoredSample> samples) {
    for (const StoredSample& sample : samples) {
      const auto known = set_of.find(number++);
      if (known == set_of.end()) {
        continue;
      }
      std::string line = std::to_string(sample.time_ns) + " " + std::to_string(sample.pid) +
                         (sample.stack == kNoStack ? " no" : "");
      std::vector<std::string> labels;
      for (const Label& label : sets.at(static_cast<std::size_t>(known->second))) {
        labels.push_back(" " + label.key + "=" + query::label_text(label));
      }
      std::sort(labels.begin(), labels.end());
      for (const std::string& label : labels) {
        line += label;
      }
      lines.push_back(line);
    }
    return true;
  });
  REQUIRE(read.has_value());
  return lines;
}

std::string fact_of(const Reader& reader, std::string_view key) {
  const auto metadata = reader.metadata();
  REQUIRE(metadata.has_value());
  for (const MetadataEntry& entry : *metadata) {
    if (entry.key == key) {
      return entry.value;
    }
  }
  return "none";
}

std::uint64_t loss_of(const Reader& reader, std::string_view name) {
  std::uint64_t count = 0;
  for (const auto& loss : reader.statistics().losses) {
    count += loss.name == name ? loss.count : 0;
  }
  return count;
}

std::vector<std::string> in_order(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

TEST_CASE("otlp: samples keep attributes, links, and what differs among resources and scopes") {
  const test::TemporaryDirectory directory;
  const auto reader = packed_text(directory, profiles_of_two_pods());
  CHECK(fact_of(*reader, "host.name") == "box");
  CHECK(fact_of(*reader, "otlp.resource.os.type") == "linux");
  CHECK(fact_of(*reader, "otlp.resource.k8s.pod.name") == "none");
  CHECK(fact_of(*reader, "otlp.scope.name") == "profiler");
  CHECK(fact_of(*reader, "otlp.scope.version") == "none");
  CHECK(fact_of(*reader, "otlp.scope.kind") == "ebpf");
  CHECK(fact_of(*reader, "otlp.schema.resource") == "https://example.org/schema");
  std::string all;
  for (const std::string& line : labels_of(*reader)) {
    all += line + "\n";
  }
  const std::string link =
      " link.span_id=0102030405060708 link.trace_id=00112233445566778899aabbccddeeff";
  CHECK(all.find("http.route=/cart") != std::string::npos);
  CHECK(all.find("http.route=5") != std::string::npos);
  CHECK(all.find("retry=-3") != std::string::npos);
  CHECK(all.find("ratio=0.25") != std::string::npos);
  CHECK(all.find("cached=1") != std::string::npos);
  CHECK(all.find("tags=[\"a\\\"b\",{\"k\":0.5}]") != std::string::npos);
  CHECK(all.find("raw=01fe") != std::string::npos);
  CHECK(all.find("by.index=main") != std::string::npos);
  CHECK(all.find("profile.shared.key=of the profile") != std::string::npos);
  CHECK(all.find("resource.k8s.pod.name=cart") != std::string::npos);
  CHECK(all.find("scope.version=2.0") != std::string::npos);
  CHECK(all.find(link) != std::string::npos);
  CHECK(all.find(" no") == std::string::npos);
  CHECK(loss_of(*reader, "otlp_attributes_not_kept") == 0);
}

TEST_CASE("otlp: what was imported comes back from an export alike") {
  const test::TemporaryDirectory directory;
  const auto first = packed_text(directory, profiles_of_two_pods());
  ExportOptions options;
  options.format = ExportFormat::kOtlp;
  const auto report = export_capture(*first, directory.file("out"), options);
  REQUIRE(report.has_value());
  CHECK(report->samples == 4);
  const auto second = packed_file(directory, "out");
  CHECK(in_order(labels_of(*second)) == in_order(labels_of(*first)));
  CHECK(labels_of(*first).size() >= 4);
  for (const char* const key : {"host.name", "otlp.resource.os.type", "otlp.scope.name",
                                "otlp.scope.kind", "otlp.schema.resource"}) {
    CAPTURE(key);
    CHECK(fact_of(*second, key) == fact_of(*first, key));
    CHECK(fact_of(*second, key) != "none");
  }
}

TEST_CASE("otlp: JSON keeps the same of a sample as protobuf") {
  const test::TemporaryDirectory directory;
  const auto reader = packed_text(directory, R"({"resourceProfiles": [
    {"resource": {"attributes": [{"key": "pod", "value": {"stringValue": "a"}},
                                 {"key": "n", "value": {"intValue": "-4"}}]},
     "scopeProfiles": [{"scope": {"name": "p", "attributes": [{"key": "on", "value": {"boolValue": true}}]},
       "profiles": [{"sampleType": {"typeStrindex": 2}, "samples": [{"stackIndex": 0,
         "attributeIndices": [1, 2, 3], "linkIndex": 1, "timestampsUnixNano": ["5"]}]}]}]},
    {"resource": {"attributes": [{"key": "pod", "value": {"stringValue": "b"}},
                                 {"key": "n", "value": {"intValue": -4}}]}}],
    "dictionary": {"stringTable": ["", "route", "cpu", "real", "bytes"],
      "linkTable": [{}, {"traceId": "00112233445566778899AABBCCDDEEFF", "spanId": "AQIDBAUGBwg="}],
      "attributeTable": [{}, {"keyStrindex": 1, "value": {"arrayValue": {"values": [
          {"stringValue": "x"}, {"kvlistValue": {"values": [{"key": "k", "value": {"boolValue": false}}]}}]}}},
        {"keyStrindex": 3, "value": {"doubleValue": -0.5}},
        {"keyStrindex": 4, "value": {"bytesValue": "AP8="}}]}})");
  CHECK(labels_of(*reader) ==
        std::vector<std::string>{"5 4294967295 no bytes=00ff "
                                 "link.span_id=0102030405060708 "
                                 "link.trace_id=00112233445566778899aabbccddeeff "
                                 "real=-0.5 resource.pod=a route=[\"x\",{\"k\":false}]"});
  CHECK(fact_of(*reader, "otlp.resource.n#int") == "-4");
}

TEST_CASE("otlp: attributes beyond the labels of a sample are counted") {
  const test::TemporaryDirectory directory;
  std::string text;
  {
    pbf_writer top(text);
    {
      pbf_writer owner(top, 1);
      pbf_writer scoped(owner, 2);
      Indices all;
      for (std::uint32_t i = 1; i <= 200; ++i) {
        all.push_back(i);
      }
      add_profile(scoped, {{1'000, all}}, {});
    }
    pbf_writer tables(top, 2);
    for (int i = 0; i <= 200; ++i) {
      tables.add_string(5, i == 0 ? std::string() : "key" + std::to_string(i));
    }
    tables.add_message(6, std::string());
    for (int i = 1; i <= 200; ++i) {
      add_attribute(tables, i, [](pbf_writer& any) { any.add_int64(3, 1); });
    }
    tables.add_message(7, std::string());
    tables.add_message(7, std::string());
  }
  const auto reader = packed_text(directory, text);
  const std::vector<std::string> lines = labels_of(*reader);
  REQUIRE(lines.size() == 1);
  CHECK(std::count(lines[0].begin(), lines[0].end(), '=') == 128);
  CHECK(loss_of(*reader, "otlp_attribute_cut") == 200 - 128);
}

TEST_CASE("otlp: numbers have units, which an export writes back") {
  const test::TemporaryDirectory directory;
  const auto first =
      packed_text(directory, R"({"resourceProfiles": [{"scopeProfiles": [{"profiles": [
    {"sampleType": {"typeStrindex": 1}, "samples": [
      {"stackIndex": 0, "attributeIndices": [1, 2], "timestampsUnixNano": ["5"]},
      {"stackIndex": 0, "attributeIndices": [3], "timestampsUnixNano": ["6"]}]}]}]}],
    "dictionary": {"stringTable": ["", "cpu", "size", "bytes", "wait", "milliseconds"],
      "attributeTable": [{}, {"keyStrindex": 2, "value": {"intValue": "4096"}, "unitStrindex": 3},
        {"keyStrindex": 4, "value": {"intValue": "25"}, "unitStrindex": 5},
        {"keyStrindex": 2, "value": {"intValue": "4096"}}]}})");
  const std::vector<std::string> expected = {"5 4294967295 no size=4096 bytes wait=25 milliseconds",
                                             "6 4294967295 no size=4096"};
  CHECK(labels_of(*first) == expected);
  ExportOptions options;
  options.format = ExportFormat::kOtlp;
  REQUIRE(export_capture(*first, directory.file("out"), options).has_value());
  CHECK(labels_of(*packed_file(directory, "out")) == expected);
}

namespace {

// A Profile of one callstack, whose four frames have types: two that are known, one that is not,
// and none.
std::string profile_with_types(const char* service, const std::string& id) {
  std::string text;
  pbf_writer top(text);
  {
    pbf_writer owner(top, 1);
    {
      pbf_writer resource(owner, 1);
      add_text(resource, 1, "os.type", "linux");
      add_text(resource, 1, "service.name", service);
    }
    pbf_writer scoped(owner, 2);
    pbf_writer profile(scoped, 2);
    {
      pbf_writer type(profile, 1);
      type.add_int32(1, 1);
    }
    {
      pbf_writer sample(profile, 2);
      sample.add_int32(1, 1);
      const std::uint64_t time = 1'700'000'000'000'000'000;
      sample.add_packed_fixed64(5, &time, &time + 1);
    }
    profile.add_bytes(7, id);
  }
  pbf_writer tables(top, 2);
  tables.add_message(1, std::string());
  tables.add_message(2, std::string());
  for (int i = 1; i <= 4; ++i) {
    pbf_writer location(tables, 2);
    {
      pbf_writer line(location, 3);
      line.add_int32(1, i == 3 ? 1 : i == 4 ? 3 : i);
    }
    if (i != 4) {
      location.add_packed_int32(4, &i, &i + 1);
    }
  }
  tables.add_message(3, std::string());
  for (int i = 1; i <= 3; ++i) {
    pbf_writer function(tables, 3);
    function.add_int32(1, 1 + i);
  }
  for (const char* const string : {"", "cpu", "first", "second", "third", "profile.frame.type"}) {
    tables.add_string(5, string);
  }
  tables.add_message(6, std::string());
  for (const char* const type : {"go", "kernel", "no such type"}) {
    pbf_writer attribute(tables, 6);
    attribute.add_int32(1, 5);
    pbf_writer value(attribute, 2);
    value.add_string(1, type);
  }
  tables.add_message(7, std::string());
  const int stack[] = {1, 2, 3, 4};
  pbf_writer stacks(tables, 7);
  stacks.add_packed_int32(1, std::begin(stack), std::end(stack));
  return text;
}

// Functions of the callstack, leaf first, with who named them.
std::vector<std::string> typed_functions(const Reader& reader) {
  const auto names = reader.names();
  REQUIRE(names.has_value());
  std::vector<std::string> found;
  for (const Function& function : names->functions) {
    found.push_back(std::string(names->texts[function.name]) + ": " +
                    std::string(source_name(function.source)));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

TEST_CASE("otlp: types of frames and identities of Profiles come back from an export") {
  const test::TemporaryDirectory directory;
  const auto first =
      packed_text(directory, profile_with_types("cart", std::string(kProfileId, 16)));
  const std::vector<std::string> functions = {"first: otlp.go", "first: unknown",
                                              "second: otlp.kernel", "third: unknown"};
  CHECK(typed_functions(*first) == functions);
  CHECK(loss_of(*first, "otlp_frame_attributes_not_kept") == 1);
  CHECK(loss_of(*first, "otlp_fields_not_kept") == 0);
  REQUIRE(labels_of(*first).size() == 1);
  CHECK(labels_of(*first)[0].find("id.profile=0f1e2d3c4b5a69788796a5b4c3d2e1f0") !=
        std::string::npos);
  ExportOptions options;
  options.format = ExportFormat::kOtlp;
  REQUIRE(export_capture(*first, directory.file("out"), options).has_value());
  const auto second = packed_file(directory, "out");
  CHECK(typed_functions(*second) == functions);
  CHECK(labels_of(*second) == labels_of(*first));
  CHECK(loss_of(*second, "otlp_frame_attributes_not_kept") == 0);
}

TEST_CASE("otlp: an identity that is none is counted") {
  const test::TemporaryDirectory directory;
  const auto reader = packed_text(directory, profile_with_types("cart", "short"));
  CHECK(labels_of(*reader).empty());
  CHECK(loss_of(*reader, "otlp_fields_not_kept") == 1);
}

TEST_CASE("otlp: a merge keeps what resources say, by source where they differ") {
  const test::TemporaryDirectory directory;
  for (const char* const name : {"cart", "shop", "till"}) {
    std::ofstream(directory.file(name), std::ios::binary)
        << profile_with_types(name, std::string(kProfileId, 16));
    packed_file(directory, name);
  }
  const auto merged = [&directory](const std::vector<std::string>& inputs, const char* output) {
    std::vector<std::string> paths;
    for (const std::string& input : inputs) {
      paths.push_back(directory.file(input));
    }
    REQUIRE(merge(paths, directory.file(output), {}, nullptr).has_value());
    std::ifstream file(directory.file(output), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string all = merged({"cart.spk", "shop.spk", "till.spk"}, "all.spk");
  merged({"till.spk", "cart.spk"}, "some.spk");
  CHECK(merged({"some.spk", "shop.spk", "cart.spk"}, "again.spk") == all);
  const auto reader = Reader::open(directory.file("all.spk"));
  REQUIRE(reader.has_value());
  CHECK(fact_of(**reader, "otlp.resource.os.type") == "linux");
  CHECK(fact_of(**reader, "otlp.resource.service.name") == "none");
  std::vector<std::string> services;
  for (const char* const row : {"0", "1", "2"}) {
    services.push_back(
        fact_of(**reader, "source." + std::string(row) + ".otlp.resource.service.name"));
  }
  CHECK(in_order(services) == std::vector<std::string>{"cart", "shop", "till"});
  CHECK(typed_functions(**reader).size() == 4);
  // An export has a resource for each source again.
  ExportOptions options;
  options.format = ExportFormat::kOtlp;
  REQUIRE(export_capture(**reader, directory.file("out"), options).has_value());
  const auto back = packed_file(directory, "out");
  CHECK(fact_of(*back, "otlp.resource.os.type") == "linux");
  std::string values;
  for (const std::string& line : labels_of(*back)) {
    values += line + "\n";
  }
  for (const char* const service : {"cart", "shop", "till"}) {
    CHECK(values.find("resource.service.name=" + std::string(service)) != std::string::npos);
  }
}
