// speedscope and firefox: the JSON is parsed, and every number in it followed.
#include <map>
#include <set>

#include <doctest/doctest.h>
#include <rapidjson/document.h>

#include "export/hand_made_capture.h"

using namespace stackpack;
using test::HandMadeCapture;

namespace {

rapidjson::Document parsed(const std::string& text) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(text.c_str());
  REQUIRE_FALSE(document.HasParseError());
  return document;
}

rapidjson::Document exported_json(test::Encoder encoder, const HandMadeCapture& capture,
                                  const ExportOptions& options) {
  const test::Exported result = test::export_with(encoder, capture, options);
  REQUIRE(result.status.has_value());
  return parsed(result.content);
}

// Of each profile: "frame;frame" to weight, by name; "" is a gap or a sample without a callstack.
using Weights = std::map<std::string, std::map<std::string, std::uint64_t>>;

Weights speedscope_weights(const rapidjson::Document& file) {
  Weights result;
  const auto& frames = file["shared"]["frames"];
  for (const auto& profile : file["profiles"].GetArray()) {
    auto& weights = result[profile["name"].GetString()];
    REQUIRE(profile["samples"].Size() == profile["weights"].Size());
    std::uint64_t total = 0;
    for (rapidjson::SizeType i = 0; i < profile["samples"].Size(); ++i) {
      std::string stack;
      for (const auto& frame : profile["samples"][i].GetArray()) {
        stack +=
            std::string(stack.empty() ? "" : ";") + frames[frame.GetUint()]["name"].GetString();
      }
      weights[stack] += profile["weights"][i].GetUint64();
      total += profile["weights"][i].GetUint64();
    }
    CHECK(profile["endValue"].GetUint64() - profile["startValue"].GetUint64() == total);
  }
  return result;
}

}  // namespace

TEST_CASE("speedscope: aggregated, a thread's callstacks have their counts") {
  ExportOptions options;
  options.filter.events = {"cycles"};
  options.speedscope.aggregate = true;
  options.count = CountBy::kSamples;
  const Weights expected = {
      {"alpha pid 10 tid 10",
       {{"alpha+0x10", 2},
        {"alpha+0xf;libc.so.6+0x20", 1},
        {"alpha+0xf;libc.so.6+0x20;[kernel.kallsyms]+0x100", 1}}},
      {"worker pid 10 tid 11", {{"alpha+0xf;libc.so.6+0x20", 1}}},
      {"beta pid 20 tid 20",
       {{"[no callstack]", 1}, {"beta+0x10", 1}, {"beta+0xf;libc.so.6+0x20", 1}}}};
  CHECK(speedscope_weights(exported_json(exporting::write_speedscope, test::small_capture(),
                                         options)) == expected);
  options.memory_limit = 0;  // every lane is streamed
  CHECK(speedscope_weights(exported_json(exporting::write_speedscope, test::small_capture(),
                                         options)) == expected);
}

TEST_CASE("speedscope: a timeline has real times, and gaps") {
  ExportOptions options;
  options.filter.events = {"cycles"};
  options.filter.pid = 10;
  options.filter.tid = 10;
  for (const std::uint64_t limit : {std::uint64_t{0}, options.memory_limit}) {
    CAPTURE(limit);
    options.memory_limit = limit;
    const rapidjson::Document file =
        exported_json(exporting::write_speedscope, test::small_capture(), options);
    CHECK(std::string(file["$schema"].GetString()) ==
          "https://www.speedscope.app/file-format-schema.json");
    REQUIRE(file["profiles"].Size() == 1);
    const auto& profile = file["profiles"][0];
    CHECK(std::string(profile["unit"].GetString()) == "nanoseconds");
    CHECK(profile["startValue"].GetUint64() == 0);
    // Times 1000, 2000, 4000, 90000: the median interval is 2000.
    std::vector<std::uint64_t> weights;
    std::vector<std::size_t> depths;
    for (rapidjson::SizeType i = 0; i < profile["weights"].Size(); ++i) {
      weights.push_back(profile["weights"][i].GetUint64());
      depths.push_back(profile["samples"][i].Size());
    }
    CHECK(weights == std::vector<std::uint64_t>{1000, 2000, 4000, 82'000, 2000});
    CHECK(depths == std::vector<std::size_t>{1, 2, 3, 0, 1});
  }
}

TEST_CASE("speedscope: several events of a thread are several profiles") {
  const rapidjson::Document file =
      exported_json(exporting::write_speedscope, test::small_capture(), {});
  std::vector<std::string> names;
  for (const auto& profile : file["profiles"].GetArray()) {
    names.emplace_back(profile["name"].GetString());
  }
  CHECK(names == std::vector<std::string>{
                     "alpha pid 10 tid 10 [cycles]", "alpha pid 10 tid 10 [sched:sched_switch]",
                     "worker pid 10 tid 11 [cycles]", "beta pid 20 tid 20 [cycles]"});
  CHECK(file["activeProfileIndex"].GetUint() == 0);
}

TEST_CASE("speedscope, firefox: a file of counts has weights, and no times to show") {
  HandMadeCapture capture = test::small_capture();
  capture.tables.has_samples = false;
  capture.tables.stack_counts = {{0, 0, 10, StackOrigin::kRecorded, 4, 400},
                                 {1, 0, 10, StackOrigin::kRecorded, 2, 30}};
  const test::Exported result = test::export_with(exporting::write_firefox, capture, {});
  REQUIRE_FALSE(result.status.has_value());
  CHECK(result.status.error().code == ErrorCode::kUsage);
  CHECK(speedscope_weights(exported_json(exporting::write_speedscope, capture, {})) ==
        Weights{{"alpha pid 10", {{"alpha+0x10", 400}, {"alpha+0xf;libc.so.6+0x20", 30}}}});
}

TEST_CASE("speedscope, firefox: weights have a unit that the viewer knows, or are no weights") {
  struct Case {
    const char* event;
    CountBy count;
    std::string speedscope;
    std::string firefox;  // kind of the weights, or of none
    double weight;
  };
  for (const Case& c :
       std::vector<Case>{{"cpu-clock", CountBy::kAuto, "nanoseconds", "tracing-ms", 2.5},
                         {"cpu-clock", CountBy::kSamples, "none", "samples", 0},
                         {"cycles", CountBy::kAuto, "none", "samples", 0},
                         {"cycles", CountBy::kWeight, "none", "samples", 2'500'000}}) {
    CAPTURE(c.event);
    HandMadeCapture capture;
    capture.tables.events = {{c.event, true}};
    capture.add_sample(1, 10, 10, capture.add_stack({test::user(0x10)})).weight = 2'500'000;
    ExportOptions options;
    options.count = c.count;
    const rapidjson::Document firefox = exported_json(exporting::write_firefox, capture, options);
    const auto& samples = firefox["threads"][0]["samples"];
    CHECK(std::string(samples["weightType"].GetString()) == c.firefox);
    CHECK(samples["weight"].IsNull() == (c.weight == 0));
    if (c.weight != 0) {
      CHECK(samples["weight"][0].GetDouble() == c.weight);
    }
    options.speedscope.aggregate = true;
    const rapidjson::Document file = exported_json(exporting::write_speedscope, capture, options);
    CHECK(std::string(file["profiles"][0]["unit"].GetString()) == c.speedscope);
    const bool samples_alone = c.count == CountBy::kSamples;
    CHECK(file["profiles"][0]["weights"][0].GetUint64() == (samples_alone ? 1 : 2'500'000));
  }
}

namespace {

struct FirefoxSample {
  double time = 0;
  std::string stack;  // "name category lib address" of each frame, root first

  bool operator==(const FirefoxSample&) const = default;
};

std::string firefox_stack(const rapidjson::Document& file, const rapidjson::Value& stack) {
  if (stack.IsNull()) {
    return "";
  }
  const auto& shared = file["shared"];
  const auto index = stack.GetUint();
  REQUIRE(index < shared["stackTable"]["length"].GetUint());
  const auto frame = shared["stackTable"]["frame"][index].GetUint();
  REQUIRE(frame < shared["frameTable"]["length"].GetUint());
  const auto func = shared["frameTable"]["func"][frame].GetUint();
  const bool has_resource = (shared["funcTable"]["flags"][func].GetUint() & 4U) != 0;
  const auto resource = shared["funcTable"]["resource"][func].GetUint();
  const auto& strings = shared["stringArray"];
  std::string text = strings[shared["funcTable"]["name"][func].GetUint()].GetString();
  const auto category = shared["frameTable"]["category"][frame].GetUint();
  text += std::string(" ") + file["meta"]["categories"][category]["name"].GetString();
  const bool has_address = (shared["frameTable"]["flags"][frame].GetUint() & 2U) != 0;
  if (has_resource) {
    const auto& lib = file["libs"][has_address ? shared["frameTable"]["lib"][frame].GetUint() : 0];
    CHECK(std::string(strings[shared["resourceTable"]["name"][resource].GetUint()].GetString()) ==
          lib["name"].GetString());
    text += std::string(" ") + lib["path"].GetString();
  }
  text += has_address ? " " + std::to_string(shared["frameTable"]["address"][frame].GetUint()) : "";
  const auto up = shared["stackTable"]["prefixOffset"][index].GetUint();
  REQUIRE(up <= index);
  const std::string above = up == 0 ? "" : firefox_stack(file, rapidjson::Value(index - up));
  return above.empty() ? text : above + ";" + text;
}

std::vector<FirefoxSample> firefox_samples(const rapidjson::Document& file,
                                           const rapidjson::Value& thread) {
  std::vector<FirefoxSample> samples;
  const auto& table = thread["samples"];
  REQUIRE(table["stack"].Size() == table["length"].GetUint());
  REQUIRE(table["time"].Size() == table["length"].GetUint());
  for (rapidjson::SizeType i = 0; i < table["stack"].Size(); ++i) {
    samples.push_back({table["time"][i].GetDouble(), firefox_stack(file, table["stack"][i])});
  }
  return samples;
}

}  // namespace

// Every table of the format has these columns, each with a value for every row.
void check_columns(const rapidjson::Value& shared) {
  const std::map<std::string, std::set<std::string>> expected = {
      {"stackTable", {"frame", "prefixOffset"}},
      {"frameTable",
       {"flags", "address", "category", "subcategory", "func", "lib", "nativeSymbol",
        "innerWindowID", "line", "column", "originalLocation"}},
      {"funcTable",
       {"flags", "name", "resource", "source", "lineNumber", "columnNumber", "originalLocation"}},
      {"resourceTable", {"name", "host", "type"}},
      {"nativeSymbols", {"libIndex", "address", "name", "functionSize"}},
      {"sources", {"id", "filename", "startLine", "startColumn", "sourceMapURL", "content"}},
      {"sourceLocationTable", {"source", "line", "column"}}};
  for (const auto& [name, columns] : expected) {
    CAPTURE(name);
    REQUIRE(shared.HasMember(name.c_str()));
    std::set<std::string> found;
    for (const auto& member : shared[name.c_str()].GetObject()) {
      if (member.name != "length") {
        found.insert(member.name.GetString());
        CHECK(member.value.Size() == shared[name.c_str()]["length"].GetUint());
      }
    }
    CHECK(found == columns);
  }
}

TEST_CASE("firefox: threads, times, frames, libraries and categories") {
  HandMadeCapture capture = test::small_capture();
  capture.tables.metadata = {{"clock.wall_offset_ns", "1700000000000000000"}};
  capture.tables.modules[0].build_id_kind = BuildIdKind::kGnu;
  capture.tables.modules[0].build_id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
  ExportOptions options;
  options.filter.events = {"cycles"};
  for (const std::uint64_t limit : {std::uint64_t{0}, options.memory_limit}) {
    CAPTURE(limit);
    options.memory_limit = limit;
    const rapidjson::Document file = exported_json(exporting::write_firefox, capture, options);
    CHECK(file["meta"]["preprocessedProfileVersion"].GetInt() == 75);
    CHECK(file["meta"]["startTime"].GetDouble() == doctest::Approx(1'700'000'000'000.001));
    REQUIRE(file["threads"].Size() == 3);
    const auto& thread = file["threads"][0];
    CHECK(std::string(thread["name"].GetString()) == "alpha");
    CHECK(std::string(thread["pid"].GetString()) == "10");
    CHECK(thread["tid"].GetUint() == 10);
    CHECK(thread["isMainThread"].GetBool());
    CHECK_FALSE(file["threads"][1]["isMainThread"].GetBool());
    const std::string alpha = "0x10 User /bin/alpha 16";
    const std::string caller = "0xf User /bin/alpha 15";
    const std::string libc = "0x20 User /lib/libc.so.6 32";
    const std::string kernel = "0x100 Kernel [kernel.kallsyms] 256";
    CHECK(firefox_samples(file, thread) ==
          std::vector<FirefoxSample>{{0, alpha},
                                     {0.001, caller + ";" + libc},
                                     {0.003, caller + ";" + libc + ";" + kernel},
                                     {0.089, alpha}});
    CHECK(firefox_samples(file, file["threads"][2]).at(2) == FirefoxSample{0.004, ""});
    // What the client reads of every thread, whether there is anything in it or not.
    REQUIRE(thread.HasMember("pausedRanges"));
    CHECK(thread["pausedRanges"].Empty());
    REQUIRE(thread["samples"].HasMember("weightType"));
    CHECK(std::string(thread["samples"]["weightType"].GetString()) == "samples");
    check_columns(file["shared"]);
    for (const auto& lib : file["libs"].GetArray()) {
      const bool is_alpha = std::string(lib["name"].GetString()) == "alpha";
      CHECK(std::string(lib["breakpadId"].GetString()) ==
            (is_alpha ? "0403020106050807090A0B0C0D0E0F100" : std::string(33, '0')));
      CHECK(lib["codeId"].IsNull() == !is_alpha);
    }
    CHECK(file["libs"].Size() == 4);
  }
}

TEST_CASE("speedscope: samples without times have weights, imported ones what they stand for") {
  HandMadeCapture capture;
  capture.tables.events = {{"samples", true}};
  const StackId stacks[] = {capture.add_stack({test::user(0x10)}),
                            capture.add_stack({test::user(0x20)}),
                            capture.add_stack({test::user(0x30)})};
  const std::uint64_t weights[] = {10, 5, 100};
  for (std::size_t i = 0; i < 3; ++i) {
    capture.add_sample(0, kUnknownId, kUnknownId, stacks[i]).weight = weights[i];
  }
  struct Case {
    const char* name;
    std::vector<MetadataEntry> metadata;
    std::map<std::string, std::uint64_t> expected;
  };
  for (const Case& c : std::vector<Case>{
           {"imported", {{"samples.aggregated", "1"}}, {{"0x10", 10}, {"0x20", 5}, {"0x30", 100}}},
           {"recorded without times", {}, {{"0x10", 10}, {"0x20", 5}, {"0x30", 100}}}}) {
    CAPTURE(c.name);
    capture.tables.metadata = c.metadata;
    const rapidjson::Document file = exported_json(exporting::write_speedscope, capture, {});
    CHECK(std::string(file["profiles"][0]["unit"].GetString()) == "none");
    CHECK(speedscope_weights(file) == Weights{{"", c.expected}});
  }
}

TEST_CASE("speedscope: sums of weights stop at the largest number") {
  HandMadeCapture capture;
  capture.tables.events = {{"samples", true}};
  capture.tables.metadata = {{"samples.aggregated", "1"}};
  const StackId stack = capture.add_stack({test::user(0x10)});
  for (int i = 0; i < 2; ++i) {
    capture.add_sample(0, 1, 1, stack).weight = ~std::uint64_t{0} - 4;
  }
  const test::Exported result = test::export_with(exporting::write_speedscope, capture, {});
  REQUIRE(result.status.has_value());
  CHECK(result.report.weight == ~std::uint64_t{0});
  const rapidjson::Document file = parsed(result.content);
  CHECK(file["profiles"][0]["weights"][0].GetUint64() == ~std::uint64_t{0});
  CHECK(file["profiles"][0]["endValue"].GetUint64() == ~std::uint64_t{0});
}

TEST_CASE("speedscope, firefox: the view opens on the event that samples time") {
  HandMadeCapture capture;
  capture.tables.events = {{"page-faults", true}, {"cpu-clock", true}};
  const StackId stack = capture.add_stack({test::user(0x10)});
  for (std::uint64_t i = 0; i < 6; ++i) {
    capture.add_sample(100 + i, 10, 10, stack).event = i < 4 ? 0 : 1;
  }
  const rapidjson::Document firefox = exported_json(exporting::write_firefox, capture, {});
  REQUIRE(firefox["threads"].Size() == 2);
  REQUIRE(firefox["meta"]["initialSelectedThreads"].Size() == 1);
  const auto shown = firefox["meta"]["initialSelectedThreads"][0].GetUint();
  CHECK(firefox["threads"][shown]["samples"]["length"].GetUint() == 2);
  CHECK(std::string(firefox["threads"][shown]["name"].GetString()) == "[unknown]");
  CHECK(std::string(firefox["threads"][1 - shown]["name"].GetString()) == " [page-faults]");
  const rapidjson::Document speedscope = exported_json(exporting::write_speedscope, capture, {});
  const auto active = speedscope["activeProfileIndex"].GetUint();
  CHECK(speedscope["profiles"][active]["samples"].Size() == 2);
}

TEST_CASE("firefox: a Windows library has the path of its PDB and no code id") {
  HandMadeCapture capture;
  capture.tables.events = {{"PerfInfo/SampledProfile", true}};
  capture.add_module(10, 0x1000, 0x1000, "C:\\Windows\\System32\\ntdll.dll");
  capture.add_module(10, 0x3000, 0x1000, "C:\\app\\app.exe");
  capture.tables.modules[0].build_id_kind = BuildIdKind::kPdb;
  capture.tables.modules[0].build_id.assign(20, 1);
  capture.tables.modules[0].debug_name = "d:\\build\\ntdll.pdb";
  capture.add_sample(1, 10, 10, capture.add_stack({test::user(0x1004), test::user(0x3005)}));
  const rapidjson::Document file = exported_json(exporting::write_firefox, capture, {});
  REQUIRE(file["libs"].Size() == 2);
  for (const auto& lib : file["libs"].GetArray()) {
    const bool has_pdb = std::string(lib["name"].GetString()) == "ntdll.dll";
    CHECK(std::string(lib["debugPath"].GetString()) ==
          (has_pdb ? "d:\\build\\ntdll.pdb" : "C:\\app\\app.exe"));
    CHECK(std::string(lib["debugName"].GetString()) ==
          (has_pdb ? "d:\\build\\ntdll.pdb" : "app.exe"));
    CHECK(lib["codeId"].IsNull());
  }
}

TEST_CASE("speedscope: functions with their files, one frame each") {
  ExportOptions options;
  options.filter.events = {"cycles"};
  options.speedscope.aggregate = true;
  options.count = CountBy::kSamples;
  const rapidjson::Document file =
      exported_json(exporting::write_speedscope, test::named_capture(), options);
  const Weights expected = {
      {"alpha pid 10 tid 10",
       {{"alpha!main", 2}, {"alpha!main;helper;read", 1}, {"alpha!main;helper;read;do_read", 1}}},
      {"worker pid 10 tid 11", {{"alpha!main;helper;read", 1}}},
      {"beta pid 20 tid 20", {{"[no callstack]", 1}, {"beta!main", 1}, {"beta!main;read", 1}}}};
  CHECK(speedscope_weights(file) == expected);
  std::map<std::string, std::string> places;
  for (const auto& frame : file["shared"]["frames"].GetArray()) {
    const std::string line = frame.HasMember("line") ? std::to_string(frame["line"].GetUint()) : "";
    const bool is_code = frame.HasMember("file");
    const std::string place = is_code ? frame["file"].GetString() + (":" + line) : "";
    CHECK(places.emplace(frame["name"].GetString(), place).second);
  }
  CHECK(places == std::map<std::string, std::string>{{"alpha!main", "/src/main.c:3"},
                                                     {"helper", "/src/util.h:"},
                                                     {"read", "/lib/libc.so.6:"},
                                                     {"do_read", "[kernel.kallsyms]:"},
                                                     {"beta!main", "/bin/beta:"},
                                                     {"[no callstack]", ""}});
}

TEST_CASE("firefox: functions of libraries, inlined calls as frames, managed code") {
  ExportOptions options;
  options.filter.events = {"cycles"};
  const rapidjson::Document file =
      exported_json(exporting::write_firefox, test::named_capture(), options);
  CHECK(file["meta"]["symbolicated"].GetBool());
  const std::string caller = "main User /bin/alpha 15;helper User /bin/alpha 15;";
  const std::string library = "read User /lib/libc.so.6 32";
  CHECK(firefox_samples(file, file["threads"][0]) ==
        std::vector<FirefoxSample>{
            {0, "main User /bin/alpha 16"},
            {0.001, caller + library},
            {0.003, caller + library + ";do_read Kernel [kernel.kallsyms] 256"},
            {0.089, "main User /bin/alpha 16"}});
  CHECK(firefox_stack(file, file["threads"][2]["samples"]["stack"][0]) ==
        "main Managed /bin/beta 16");
  const auto& shared = file["shared"];
  const auto& functions = shared["funcTable"];
  std::set<std::string> depths;
  for (rapidjson::SizeType i = 0; i < shared["frameTable"]["length"].GetUint(); ++i) {
    const auto function = shared["frameTable"]["func"][i].GetUint();
    std::string text = shared["stringArray"][functions["name"][function].GetUint()].GetString();
    const auto flags = shared["frameTable"]["flags"][i].GetUint();
    text += (flags & 1U) != 0 ? " inlined" : "";
    if ((flags & 16U) != 0) {
      text += " line " + std::to_string(shared["frameTable"]["line"][i].GetUint());
    }
    const auto function_flags = functions["flags"][function].GetUint();
    if ((function_flags & 8U) != 0) {
      const auto source = functions["source"][function].GetUint();
      const auto name = shared["sources"]["filename"][source].GetUint();
      text += std::string(" of ") + shared["stringArray"][name].GetString();
    }
    if ((function_flags & 16U) != 0) {
      text += ":" + std::to_string(functions["lineNumber"][function].GetUint());
    }
    depths.insert(text);
  }
  CHECK(depths == std::set<std::string>{"do_read", "helper inlined line 7 of /src/util.h", "main",
                                        "main line 11 of /src/main.c:3",
                                        "main line 12 of /src/main.c:3", "read"});
  CHECK(functions["length"].GetUint() == 5);
}

TEST_CASE("firefox: an offset that a viewer's 32 bits cannot hold is in the name alone") {
  HandMadeCapture capture;
  capture.tables.events = {{"cycles", true}};
  capture.add_module(10, 0x1000, 0x2'0000'0000, "/bin/huge");
  capture.add_sample(1, 10, 10, capture.add_stack({test::user(0x1'0000'0fff)}));
  capture.add_sample(2, 10, 10, capture.add_stack({test::user(0x1'0000'1000)}));
  capture.add_sample(3, 10, 10, capture.add_stack({test::user(0x7f'0000'0000)}));
  const rapidjson::Document file = exported_json(exporting::write_firefox, capture, {});
  CHECK(firefox_samples(file, file["threads"][0]) ==
        std::vector<FirefoxSample>{{0, "0xffffffff User /bin/huge 4294967295"},
                                   {1e-6, "huge+0x100000000 User /bin/huge"},
                                   {2e-6, "0x7f00000000 User"}});
}
