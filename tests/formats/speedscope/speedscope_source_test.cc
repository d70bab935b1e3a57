#include "formats/speedscope/speedscope_source.h"

#include <doctest/doctest.h>

#include "support/collecting_sink.h"
#include "support/recorded_functions.h"
#include "support/test_bytes.h"

using namespace stackpack;
using test::CollectingSink;
using test::TestBytes;

namespace {

const std::string kHead = R"({"$schema":"https://www.speedscope.app/file-format-schema.json",)";

Result<capture::ByteAccount> read(const std::string& text, CollectingSink& sink) {
  const std::vector<std::byte> bytes = TestBytes().text(text).bytes;
  const auto source = io::source_of_memory(bytes);
  return speedscope::read_capture(*source, sink, {});
}

// `time weight leaf;...;root` of each sample.
std::vector<std::string> lines_of(CollectingSink& sink) {
  std::map<std::string, std::string> names;
  for (const test::NamedRange& function : test::functions_of(sink)) {
    char text[24];
    std::snprintf(text, sizeof text, "?%llx", static_cast<unsigned long long>(function.start));
    names[text] = function.name;
  }
  std::vector<std::string> lines;
  for (const CollectingSink::Row& row : sink.rows) {
    std::string line =
        std::to_string(row.sample.time_ns) + " " + std::to_string(row.sample.weight) + " ";
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

const std::string kFrames =
    R"("shared":{"more":[[{"frames":[1]}]],"frames":[{"name":"main","file":"a.c","line":3},{"name":"work"}]})";

}  // namespace

TEST_CASE("speedscope: samples of unit time have times, whatever comes first in the file") {
  CollectingSink sink;
  const std::string profile =
      R"("profiles":[{"weights":[1.5,2,3],"samples":[[0,1],[],[0]],"type":"sampled",)"
      R"("name":"my thread pid 7 tid 9 [cpu-clock]","unit":"microseconds","startValue":10,"endValue":17}])";
  for (const std::string& text :
       {kHead + profile + "," + kFrames + "}", kHead + kFrames + "," + profile + "}"}) {
    CollectingSink one;
    const auto account = read(text, one);
    REQUIRE(account.has_value());
    CHECK(account->balanced());
    CHECK(lines_of(one) == std::vector<std::string>{"10000 1500 work;main", "13500 3000 main"});
    CHECK(one.counters.count("speedscope_gaps") == 1);
    CHECK(one.events == std::vector<Event>{{"cpu-clock", true}});
    CHECK(one.rows[0].sample.pid == 7);
    CHECK(one.rows[0].sample.tid == 9);
    const auto tables = one.system_facts.finish();
    REQUIRE(tables.threads.size() == 1);
    CHECK(tables.threads[0].name == "my thread");
    CHECK(std::count(tables.metadata.begin(), tables.metadata.end(),
                     MetadataEntry{"samples.aggregated", "1"}) == 0);
  }
}

TEST_CASE("speedscope: samples of another unit have no times") {
  CollectingSink sink;
  REQUIRE(read(kHead +
                   R"("profiles":[{"type":"sampled","name":"heap","unit":"bytes",)"
                   R"("samples":[[0],[0,1]],"weights":[100,7]}],)" +
                   kFrames + "}",
               sink)
              .has_value());
  CHECK(lines_of(sink) == std::vector<std::string>{"0 100 main", "0 7 work;main"});
  CHECK(sink.rows[0].sample.pid == 1);
  CHECK(sink.rows[0].sample.tid == 1);
  const auto metadata = sink.system_facts.finish().metadata;
  for (const MetadataEntry& entry :
       {MetadataEntry{"samples.aggregated", "1"}, MetadataEntry{"pprof.unit.samples", "bytes"}}) {
    CHECK(std::count(metadata.begin(), metadata.end(), entry) == 1);
  }
}

TEST_CASE("speedscope: the time between two events belongs to the frames that are open") {
  CollectingSink sink;
  REQUIRE(read(kHead +
                   R"("profiles":[{"type":"evented","name":"t","unit":"milliseconds",)"
                   R"("startValue":0,"endValue":9,"events":[{"type":"O","frame":0,"at":1},)"
                   R"({"type":"O","frame":1,"at":2},{"type":"C","frame":0,"at":3},)"
                   R"({"type":"C","frame":1,"at":4},{"type":"C","frame":0,"at":4},)"
                   R"({"type":"C","frame":0,"at":5}]}],)" +
                   kFrames + "}",
               sink)
              .has_value());
  CHECK(lines_of(sink) == std::vector<std::string>{"1000000 1000000 main",
                                                   "2000000 1000000 work;main",
                                                   "3000000 1000000 work;main"});
  CHECK(sink.counters.count("speedscope_unbalanced_event") == 2);
}

TEST_CASE("speedscope: what cannot be read is left out and counted") {
  CollectingSink sink;
  REQUIRE(read(kHead +
                   R"("profiles":[{"type":"sampled","name":"t","unit":"none",)"
                   R"("samples":[[0,2],[-1],[0],[0]],"weights":[1,2,-3]}],)" +
                   kFrames + "}",
               sink)
              .has_value());
  CHECK(lines_of(sink) == std::vector<std::string>{"0 1 main", "0 2 "});
  CHECK(sink.counters.count("speedscope_unknown_frame") == 2);
  CHECK(sink.counters.count("speedscope_negative_weight") == 1);
  CHECK(sink.counters.count("speedscope_sample_without_weight") == 1);
  CollectingSink none;
  for (const std::string& text :
       {kHead, kHead + kFrames, kHead + "\"a\":" + std::string(99, '['), std::string("x")}) {
    CHECK_FALSE(read(text, none).has_value());
  }
}

TEST_CASE("speedscope: frames that are open beyond the bound are counted, and close again") {
  std::string events;
  for (int i = 0; i < 2'050; ++i) {
    events += R"({"type":"O","frame":0,"at":)" + std::to_string(i) + "},";
  }
  for (int i = 0; i < 2'050; ++i) {
    events += (i == 0 ? "" : ",") + std::string(R"({"type":"C","frame":0,"at":)") +
              std::to_string(2'050 + i) + "}";
  }
  CollectingSink sink;
  REQUIRE(read(kHead +
                   R"("profiles":[{"type":"evented","name":"t","unit":"nanoseconds","events":[)" +
                   events + "]}]," + kFrames + "}",
               sink)
              .has_value());
  CHECK(sink.rows.size() == 2'050 * 2 - 1 - 3);
  CHECK(sink.counters.count("speedscope_stack_too_deep") == 3);
  CHECK(sink.counters.count("speedscope_unbalanced_event") == 0);
}

TEST_CASE("speedscope: what it is told by") {
  const auto looks = [](const std::string& text) {
    return bool{speedscope::probe({TestBytes().text(text).bytes})};
  };
  CHECK(looks(" " + kHead));
  CHECK_FALSE(looks("{}"));
  CHECK_FALSE(looks("https://www.speedscope.app/file-format-schema.json"));
}

TEST_CASE("speedscope: weights that are not whole keep their digits, negative ones are counted") {
  CollectingSink sink;
  REQUIRE(read(kHead +
                   R"("profiles":[{"type":"sampled","name":"t","unit":"none",)"
                   R"("samples":[[0],[0,1],[1],[0]],"weights":[0.25,0.5,3,-1]}],)" +
                   kFrames + "}",
               sink)
              .has_value());
  CHECK(lines_of(sink) == std::vector<std::string>{"0 25 main", "0 5 work;main", "0 3 work"});
  CHECK(sink.events ==
        std::vector<Event>{{"samples", true}, {"samples*10^-2", true}, {"samples*10^-1", true}});
  CHECK(sink.rows[2].sample.event == 0);
  CHECK(sink.counters.count("speedscope_negative_weight") == 1);
}

TEST_CASE("speedscope: lengths of intervals have no noise of their times") {
  CollectingSink sink;
  REQUIRE(
      read(kHead +
               R"("profiles":[{"type":"evented","name":"t","unit":"nanoseconds","startValue":0,)"
               R"("endValue":11,"events":[{"type":"O","frame":0,"at":10.2},)"
               R"({"type":"O","frame":1,"at":10.3},{"type":"C","frame":1,"at":10.6},)"
               R"({"type":"C","frame":0,"at":11}]}],)" +
               kFrames + "}",
           sink)
          .has_value());
  CHECK(lines_of(sink) == std::vector<std::string>{"10 1 main", "10 3 work;main", "11 4 main"});
  CHECK(sink.events == std::vector<Event>{{"samples", true}, {"samples*10^-1", true}});
  CHECK(sink.counters.count("weights_rounded") == 0);
}

TEST_CASE("speedscope: profiles of different units are different events") {
  CollectingSink sink;
  REQUIRE(read(kHead +
                   R"("profiles":[{"type":"sampled","name":"a","unit":"seconds","samples":[[0]],)"
                   R"("weights":[2]},{"type":"sampled","name":"b","unit":"bytes",)"
                   R"("samples":[[0]],"weights":[100]}],)" +
                   kFrames + "}",
               sink)
              .has_value());
  CHECK(sink.events == std::vector<Event>{{"samples", true}, {"bytes", true}});
  const auto tables = sink.system_facts.finish();
  for (const auto& entry : {MetadataEntry{"pprof.unit.samples", "nanoseconds"},
                            MetadataEntry{"pprof.unit.bytes", "bytes"}}) {
    CHECK(std::count(tables.metadata.begin(), tables.metadata.end(), entry) == 1);
  }
}

TEST_CASE("speedscope: of TraceEvent, processes, threads and states are no functions") {
  CollectingSink sink;
  const std::string text =
      R"x({"exporter":"Microsoft.Diagnostics.Tracing.TraceEvent@3.1","profiles":[)x"
      R"x({"type":"evented","name":"Thread (9)","unit":"milliseconds","startValue":0,"endValue":4,)x"
      R"x("events":[{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":0},)x"
      R"x({"type":"O","frame":2,"at":0},{"type":"O","frame":3,"at":0},{"type":"O","frame":4,"at":0},)x"
      R"x({"type":"C","frame":4,"at":1},{"type":"O","frame":5,"at":1},{"type":"C","frame":5,"at":3},)x"
      R"x({"type":"C","frame":3,"at":4}]}],"shared":{"frames":[)x"
      R"x({"name":"Process64 my app (60832) Args:  a.dll --x (1)"},{"name":"Threads"},)x"
      R"x({"name":"Thread (9) (.NET Pool)"},{"name":"a.il!N.C.Run(int32)"},{"name":"CPU_TIME"},)x"
      R"x({"name":"UNMANAGED_CODE_TIME"}]}})x";
  REQUIRE(read(text, sink).has_value());
  CHECK(lines_of(sink) == std::vector<std::string>{"0 1000000 N.C.Run(int32)",
                                                   "1000000 2000000 N.C.Run(int32)",
                                                   "3000000 1000000 N.C.Run(int32)"});
  const auto event = [&sink](std::size_t row) {
    return sink.events.at(sink.rows[row].sample.event).name;
  };
  CHECK(event(0) == "samples");
  CHECK(event(1) == "External");
  CHECK(event(2) == "samples");
  CHECK(sink.rows[0].sample.pid == 60'832);
  CHECK(sink.rows[0].sample.tid == 9);
  const auto tables = sink.system_facts.finish();
  REQUIRE(tables.processes.size() == 1);
  CHECK(tables.processes[0].name == "my app");
  CHECK(tables.processes[0].command_line == "a.dll --x (1)");
  REQUIRE(tables.threads.size() == 1);
  CHECK(tables.threads[0].name == ".NET Pool");
  REQUIRE(!tables.modules.empty());
  CHECK(tables.modules[0].path == "a.il");
}

TEST_CASE("speedscope: states are those of the leaf whoever wrote the file, but for our own") {
  const std::string rest =
      R"("profiles":[{"type":"sampled","name":"w","unit":"milliseconds","samples":[[0,1],[0,2],[0]],)"
      R"("weights":[1,2,3]}],"shared":{"frames":[{"name":"a!b"},{"name":"CPU_TIME"},)"
      R"({"name":"BLOCKED_TIME"}]}})";
  CollectingSink other;
  REQUIRE(read("{" + rest, other).has_value());
  CHECK(lines_of(other) ==
        std::vector<std::string>{"0 1000000 a!b", "1000000 2000000 a!b", "3000000 3000000 a!b"});
  CHECK(other.events == std::vector<Event>{{"samples", true}, {"blocked", true}});
  CHECK(other.rows[1].sample.event == 1);
  CollectingSink own;
  REQUIRE(read(R"({"exporter":"stackpack",)" + rest, own).has_value());
  CHECK(lines_of(own)[0] == "0 1000000 CPU_TIME;a!b");
}
