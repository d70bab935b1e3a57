#include "formats/otlp/otlp_source.h"

#include <doctest/doctest.h>

#include "bytes/label_bytes.h"
#include "query/selection/label_choice.h"
#include "support/collecting_sink.h"
#include "support/recorded_functions.h"
#include "support/test_bytes.h"
#include <protozero/pbf_writer.hpp>

using namespace stackpack;
using protozero::pbf_writer;
using test::CollectingSink;
using test::TestBytes;

namespace {

using Numbers = std::vector<std::uint64_t>;

// Two images, three locations (one with an inlined call, one without function, one without
// anything but its address), two callstacks, attributes of a thread.
std::string dictionary() {
  std::string text;
  pbf_writer top(text);
  top.add_message(1, std::string());
  {
    pbf_writer mapping(top, 1);
    mapping.add_uint64(1, 0x1000);
    mapping.add_uint64(2, 0x2000);
    mapping.add_uint64(3, 0x500);
    mapping.add_int32(4, 1);
    const std::vector<std::int32_t> ids = {6};
    mapping.add_packed_int32(5, ids.begin(), ids.end());
  }
  top.add_message(2, std::string());
  {
    pbf_writer location(top, 2);
    location.add_int32(1, 1);
    location.add_uint64(2, 0x1010);
    for (const int function : {2, 1}) {
      pbf_writer line(location, 3);
      line.add_int32(1, function);
      line.add_int64(2, 10 * function);
    }
  }
  {
    pbf_writer location(top, 2);
    location.add_int32(1, 1);
    location.add_uint64(2, 0x1020);
  }
  {
    pbf_writer location(top, 2);
    location.add_uint64(2, 0xFFFF'FFFF'8100'0000);
    const std::vector<std::int32_t> ids = {7};
    location.add_packed_int32(4, ids.begin(), ids.end());
  }
  top.add_message(3, std::string());
  for (const int name : {2, 3}) {
    pbf_writer function(top, 3);
    function.add_int32(1, name);
    function.add_int32(3, 4);
    function.add_int64(4, name);
  }
  for (const char* const string :
       {"", "/lib/a.so", "outer", "inner", "a.c", "cpu", "nanoseconds", "samples", "count",
        "process.pid", "thread.id", "thread.name", "process.executable.name", "cpu.logical_number",
        "process.executable.build_id.gnu", "profile.frame.type", "something", "stackpack.event"}) {
    top.add_string(5, string);
  }
  top.add_message(6, std::string());
  const auto attribute = [&top](int key, const char* value, std::int64_t number) {
    pbf_writer entry(top, 6);
    entry.add_int32(1, key);
    pbf_writer any(entry, 2);
    if (value != nullptr) {
      any.add_string(1, value);
    } else {
      any.add_int64(3, number);
    }
  };
  attribute(9, nullptr, 7);
  attribute(10, nullptr, 8);
  attribute(11, "worker", 0);
  attribute(12, "program", 0);
  attribute(13, nullptr, 3);
  attribute(14, "0a0bff", 0);
  attribute(15, "kernel", 0);
  attribute(16, "else", 0);
  attribute(17, "wall", 0);
  top.add_message(7, std::string());
  for (const Numbers& path : {Numbers{1, 2}, Numbers{3, 1}}) {
    pbf_writer stack(top, 7);
    stack.add_packed_uint64(1, path.begin(), path.end());
  }
  return text;
}

struct Given {
  std::uint64_t stack = 1;
  Numbers values;
  Numbers times;
  Numbers attributes = {1, 2, 3, 4, 5};
};

void add_sample(pbf_writer& profile, const Given& given) {
  pbf_writer sample(profile, 2);
  sample.add_uint64(1, given.stack);
  sample.add_packed_uint64(2, given.attributes.begin(), given.attributes.end());
  sample.add_packed_uint64(4, given.values.begin(), given.values.end());
  sample.add_packed_fixed64(5, given.times.begin(), given.times.end());
}

enum class Type { kCpuTime, kCounted, kCountedWithPeriod, kNamed };

std::string profiles(const std::vector<Given>& samples, Type type = Type::kCpuTime) {
  std::string text;
  pbf_writer top(text);
  {
    pbf_writer resource(top, 1);
    {
      pbf_writer attributes(resource, 1);
      pbf_writer host(attributes, 1);
      host.add_string(1, "host.name");
      pbf_writer value(host, 2);
      value.add_string(1, "box");
    }
    pbf_writer scope(resource, 2);
    pbf_writer profile(scope, 2);
    for (const Given& given : samples) {  // before what they mean
      add_sample(profile, given);
    }
    const bool counted = type != Type::kCpuTime;
    {
      pbf_writer value_type(profile, 1);
      value_type.add_int32(1, counted ? 7 : 5);
      value_type.add_int32(2, counted ? 8 : 6);
    }
    profile.add_fixed64(3, 5'000);
    if (type == Type::kCountedWithPeriod) {
      pbf_writer value_type(profile, 5);
      value_type.add_int32(1, 5);
      value_type.add_int32(2, 6);
    }
    profile.add_int64(6, type == Type::kCountedWithPeriod ? 50 : 0);
    if (type == Type::kNamed) {
      const Numbers ids = {0, 9};  // bytes that are no message
      profile.add_packed_uint64(11, ids.begin(), ids.end());
    }
  }
  return text;
}

std::string message(const std::vector<Given>& samples, Type type = Type::kCpuTime) {
  std::string text = profiles(samples, type);
  pbf_writer(text).add_message(2, dictionary());
  return text;
}

Result<capture::ByteAccount> read(const std::string& text, CollectingSink& sink) {
  const std::vector<std::byte> bytes = TestBytes().text(text).bytes;
  const auto source = io::source_of_memory(bytes);
  return otlp::read_capture(*source, sink, {});
}

bool looks(const std::string& text) {
  return bool{otlp::probe({TestBytes().text(text).bytes})};
}

struct Row {
  std::uint64_t time = 0;
  std::uint64_t weight = 0;
  std::string stack;

  friend bool operator==(const Row&, const Row&) = default;
};

std::vector<Row> rows_of(CollectingSink& sink) {
  std::map<std::string, std::string> names;
  for (const test::NamedRange& function : test::functions_of(sink)) {
    char text[24];
    std::snprintf(text, sizeof text, "?%llx", static_cast<unsigned long long>(function.start));
    names[text] = function.name + " " + function.code;
  }
  std::vector<Row> rows;
  for (const CollectingSink::Row& row : sink.rows) {
    Row& made = rows.emplace_back(Row{row.sample.time_ns, row.sample.weight, ""});
    const std::string stack = row.stack + " ";
    for (std::size_t begin = 0; begin < row.stack.size();) {
      const std::size_t end = stack.find(' ', begin);
      const std::string frame = stack.substr(begin, end - begin);
      made.stack += (begin == 0 ? "" : ";") + (names.contains(frame) ? names[frame] : frame);
      begin = end + 1;
    }
  }
  return rows;
}

const std::string kOuter = "outer a.c:20 < inner at a.c:10";
const std::string kFirst = kOuter + ";a.so+0x520 :0";
const std::string kSecond = "0xffffffff81000000 :0;" + kOuter;

}  // namespace

TEST_CASE("otlp: times, values, threads, images, names, inlined calls") {
  CollectingSink sink;
  const std::string text = message({{1, {20, 30}, {1'000, 3'000}}, {2, {5}, {2'000}, {1}}});
  CHECK(looks(text));
  const auto account = read(text, sink);
  REQUIRE(account.has_value());
  CHECK(account->parsed == text.size());
  CHECK(rows_of(sink) ==
        std::vector<Row>{{1'000, 20, kFirst}, {3'000, 30, kFirst}, {2'000, 5, kSecond}});
  CHECK(sink.events == std::vector<Event>{{"cpu", true}});
  const Sample& sample = sink.rows[0].sample;
  CHECK(sample.pid == 7);
  CHECK(sample.tid == 8);
  CHECK(sample.cpu == 3);
  CHECK(sink.rows[2].sample.tid == kUnknownId);
  const capture::SystemTables tables = sink.system_facts.finish();
  REQUIRE(tables.threads.size() == 1);
  CHECK(tables.threads[0].name == "worker");
  REQUIRE(tables.processes.size() == 1);
  CHECK(tables.processes[0].name == "program");
  REQUIRE(tables.modules.size() == 1);
  CHECK(tables.modules[0].path == "/lib/a.so");
  CHECK(tables.modules[0].build_id == std::vector<std::uint8_t>{0x0A, 0x0B, 0xFF});
  CHECK(sink.counters.count("otlp_frame_attributes_not_kept") == 0);
  const auto value_of = [&tables](std::string_view key) {
    const auto found = std::find_if(tables.metadata.begin(), tables.metadata.end(),
                                    [key](const MetadataEntry& entry) { return entry.key == key; });
    return found == tables.metadata.end() ? std::string("none") : found->value;
  };
  CHECK(value_of("host.name") == "box");
  CHECK(value_of("pprof.unit.cpu") == "nanoseconds");
  CHECK(value_of("samples.aggregated") == "none");
}

TEST_CASE("otlp: a sample without values is one for each time, and weighs its period") {
  CollectingSink sink;
  REQUIRE(read(message({{1, {}, {1'000, 3'000}}}, Type::kCountedWithPeriod), sink).has_value());
  CHECK(rows_of(sink) == std::vector<Row>{{1'000, 50, kFirst}, {3'000, 50, kFirst}});
  CHECK(sink.events == std::vector<Event>{{"cpu", true}});

  CollectingSink counted;
  REQUIRE(read(message({{1, {}, {1'000}}}, Type::kNamed), counted).has_value());
  CHECK(counted.events == std::vector<Event>{{"wall", false}});
  CHECK_FALSE(counted.counters.any_loss());
  CHECK(rows_of(counted) == std::vector<Row>{{1'000, 1, kFirst}});
}

TEST_CASE("otlp: a sample without times stands for its value, at the beginning of the profile") {
  CollectingSink sink;
  REQUIRE(read(message({{1, {9}, {}}}), sink).has_value());
  CHECK(rows_of(sink) == std::vector<Row>{{5'000, 9, kFirst}});
  const auto metadata = sink.system_facts.finish().metadata;
  CHECK(std::count(metadata.begin(), metadata.end(), MetadataEntry{"samples.aggregated", "1"}) ==
        1);
}

TEST_CASE("otlp: messages with their lengths in front, each with its own dictionary") {
  const std::string one = message({{1, {1}, {1'000}}});
  const std::string two = message({{2, {2}, {2'000}}, {0, {3}, {3'000}}});
  std::string text;
  for (const std::string& each : {one, two}) {
    for (const int shift : {24, 16, 8, 0}) {
      text += static_cast<char>(each.size() >> shift & 0xFFU);
    }
    text += each;
  }
  CHECK(looks(text));
  CollectingSink sink;
  const auto account = read(text, sink);
  REQUIRE(account.has_value());
  CHECK(account->parsed == text.size());
  CHECK(rows_of(sink) == std::vector<Row>{{1'000, 1, kFirst}, {2'000, 2, kSecond}, {3'000, 3, ""}});

  CollectingSink cut;
  const auto less = read(text.substr(0, text.size() - 1), cut);
  REQUIRE(less.has_value());
  CHECK(less->balanced());
  CHECK(cut.rows.size() == 1);
  CHECK(cut.counters.count("otlp_damaged_stream") == 1);
}

TEST_CASE("otlp: what cannot be read is left out and counted") {
  CollectingSink sink;
  const auto account = read(message({{1, {1, 2}, {1'000}},
                                     {9, {1}, {1'000}},
                                     {1, {0, ~std::uint64_t{0}, 4}, {1, 2, 3}},
                                     {1, {1}, {4}, {99}}}),
                            sink);
  REQUIRE(account.has_value());
  CHECK(account->balanced());
  CHECK(rows_of(sink) == std::vector<Row>{{1, 0, kFirst}, {3, 4, kFirst}, {4, 1, kFirst}});
  CHECK(sink.counters.count("otlp_values_and_times_differ") == 1);
  CHECK(sink.counters.count("otlp_sample_of_zeros") == 0);  // it says when it was
  CHECK(sink.counters.count("otlp_negative_value") == 1);
  CHECK(sink.counters.count("otlp_unknown_index") >= 2);

  CollectingSink none;
  CHECK_FALSE(read(profiles({{1, {1}, {1}}}), none).has_value());
}

TEST_CASE("otlp: wherever a message is cut, reading ends well") {
  const std::string whole = message({{1, {20, 30}, {1'000, 3'000}}, {2, {5}, {2'000}, {1}}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CollectingSink sink;
    const auto account = read(whole.substr(0, size), sink);
    if (account) {
      CHECK(account->balanced());
      CHECK(account->parsed < whole.size());
    }
  }
}

TEST_CASE("otlp: JSON has the same fields, in any order, numbers as texts or not") {
  const std::string text = R"( {"dictionary": {"unknown": [{"a": [1, {"b": 2}]}],
    "mappingTable": [{}, {"memoryStart": "4096", "fileOffset": 1280, "filenameStrindex": 1}],
    "locationTable": [{}, {"mappingIndex": 1, "address": "4128"},
      {"address": "1", "lines": [{"functionIndex": 1, "line": "7"}]}],
    "functionTable": [{}, {"name_strindex": 2}],
    "stringTable": ["", "/lib/a.so", "gr\u00fc\u00dfe", "process.pid", "cpu", "nanoseconds"],
    "attributeTable": [{}, {"keyStrindex": 3, "value": {"intValue": "7"}}],
    "stackTable": [{}, {"locationIndices": [1, 2]}]},
    "resourceProfiles": [{"scopeProfiles": [{"profiles": [{
      "sampleType": {"typeStrindex": 4, "unitStrindex": 5}, "profileId": "AAAA",
      "samples": [{"stackIndex": 1, "attributeIndices": [1], "values": ["5", 6],
                   "timestampsUnixNano": ["100", "200"]}]}]}]}]})";
  CHECK(looks(text));
  CollectingSink sink;
  const auto account = read(text, sink);
  REQUIRE(account.has_value());
  CHECK(account->parsed == text.size());
  const std::string stack = "a.so+0x520 :0;grüße :7";
  CHECK(rows_of(sink) == std::vector<Row>{{100, 5, stack}, {200, 6, stack}});
  CHECK(sink.rows[0].sample.pid == 7);

  CollectingSink broken;
  CHECK_FALSE(read(text.substr(0, text.size() - 1), broken).has_value());
  CHECK_FALSE(
      read(R"({"resourceProfiles": 1, "dictionary": {"stringTable": [}})", broken).has_value());
  CHECK_FALSE(read("{\"resourceProfiles\":" + std::string(100, '['), broken).has_value());
}

namespace {

// The same two samples as the releases of the schema number their fields: weights of two types of
// one name where a Profile has several, times, an attribute with a unit.
enum class Release { kRanges, kStacks, kSamples, kCurrent };

void add_attribute(pbf_writer& tables, Release release) {
  pbf_writer attribute(tables, 6);
  if (release == Release::kRanges) {
    attribute.add_string(1, "size");
  } else {
    attribute.add_int32(1, 4);
    attribute.add_int32(3, 5);
  }
  pbf_writer value(attribute, 2);
  value.add_int64(3, 4096);
}

void add_tables(pbf_writer& top, Release release) {
  const bool ranges = release == Release::kRanges;
  pbf_writer tables(top, 2);
  if (!ranges) {
    tables.add_message(2, std::string());
    tables.add_message(6, std::string());
  }
  for (const int function : {0, 1}) {
    pbf_writer location(tables, 2);
    pbf_writer line(location, 3);
    line.add_int32(1, function);
  }
  for (const int name : {2, 3}) {
    pbf_writer function(tables, 3);
    function.add_int32(1, name);
  }
  for (const char* const string : {"", "wall", "leaf", "root", "size", "bytes", "count", "ns"}) {
    tables.add_string(5, string);
  }
  add_attribute(tables, release);
  if (ranges) {
    pbf_writer unit(tables, 7);
    unit.add_int32(1, 4);
    unit.add_int32(2, 5);
    return;
  }
  tables.add_message(7, std::string());
  for (const Numbers& path : {Numbers{1, 2}, Numbers{2}}) {
    pbf_writer stack(tables, 7);
    stack.add_packed_uint64(1, path.begin(), path.end());
  }
}

void add_type(pbf_writer& profile, int unit) {
  pbf_writer type(profile, 1);
  type.add_int32(1, 1);
  type.add_int32(2, unit);
}

struct Weighed {
  int stack = 0;
  std::uint64_t count = 0;
  std::uint64_t ns = 0;
  Numbers attributes;
};

void add_sample(pbf_writer& profile, Release release, const Weighed& given) {
  constexpr std::uint64_t kTime = 1'000;
  pbf_writer sample(profile, 2);
  if (release == Release::kRanges) {
    const Numbers values = {given.count, given.ns};
    sample.add_int32(1, given.stack == 1 ? 0 : 1);
    sample.add_int32(2, given.stack == 1 ? 2 : 1);
    sample.add_packed_uint64(3, values.begin(), values.end());
    sample.add_packed_uint64(4, given.attributes.begin(), given.attributes.end());
    sample.add_packed_uint64(6, &kTime, &kTime + 1);
    return;
  }
  const bool current = release == Release::kCurrent;
  sample.add_int32(1, given.stack);
  sample.add_packed_uint64(current ? 4 : 2, &given.ns, &given.ns + 1);
  sample.add_packed_uint64(current ? 2 : 3, given.attributes.begin(), given.attributes.end());
  sample.add_packed_fixed64(5, &kTime, &kTime + 1);
}

std::string message_of_release(Release release) {
  const bool ranges = release == Release::kRanges;
  std::string text;
  pbf_writer top(text);
  {
    pbf_writer resource(top, 1);
    pbf_writer scope(resource, 2);
    pbf_writer profile(scope, 2);
    if (ranges) {
      const Numbers path = {0, 1};
      add_type(profile, 6);
      profile.add_packed_uint64(3, path.begin(), path.end());
      profile.add_int64(4, 500);
    } else {
      profile.add_fixed64(3, 500);
    }
    add_type(profile, 7);
    add_sample(profile, release, {1, 2, 70, {ranges ? 0U : 1U}});
    add_sample(profile, release, {2, 1, 30, {}});
    const std::uint32_t id = ranges ? 10 : release == Release::kStacks ? 8 : 7;
    profile.add_bytes(id, std::string(16, 'i'));
  }
  add_tables(top, release);
  return text;
}

// The distinct sets of labels, of which there are two.
std::vector<std::string> label_lines(CollectingSink& sink) {
  capture::LabelRecorder& recorder = sink.field_recorder.labels();
  recorder.use(0);
  recorder.use(1);
  REQUIRE(recorder.settle().has_value());
  std::vector<std::string> lines;
  const Status visited = recorder.visit([&](std::string_view bytes) -> Status {
    LabelSet labels;
    REQUIRE(bytes::read_labels(bytes::ByteCursor(std::as_bytes(std::span(bytes)), 0), labels));
    std::string& line = lines.emplace_back();
    for (const Label& label : labels) {
      line += (line.empty() ? "" : " ") + label.key + "=" + query::label_text(label);
    }
    return {};
  });
  REQUIRE(visited.has_value());
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

TEST_CASE("otlp: every release's numbers of fields say the same") {
  for (const Release release :
       {Release::kRanges, Release::kStacks, Release::kSamples, Release::kCurrent}) {
    CAPTURE(static_cast<int>(release));
    const std::string text = message_of_release(release);
    CHECK(looks(text));
    CollectingSink sink;
    sink.keeps_fields = true;
    REQUIRE(read(text, sink).has_value());
    const std::vector<Row> weighed = rows_of(sink);
    const bool ranges = release == Release::kRanges;
    const Row first{1'000, 70, "leaf :0;root :0"};
    const Row second{1'000, 30, "root :0"};
    if (ranges) {
      CHECK(sink.events == std::vector<Event>{{"wall/count", true}, {"wall", true}});
      CHECK(weighed ==
            std::vector<Row>{{1'000, 2, first.stack}, {1'000, 1, second.stack}, first, second});
    } else {
      CHECK(sink.events == std::vector<Event>{{"wall", true}});
      CHECK(weighed == std::vector<Row>{first, second});
    }
    CHECK_FALSE(sink.counters.any_loss());
    CHECK(sink.counters.count("otlp_fields_not_kept") == 0);
    const std::string identity = "id.profile=69696969696969696969696969696969";
    CHECK(label_lines(sink) == std::vector<std::string>{identity, "size=4096 bytes " + identity});
  }
}

TEST_CASE("otlp: what it is told by") {
  CHECK_FALSE(looks(""));
  CHECK_FALSE(looks("{\"profiles\": []}"));
  CHECK_FALSE(looks("\n\n\nmain;work 1\n"));
  CHECK_FALSE(looks(std::string("\x0a\x04\x08\x01\x10\x02", 6)));  // a sample type of pprof
}
