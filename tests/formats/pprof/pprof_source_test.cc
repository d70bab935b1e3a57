#include "formats/pprof/pprof_source.h"

#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bytes/label_bytes.h"
#include "capture/synthetic_frames.h"
#include "codec/gzip_codec.h"
#include "formats/pprof/pprof_losses.h"
#include "support/collecting_sink.h"
#include "support/recorded_functions.h"
#include "support/test_bytes.h"
#include <protozero/pbf_writer.hpp>

using namespace stackpack;
using protozero::pbf_writer;
using test::CollectingSink;
using test::TestBytes;

namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  return TestBytes().text(text).bytes;
}

std::vector<std::byte> gzip_of(const std::string& text) {
  codec::GzipCompressor gzip;
  std::vector<std::byte> out;
  gzip.append(bytes_of(text), out);
  gzip.finish(out);
  return out;
}

// Writes a profile.proto as others do: samples first, strings last.
class ProfileText {
 public:
  std::int64_t string(const std::string& text) {
    for (std::size_t i = 0; i < strings_.size(); ++i) {
      if (strings_[i] == text) {
        return static_cast<std::int64_t>(i);
      }
    }
    strings_.push_back(text);
    return static_cast<std::int64_t>(strings_.size() - 1);
  }
  ProfileText& type(const std::string& name, const std::string& unit) {
    pbf_writer message(top_, 1);
    message.add_int64(1, string(name));
    message.add_int64(2, string(unit));
    return *this;
  }
  ProfileText& sample(const std::vector<std::uint64_t>& locations,
                      const std::vector<std::int64_t>& values, std::int64_t pid = -1,
                      const std::string& comm = "") {
    pbf_writer message(top_, 2);
    message.add_packed_uint64(1, locations.begin(), locations.end());
    message.add_packed_int64(2, values.begin(), values.end());
    if (pid >= 0) {
      for (const char* key : {"pid", "tid"}) {
        pbf_writer label(message, 3);
        label.add_int64(1, string(key));
        label.add_int64(3, pid);
      }
    }
    if (!comm.empty()) {
      pbf_writer label(message, 3);
      label.add_int64(1, string("comm"));
      label.add_int64(2, string(comm));
    }
    return *this;
  }
  // A sample of location 1 and value 1 in thread 42 of process 42, with one more label.
  ProfileText& labelled_sample(const std::string& key, const std::string& text,
                               std::int64_t value) {
    pbf_writer message(top_, 2);
    const std::uint64_t location[] = {1};
    const std::int64_t values[] = {1};
    message.add_packed_uint64(1, std::begin(location), std::end(location));
    message.add_packed_int64(2, std::begin(values), std::end(values));
    for (const char* id : {"pid", "tid"}) {
      pbf_writer label(message, 3);
      label.add_int64(1, string(id));
      label.add_int64(3, 42);
    }
    pbf_writer label(message, 3);
    label.add_int64(1, string(key));
    label.add_int64(2, string(text));
    label.add_int64(3, value);
    return *this;
  }
  ProfileText& mapping(std::uint64_t id, std::uint64_t start, std::uint64_t limit,
                       const std::string& file, const std::string& build_id) {
    pbf_writer message(top_, 3);
    message.add_uint64(1, id);
    message.add_uint64(2, start);
    message.add_uint64(3, limit);
    message.add_uint64(4, 0x400);
    message.add_int64(5, string(file));
    message.add_int64(6, string(build_id));
    return *this;
  }
  ProfileText& location(std::uint64_t id, std::uint64_t mapping, std::uint64_t address,
                        const std::vector<std::uint64_t>& functions = {}) {
    pbf_writer message(top_, 4);
    message.add_uint64(1, id);
    message.add_uint64(2, mapping);
    message.add_uint64(3, address);
    std::int64_t number = first_line_;
    for (const std::uint64_t function : functions) {
      pbf_writer line(message, 4);
      line.add_uint64(1, function);
      if (number != 0) {
        line.add_int64(2, number++);
      }
    }
    return *this;
  }
  // Of the locations that follow; their other lines count on. 0: they have none.
  ProfileText& first_line(std::int64_t number) {
    first_line_ = number;
    return *this;
  }
  ProfileText& function(std::uint64_t id, const std::string& name, const std::string& linkage = "",
                        const std::string& file = "", std::int64_t start_line = 0) {
    pbf_writer message(top_, 5);
    message.add_uint64(1, id);
    message.add_int64(2, string(name));
    message.add_int64(3, string(linkage));
    message.add_int64(4, string(file));
    message.add_int64(5, start_line);
    return *this;
  }
  ProfileText& time(std::int64_t ns) { return fact(9, ns); }
  ProfileText& fact(std::uint32_t field, std::int64_t value) {
    top_.add_int64(field, value);
    return *this;
  }
  ProfileText& packed_facts(std::uint32_t field, const std::vector<std::int64_t>& values) {
    top_.add_packed_int64(field, values.begin(), values.end());
    return *this;
  }
  ProfileText& period_type(const std::string& name, const std::string& unit) {
    pbf_writer message(top_, 11);
    message.add_int64(1, string(name));
    message.add_int64(2, string(unit));
    return *this;
  }
  [[nodiscard]] std::string done() const {
    std::string result = text_;
    pbf_writer top(result);
    for (const std::string& text : strings_) {
      top.add_string(6, text);
    }
    return result;
  }

 private:
  std::vector<std::string> strings_{""};
  std::int64_t first_line_ = 17;
  std::string text_;
  pbf_writer top_{text_};
};

Result<capture::ByteAccount> read(const std::vector<std::byte>& bytes, CollectingSink& sink,
                                  const pprof::ReadOptions& options = {}) {
  const auto source = io::source_of_memory(bytes);
  return pprof::read_capture(*source, sink, options);
}

std::string synthetic(unsigned index) {
  char text[24];
  std::snprintf(text, sizeof text, "?%llx",
                static_cast<unsigned long long>(capture::SyntheticFrames::kFirstAddress + index));
  return text;
}

std::string two_process_profile() {
  return ProfileText()
      .type("samples", "count")
      .type("cpu", "nanoseconds")
      .sample({1, 2}, {3, 300}, 42, "alpha")
      .sample({3, 2}, {1, 0})
      .sample({}, {5, 0})
      .mapping(1, 0x1000, 0x2000, "/bin/alpha", "abcd")
      .mapping(2, 0xffff0000, 0xfffff000, "[kernel.kallsyms]", "")
      .location(1, 2, 0xffff0100)
      .location(2, 1, 0x1010)
      .location(3, 0, 0x99)
      .time(1'700'000'000'000'000'000)
      .done();
}

}  // namespace

TEST_CASE("pprof source: values become events, locations addresses, labels threads") {
  for (const bool compressed : {false, true}) {
    CAPTURE(compressed);
    const std::string text = two_process_profile();
    const std::vector<std::byte> file = compressed ? gzip_of(text) : bytes_of(text);
    CHECK(pprof::probe({file}));
    CollectingSink sink;
    const auto account = read(file, sink);
    REQUIRE(account.has_value());
    CHECK(account->total == file.size());
    CHECK(account->parsed == file.size());
    CHECK(sink.events == std::vector<Event>{{"samples", true}, {"cpu", true}});
    REQUIRE(sink.rows.size() == 4);
    CHECK(sink.rows[0].stack == "kffff0100 ?1010");
    CHECK(sink.rows[0].sample.weight == 3);
    CHECK(sink.rows[0].sample.pid == 42);
    CHECK(sink.rows[0].sample.tid == 42);
    CHECK(sink.rows[0].sample.time_ns == 1'700'000'000'000'000'000U);
    CHECK(sink.rows[1].sample.event == 1);
    CHECK(sink.rows[1].sample.weight == 300);
    CHECK(sink.rows[2].stack == "?99 ?1010");
    CHECK(sink.rows[2].sample.pid == kUnknownId);
    CHECK(sink.rows[3].stack.empty());
    CHECK(sink.rows[3].sample.origin == StackOrigin::kNone);
    const capture::SystemTables tables = sink.system_facts.finish();
    REQUIRE(tables.modules.size() == 2);
    CHECK(tables.modules[0].path == "/bin/alpha");
    CHECK(tables.modules[0].file_offset == 0x400);
    CHECK(tables.modules[0].build_id == std::vector<std::uint8_t>{0xab, 0xcd});
    REQUIRE(tables.processes.size() == 1);
    CHECK(tables.processes[0].name == "alpha");
    CHECK_FALSE(sink.counters.any_loss());
  }
}

TEST_CASE("pprof source: the unit of each type of value is a fact about the profile") {
  CollectingSink sink;
  REQUIRE(read(bytes_of(two_process_profile()), sink).has_value());
  std::map<std::string, std::string> facts;
  for (const MetadataEntry& entry : sink.system_facts.finish().metadata) {
    facts[entry.key] = entry.value;
  }
  CHECK(facts["pprof.unit.samples"] == "count");
  CHECK(facts["pprof.unit.cpu"] == "nanoseconds");
  CHECK(facts["samples.aggregated"] == "1");
}

TEST_CASE("pprof source: a thread has the name of a label comm with a text, and of no other") {
  struct Case {
    const char* key;
    const char* text;
    std::int64_t value;
    const char* name;
  };
  for (const Case& c : std::vector<Case>{
           {"comm", "alpha", 0, "alpha"}, {"comm", "", 7, ""}, {"thread_name", "alpha", 0, ""}}) {
    CAPTURE(c.key);
    CAPTURE(c.text);
    const std::string text = ProfileText()
                                 .type("samples", "count")
                                 .location(1, 0, 0x10)
                                 .labelled_sample(c.key, c.text, c.value)
                                 .done();
    CollectingSink sink;
    REQUIRE(read(bytes_of(text), sink).has_value());
    REQUIRE(sink.rows.size() == 1);
    CHECK(sink.rows[0].sample.tid == 42);
    const bool named = *c.name != '\0';
    CHECK(sink.counters.count(pprof::loss::kLabelsNotKept) == (named ? 0 : 1));
    std::string name;
    for (const Thread& thread : sink.system_facts.finish().threads) {
      name += thread.name;
    }
    CHECK(name == c.name);
  }
}

TEST_CASE(
    "pprof source: the label event is one where samples of a thread are counted, else a label") {
  for (const char* const type : {"samples", "objects"}) {
    CAPTURE(type);
    ProfileText text;
    text.type(type, "count").location(1, 0, 0x10).labelled_sample("event", "sched_switch", 0);
    CollectingSink sink;
    sink.keeps_fields = true;
    REQUIRE(read(bytes_of(text.done()), sink).has_value());
    REQUIRE(sink.rows.size() == 1);
    const Sample& sample = sink.rows[0].sample;
    const bool is_event = std::string_view(type) == "samples";
    CHECK(sink.events[sample.event].name == (is_event ? "sched_switch" : "objects"));
    CHECK(((sample.flags & capture::kSampleHasFields) == 0) == is_event);
  }
}

TEST_CASE("pprof source: labels are fields of samples, each set of them once") {
  ProfileText text;
  text.type("samples", "count").location(1, 0, 0x10);
  text.labelled_sample("route", "/pay", 0).labelled_sample("route", "/cart", 0);
  text.labelled_sample("bytes", "", 4096).labelled_sample("route", "/pay", 0);
  text.labelled_sample("event", "samples", 0);  // of our own exports: the column says so
  text.labelled_sample("none", "", 0);          // neither a text nor a number
  CollectingSink sink;
  sink.keeps_fields = true;
  REQUIRE(read(bytes_of(text.done()), sink).has_value());
  REQUIRE(sink.rows.size() == 6);
  std::vector<std::uint64_t> labelled;
  for (std::uint64_t i = 0; i < sink.rows.size(); ++i) {
    if ((sink.rows[static_cast<std::size_t>(i)].sample.flags & capture::kSampleHasFields) != 0) {
      labelled.push_back(i);
      sink.field_recorder.place(i);
    }
  }
  CHECK(labelled == std::vector<std::uint64_t>{0, 1, 2, 3});
  std::vector<std::uint64_t> sets;
  REQUIRE(sink.field_recorder.finish([&sets](FieldRow& row) {
    sets.push_back(row.value(stackpack::SampleField::kLabelSet));
    return Status{};
  }));
  std::vector<LabelSet> labels;
  REQUIRE(sink.field_recorder.labels().visit([&labels](std::string_view set) {
    CHECK(bytes::read_labels(bytes::ByteCursor(std::as_bytes(std::span(set)), 0),
                             labels.emplace_back()));
    return Status{};
  }));
  REQUIRE(labels.size() == 3);
  REQUIRE(sets.size() == 4);
  const auto label_of = [&](std::size_t row) {
    return labels[static_cast<std::size_t>(sets[row])].front();
  };
  CHECK(label_of(0) == Label{"route", LabelType::kText, "/pay", 0, {}});
  CHECK(label_of(1) == Label{"route", LabelType::kText, "/cart", 0, {}});
  CHECK(label_of(2) == Label{"bytes", LabelType::kInteger, {}, 4096, {}});
  CHECK(sets[3] == sets[0]);
  CHECK_FALSE(sink.counters.any_loss());
  CHECK(sink.counters.sorted().empty());
}

TEST_CASE("pprof source: functions name the addresses of an image, with lines and inlined calls") {
  const std::string text = ProfileText()
                               .type("samples", "count")
                               .sample({7, 8, 9}, {1})
                               .mapping(1, 0x1000, 0x2000, "/bin/go", "abcd")
                               .location(7, 1, 0x1010, {2, 3, 1})
                               .first_line(0)
                               .location(8, 1, 0x1020, {3})
                               .location(9, 0, 0x77, {4})
                               .function(1, "outer", "_outer", "outer.go", 10)
                               .function(2, "innermost", "", "inner.go")
                               .function(3, "main.main", "main.main", "main.go")
                               .function(4, "made at run time")
                               .done();
  CollectingSink sink;
  REQUIRE(read(bytes_of(text), sink).has_value());
  REQUIRE(sink.rows.size() == 1);
  CHECK(sink.rows[0].stack == "?1010 ?1020 ?77");
  const auto functions = test::functions_of(sink);
  REQUIRE(functions.size() == 3);
  CHECK(functions[0].owner == FunctionOwner::kKernel);
  CHECK(functions[0].start == 0x77);
  CHECK(functions[0].name == "made at run time");
  CHECK(functions[0].code == ":0");
  CHECK(functions[1].owner == FunctionOwner::kImage);
  CHECK(functions[1].source == FunctionSource::kPprof);
  CHECK(functions[1].start == 0x410);
  CHECK(functions[1].size == 1);
  CHECK(functions[1].name == "outer");
  CHECK(functions[1].linkage == "_outer");
  CHECK(functions[1].declared == "outer.go:10");
  CHECK(functions[1].code == "inner.go:17 < main.main at outer.go:19 < innermost at main.go:18");
  CHECK(functions[2].start == 0x420);
  CHECK(functions[2].name == "main.main");
  CHECK(functions[2].linkage.empty());
  CHECK(functions[2].code == "main.go:0");
  CHECK_FALSE(sink.counters.any_loss());
  CHECK(sink.counters.sorted().empty());
}

TEST_CASE("pprof source: functions without an address of their own are frames by name") {
  const std::string text = ProfileText()
                               .type("samples", "count")
                               .sample({7, 8, 9, 10, 11}, {1})
                               .mapping(1, 0x1000, 0x2000, "/bin/go", "")
                               .first_line(0)
                               .location(7, 0, 0, {1})
                               .location(8, 1, 0x1010, {1})
                               .location(9, 1, 0x1010, {2})  // the address has a name already
                               .location(10, 0, 0, {1})
                               .first_line(5)
                               .location(11, 0, 0, {1})
                               .function(1, "one")
                               .function(2, "", "two")
                               .done();
  CollectingSink sink;
  REQUIRE(read(bytes_of(text), sink).has_value());
  CHECK(sink.rows[0].stack ==
        synthetic(0) + " ?1010 " + synthetic(1) + " " + synthetic(0) + " " + synthetic(17));
  std::vector<std::string> lines;
  for (const test::NamedRange& function : test::functions_of(sink)) {
    lines.push_back(function.name + " " + function.code);
  }
  CHECK(lines == std::vector<std::string>{"one :0", "two :0", "one :5", "one :0"});
  CHECK(sink.counters.count("pprof_addresses_told_by_name") == 1);
}

TEST_CASE("pprof source: a mapping that overlaps another one gets addresses of its own") {
  const std::string text = ProfileText()
                               .type("samples", "count")
                               .sample({1, 2, 3}, {1})
                               .mapping(1, 0x1000, 0x3000, "/bin/a", "")
                               .mapping(2, 0x2000, 0x4000, "/bin/b", "")
                               .location(1, 1, 0x1010)
                               .location(2, 2, 0x2020)
                               .location(3, 1, 0x9000)  // outside of its mapping
                               .done();
  CollectingSink sink;
  REQUIRE(read(bytes_of(text), sink).has_value());
  CHECK(sink.rows[0].stack == "?1010 ?5f80000000000020 " + synthetic(0));
  const auto functions = test::functions_of(sink);
  REQUIRE(functions.size() == 1);
  CHECK(functions[0].name == "a+0x8400");
  const std::vector<Module> modules = sink.system_facts.finish().modules;
  REQUIRE(modules.size() == 3);
  CHECK(modules[1].path == "/bin/a");  // of the name
  CHECK(modules[2].path == "/bin/b");
  CHECK(modules[2].base == 0x5f80'0000'0000'0000U);
  CHECK(modules[2].size == 0x2000);
  CHECK(modules[2].file_offset == 0x400);
  CHECK(sink.counters.count("pprof_overlapping_mappings") == 1);
}

// As .NET writes its code: one name, no offset, and other functions at the same distance.
TEST_CASE("pprof source: two mappings of one name and offset keep their own functions") {
  const std::string text = ProfileText()
                               .type("samples", "count")
                               .sample({1, 2, 3, 4}, {1})
                               .mapping(1, 0x1000, 0x2000, "/memfd:doublemapper (deleted)", "")
                               .mapping(2, 0x5000, 0x6000, "/memfd:doublemapper (deleted)", "")
                               .first_line(0)
                               .location(1, 1, 0x1010, {1})
                               .location(2, 2, 0x5010, {2})
                               .location(3, 2, 0x5020, {2})
                               .location(4, 1, 0x1020, {2})
                               .function(1, "one")
                               .function(2, "two")
                               .done();
  CollectingSink sink;
  REQUIRE(read(bytes_of(text), sink).has_value());
  CHECK(sink.rows[0].stack == "?1010 " + synthetic(0) + " ?5020 ?1020");
  std::map<std::uint64_t, std::string> names;
  for (const test::NamedRange& function : test::functions_of(sink)) {
    names[function.start] = function.name;
  }
  CHECK(names ==
        std::map<std::uint64_t, std::string>{
            {0x410, "one"}, {0x420, "two"}, {capture::SyntheticFrames::kFirstAddress, "two"}});
}

TEST_CASE("pprof source: a line without a function says nothing, as in pprof") {
  const std::string text = ProfileText()
                               .type("samples", "count")
                               .sample({1, 2, 3, 4}, {1})
                               .mapping(1, 0x1000, 0x2000, "/bin/go", "")
                               .location(1, 1, 0x1010, {0})
                               .location(2, 1, 0x1020, {1})
                               .location(3, 0, ~std::uint64_t{0}, {1})
                               .location(4, 0, ~std::uint64_t{0}, {2})
                               .function(1, "")
                               .function(2, "last")
                               .done();
  CollectingSink sink;
  REQUIRE(read(bytes_of(text), sink).has_value());
  CHECK(sink.rows[0].stack == "?1010 ?1020 ?ffffffffffffffff " + synthetic(0));
  const auto functions = test::functions_of(sink);
  REQUIRE(functions.size() == 1);
  CHECK(functions[0].name == "last");
  CHECK_FALSE(sink.counters.any_loss());
}

// Of google/pprof's profile/prune_test.go: what is dropped, what keeps it, and inlined functions.
TEST_CASE("pprof source: frames that the profile drops go with all that they call") {
  struct Case {
    const char* name;
    const char* drop;
    const char* keep;
    const char* stack;
    std::uint64_t dropped;
  };
  for (const Case& c : std::vector<Case>{
           {"nothing is dropped", "", "", "leaf malloc|new work main", 0},
           {"what calls the leaf", "malloc|tcmalloc::.*", "", "new work main", 1},
           {"the frame nearest to the root counts", "leaf|work", "", "main", 3},
           {"the whole of a name alone", "mall|wor", "", "leaf malloc|new work main", 0},
           {"arguments are not part of a name", "work", "", "main", 3},
           {"what is kept stays", "leaf|malloc", "malloc", "malloc|new work main", 1},
           {"no frame above the first that stays", "main", "", "leaf malloc|new work main", 0},
           {"an expression that cannot be read", "(", "", "leaf malloc|new work main", 0}}) {
    CAPTURE(c.name);
    ProfileText text;
    text.type("space", "bytes")
        .sample({1, 2, 3, 4}, {1})
        .first_line(0)
        .location(1, 0, 0x10, {1})
        .location(2, 0, 0x20, {2, 5})
        .location(3, 0, 0x30, {3})
        .location(4, 0, 0x40, {4})
        .function(1, "leaf")
        .function(2, "malloc")
        .function(3, "work(int)")
        .function(4, "main")
        .function(5, "new");
    text.fact(7, text.string(c.drop)).fact(8, text.string(c.keep));
    CollectingSink sink;
    REQUIRE(read(bytes_of(text.done()), sink).has_value());
    std::map<std::uint64_t, std::string> names;
    for (const test::NamedRange& function : test::functions_of(sink)) {
      const bool inlined = function.code.find("malloc") != std::string::npos;
      names[function.start] = inlined                        ? "malloc|new"
                              : function.name == "work(int)" ? "work"
                                                             : function.name;
    }
    std::string stack;
    for (std::size_t at = 0; at < sink.rows[0].stack.size(); at += 4) {
      stack += (at == 0 ? "" : " ") +
               names[std::stoull(sink.rows[0].stack.substr(at + 1, 2), nullptr, 16)];
    }
    CHECK(stack == c.stack);
    CHECK(sink.counters.count("pprof_dropped_frames") == c.dropped);
    CHECK(sink.counters.count("pprof_frames_not_dropped") == (*c.drop == '(' ? 1 : 0));
  }
}

TEST_CASE("pprof source: what the profile says of itself is kept") {
  const auto facts_of = [](const std::string& text) {
    CollectingSink sink;
    REQUIRE(read(bytes_of(text), sink).has_value());
    std::map<std::string, std::string> facts;
    for (const MetadataEntry& entry : sink.system_facts.finish().metadata) {
      facts[entry.key] = entry.value;
    }
    return facts;
  };
  ProfileText text;
  text.type("alloc", "bytes").type("inuse", "bytes").type("objects", "count");
  CHECK(facts_of(text.done())["pprof.default_event"] == "objects");
  text.fact(14, text.string("inuse")).fact(12, 524'288).fact(15, text.string("https://example"));
  text.fact(13, text.string("first")).packed_facts(13, {0, text.string("second")});
  auto facts = facts_of(text.period_type("space", "bytes").done());
  CHECK(facts["pprof.default_event"] == "inuse");
  CHECK(facts["pprof.period"] == "524288");
  CHECK(facts["pprof.period_type"] == "space");
  CHECK(facts["pprof.period_unit"] == "bytes");
  CHECK(facts["pprof.doc_url"] == "https://example");
  CHECK(facts["pprof.comment.0"] == "first");
  CHECK(facts["pprof.comment.1"] == "second");
  // A name that no type has is passed over, and one type needs no choice.
  ProfileText other;
  other.type("alloc", "bytes").type("inuse", "bytes").fact(14, other.string("none"));
  CHECK(facts_of(other.done())["pprof.default_event"] == "inuse");
  CHECK_FALSE(
      facts_of(ProfileText().type("alloc", "bytes").done()).contains("pprof.default_event"));
}

TEST_CASE("pprof source: a file of several gzip members is one profile") {
  const std::string text = two_process_profile();
  std::vector<std::byte> file = gzip_of(text.substr(0, 40));
  const std::vector<std::byte> rest = gzip_of(text.substr(40));
  file.insert(file.end(), rest.begin(), rest.end());
  CollectingSink sink;
  const auto account = read(file, sink);
  REQUIRE(account.has_value());
  CHECK(account->parsed == file.size());
  CHECK(sink.rows.size() == 4);
}

TEST_CASE("pprof source: damage is counted, the rest is read") {
  struct Case {
    const char* name;
    std::string text;
    const char* counter;
    std::size_t rows;
  };
  const auto with = [](const auto& change) {
    ProfileText text;
    text.type("samples", "count").location(1, 0, 0x10);
    change(text);
    text.sample({1}, {7});
    return text.done();
  };
  const std::string cut_sample("\x12\x03\x0a\x7f\x01",
                               5);  // a packed field longer than its message
  const std::string wrong_kind("\x12\x04\x08\x01\x0d\x00", 6);
  for (const Case& c : std::vector<Case>{
           {"a location that is not there", with([](ProfileText& t) { t.sample({9}, {1}); }),
            "pprof_unknown_location", 2},
           {"a value too many", with([](ProfileText& t) {
              t.sample({1}, {1, 2});
            }),
            "pprof_sample_of_other_width", 1},
           {"a negative value", with([](ProfileText& t) { t.sample({1}, {-1}); }),
            "pprof_negative_value", 1},
           {"a sample whose fields are cut", cut_sample + with([](ProfileText&) {}),
            "pprof_damaged_sample", 1},
           {"a sample with a field cut", wrong_kind + with([](ProfileText&) {}),
            "pprof_damaged_sample", 1},
           {"the sequence of fields breaks", with([](ProfileText&) {}) + std::string("\x07garbage"),
            "pprof_damaged_stream", 1}}) {
    CAPTURE(c.name);
    CollectingSink sink;
    const auto account = read(bytes_of(c.text), sink);
    REQUIRE(account.has_value());
    CHECK(sink.counters.count(c.counter) == 1);
    CHECK(sink.counters.any_loss());
    CHECK(sink.rows.size() == c.rows);
    CHECK(sink.rows.back().sample.weight == 7);
    // The fields up to the break are understood.
    const bool breaks = std::string_view(c.counter) == "pprof_damaged_stream";
    CHECK(account->skipped.of(pprof::skip::kPprofDamagedStream) == (breaks ? 8 : 0));
    CHECK(account->balanced());
  }
}

TEST_CASE("pprof source: limits, and profiles that are none") {
  pprof::ReadOptions small_tables;
  small_tables.max_table_bytes = 1000;
  CollectingSink sink;
  auto account = read(bytes_of(two_process_profile()), sink, small_tables);
  REQUIRE_FALSE(account.has_value());
  CHECK(account.error().code == ErrorCode::kLimit);

  pprof::ReadOptions small_messages;
  small_messages.max_message_bytes = 10;
  account = read(bytes_of(two_process_profile()), sink, small_messages);
  REQUIRE_FALSE(account.has_value());
  CHECK(account.error().code == ErrorCode::kLimit);

  account = read(bytes_of(ProfileText().sample({}, {1}).done()), sink);
  REQUIRE_FALSE(account.has_value());
  CHECK(account.error().code == ErrorCode::kCorrupt);

  for (const char* text : {"", "PERFILE2", "main;work 12\n", "\x0a\x02zz"}) {
    CHECK_FALSE(pprof::probe({bytes_of(text)}));
  }
  CHECK_FALSE(pprof::probe({gzip_of("main;work 12\n")}));
}

TEST_CASE("pprof source: every prefix and every changed byte ends well") {
  for (const bool compressed : {false, true}) {
    const std::string text = two_process_profile();
    const std::vector<std::byte> file = compressed ? gzip_of(text) : bytes_of(text);
    std::map<std::string, std::uint64_t> whole;
    {
      CollectingSink sink;
      REQUIRE(read(file, sink).has_value());
      whole = sink.listing();
    }
    for (std::size_t size = 0; size < file.size(); ++size) {
      CAPTURE(size);
      CollectingSink sink;
      const std::vector<std::byte> prefix(file.begin(),
                                          file.begin() + static_cast<std::ptrdiff_t>(size));
      const auto account = read(prefix, sink);
      if (account) {
        CHECK(account->total == size);
        CHECK(account->balanced());
        CHECK(account->padding == 0);
      }
      for (const auto& [stack, count] : sink.listing()) {
        // Without its mapping an address is an address: the mode may be less known, no more.
        CHECK((whole.count(stack) != 0 || sink.counters.any_loss()));
      }
    }
    for (std::size_t at = 0; at < file.size(); ++at) {
      std::vector<std::byte> changed = file;
      changed[at] ^= std::byte{0x41};
      CollectingSink sink;
      const auto account = read(changed, sink);
      CHECK((account.has_value() || account.error().what.starts_with("pprof:") ||
             account.error().what.starts_with("gzip:")));
    }
  }
}
