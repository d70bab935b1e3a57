#include "formats/firefox/firefox_source.h"

#include <doctest/doctest.h>

#include "support/collecting_sink.h"
#include "support/recorded_functions.h"
#include "support/test_bytes.h"

using namespace stackpack;
using test::CollectingSink;
using test::TestBytes;

namespace {

Result<capture::ByteAccount> read(const std::string& text, CollectingSink& sink,
                                  firefox::ReadOptions options = {}) {
  const std::vector<std::byte> bytes = TestBytes().text(text).bytes;
  const auto source = io::source_of_memory(bytes);
  return firefox::read_capture(*source, sink, options);
}

const std::string kStrings = R"("stringArray":["main","0x10","work","a.so","a.c"])";
// As version 75 has it.
const std::string kNewTables =
    R"("libs":[{"name":"a.so","path":"/lib/a.so"}],"shared":{)"
    R"("stackTable":{"frame":[0,1,2],"prefixOffset":[0,1,2],"length":3},)"
    R"("frameTable":{"flags":[16,2,0],"address":[0,16,0],"func":[0,1,2],"lib":[0,0,0],"line":[7,0,0]},)"
    R"("funcTable":{"flags":[24,4,0],"name":[0,1,2],"resource":[0,0,0],"source":[0,0,0],"lineNumber":[3,0,0]},)"
    R"("resourceTable":{"name":[3]},"sources":{"filename":[4]},)" +
    kStrings + "}";
// As version 60 has it.
const std::string kOldTables =
    R"("libs":[{"name":"a.so","path":"/lib/a.so"}],"shared":{)"
    R"("stackTable":{"frame":[0,1,2],"prefix":[null,0,0],"length":3},)"
    R"("frameTable":{"address":[-1,16,-1],"func":[0,1,2],"line":[7,null,null]},)"
    R"("funcTable":{"name":[0,1,2],"resource":[-1,0,-1],"source":[0,null,null],"lineNumber":[3,null,null]},)"
    R"("resourceTable":{"name":[3],"lib":[0]},"sources":{"filename":[4]},)" +
    kStrings + "}";

std::string meta(int version) {
  return R"("meta":{"startTime":1700000000000.5,"preprocessedProfileVersion":)" +
         std::to_string(version) + R"(,"categories":[{"name":"Other"}]})";
}

std::string threads(const std::string& samples) {
  return R"("threads":[{"processType":"default","processName":"prog","name":"worker [cpu-clock]",)"
         R"("pid":"7","tid":9,"samples":{)" +
         samples + R"(},"markers":{"data":[{"stack":[5]}],"name":["x"]}}])";
}

const std::string kSamples = R"("weightType":"tracing-ms","stack":[1,null,2],"time":[0,1.5,2.25],)"
                             R"("weight":[1,0.5,0.25],"length":3)";

// `name code @image` of each frame, leaf first.
std::vector<std::string> stacks_of(CollectingSink& sink) {
  const capture::SystemTables tables = sink.system_facts.finish();
  std::map<std::string, std::string> names;
  for (const test::NamedRange& function : test::functions_of(sink)) {
    char text[24];
    std::snprintf(text, sizeof text, "?%llx", static_cast<unsigned long long>(function.start));
    names[text] = function.name + " " + function.declared + " " + function.code;
    for (const Module& module : tables.modules) {
      names[text] += function.start - module.base < module.size ? "@" + module.path : "";
    }
  }
  std::vector<std::string> lines;
  for (const CollectingSink::Row& row : sink.rows) {
    std::string line;
    const std::string stack = row.stack + " ";
    for (std::size_t begin = 0; begin < row.stack.size();) {
      const std::size_t end = stack.find(' ', begin);
      line += (begin == 0 ? "" : ";") + names.at(stack.substr(begin, end - begin));
      begin = end + 1;
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

TEST_CASE("firefox: samples, threads, names and images of the new and the old tables") {
  for (const std::string& text :
       {"{" + threads(kSamples) + "," + kNewTables + "," + meta(75) + "}",
        "{" + meta(60) + "," + kOldTables + "," + threads(kSamples) + "}"}) {
    CAPTURE(text);
    CollectingSink sink;
    const auto account = read(text, sink);
    REQUIRE(account.has_value());
    CHECK(account->balanced());
    CHECK(stacks_of(sink) == std::vector<std::string>{"a.so+0x10 :0 :0@/lib/a.so;main a.c:3 a.c:7",
                                                      "", "work :0 :0;main a.c:3 a.c:7"});
    CHECK(sink.events == std::vector<Event>{{"cpu-clock", true}});
    const Sample& last = sink.rows[2].sample;
    CHECK(last.weight == 250'000);
    CHECK(last.time_ns - sink.rows[0].sample.time_ns == 2'250'000);
    CHECK(last.time_ns / 1'000'000'000 == 1'700'000'000);
    CHECK(last.pid == 7);
    CHECK(last.tid == 9);
    const auto tables = sink.system_facts.finish();
    REQUIRE(tables.threads.size() == 1);
    CHECK(tables.threads[0].name == "worker");
    REQUIRE(tables.processes.size() == 1);
    CHECK(tables.processes[0].name == "prog");
    CHECK_FALSE(sink.counters.any_loss());
  }
}

TEST_CASE("firefox: times as distances, no weights") {
  CollectingSink sink;
  REQUIRE(
      read("{" +
               threads(R"("stack":[2,2],"timeDeltas":[1,2],"weight":null,"weightType":"samples")") +
               "," + kNewTables + "," + meta(75) + "}",
           sink)
          .has_value());
  REQUIRE(sink.rows.size() == 2);
  CHECK(sink.rows[1].sample.time_ns - sink.rows[0].sample.time_ns == 2'000'000);
  CHECK(sink.rows[1].sample.weight == 1);
}

TEST_CASE("firefox: what cannot be read is left out and counted") {
  CollectingSink sink;
  REQUIRE(
      read(
          "{" +
              threads(
                  R"("stack":[9,2,2,2],"time":[1,2,3],"weight":[1,-1,1,1],"weightType":"samples")") +
              "," + kNewTables + "," + meta(75) + "}",
          sink)
          .has_value());
  CHECK(sink.rows.size() == 1);
  CHECK(sink.counters.count("firefox_unknown_index") == 1);
  CHECK(sink.counters.count("firefox_damaged_sample") == 1);
  CHECK(sink.counters.count("firefox_negative_weight") == 1);
  // A parent that is its own child.
  CollectingSink circle;
  REQUIRE(read("{" + threads(kSamples) +
                   R"(,"shared":{"stackTable":{"frame":[0,0,0],"prefix":[2,2,2]},)"
                   R"("frameTable":{"func":[0]},"funcTable":{"name":[0]},"stringArray":["f"]},)" +
                   meta(60) + "}",
               circle)
              .has_value());
  CHECK(circle.rows.size() == 1);
  CHECK(circle.counters.count("firefox_unknown_index") == 2);
  for (const std::string& text :
       {std::string("{"), "{" + meta(75) + "}",
        std::string(
            R"({"meta":{"version":20},"threads":[{"samples":{"schema":{"stack":0},"data":[]}}]})"),
        std::string(99, '[')}) {
    CAPTURE(text);
    CHECK_FALSE(read(text, circle).has_value());
  }
  firefox::ReadOptions options;
  options.max_bytes = 64;
  CHECK(read("{" + threads(kSamples) + "}", circle, options).error().code == ErrorCode::kLimit);
}

TEST_CASE("firefox: before version 60 each thread has tables of its own") {
  const auto thread = [](const std::string& name, const std::string& work) {
    return R"({"name":"T","pid":1,"tid":)" + name + R"(,"libs":[{"name":"C:\\bin\\a.dll"}],)" +
           R"("stringArray":["main","0x100000010",")" + work +
           R"("],)"
           R"("stackTable":{"frame":[0,1,2],"prefix":[null,0,0]},)"
           R"("frameTable":{"address":[-1,16,-1],"func":[0,1,2],"line":[null,null,4]},)"
           R"("funcTable":{"name":[0,1,2],"resource":[-1,0,-1],"fileName":[null,null,0]},)"
           R"("resourceTable":{"name":[2],"lib":[0]},"markers":{"name":[0,1],"data":[]},)"
           R"("samples":{"stack":[1,2],"time":[0,1]}})";
  };
  CollectingSink sink;
  REQUIRE(read(R"({"meta":{"startTime":1000},"counters":[{"name":"m"}],"threads":[)" +
                   thread("5", "work") + "," + thread("6", "rest") + "]}",
               sink)
              .has_value());
  const std::string unnamed = "a.dll+0x10 :0 :0@C:\\bin\\a.dll;main :0 :0";
  CHECK(stacks_of(sink) == std::vector<std::string>{unnamed, "work main:0 main:4;main :0 :0",
                                                    unnamed, "rest main:0 main:4;main :0 :0"});
  CHECK(sink.counters.count("firefox_markers_not_kept") == 5);
  CHECK(sink.rows[3].sample.tid == 6);
}

TEST_CASE("firefox: weights that are not whole keep their digits") {
  CollectingSink sink;
  REQUIRE(read("{" +
                   threads(R"("stack":[2,2,2],"time":[0,1,2],"weight":[0.25,3,1.5],)"
                           R"("weightType":"samples")") +
                   "," + kNewTables + "," + meta(75) + "}",
               sink)
              .has_value());
  CHECK(sink.events == std::vector<Event>{{"cpu-clock", true},
                                          {"cpu-clock*10^-2", true},
                                          {"cpu-clock*10^-1", true}});
  CHECK(sink.rows[0].sample.weight == 25);
  CHECK(sink.rows[0].sample.event == 1);
  CHECK(sink.rows[1].sample.weight == 3);
  CHECK(sink.rows[2].sample.weight == 15);
}

TEST_CASE("firefox: what it is told by") {
  const auto looks = [](const std::string& text) {
    return bool{firefox::probe({TestBytes().text(text).bytes})};
  };
  CHECK(looks("{" + meta(75)));
  CHECK(looks("{" + threads(kSamples)));
  CHECK_FALSE(looks("{\"threads\":[]}"));
}
