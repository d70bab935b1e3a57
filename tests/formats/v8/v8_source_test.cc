#include "formats/v8/v8_source.h"

#include <doctest/doctest.h>

#include "formats/v8/v8_frames.h"
#include "formats/v8/v8_losses.h"
#include "support/collecting_sink.h"
#include "support/recorded_functions.h"
#include "support/test_bytes.h"

using namespace stackpack;
using test::CollectingSink;
using test::TestBytes;

namespace {

Result<capture::ByteAccount> read(const std::string& text, CollectingSink& sink,
                                  const v8::ReadOptions& options = {}) {
  const std::vector<std::byte> bytes = TestBytes().text(text).bytes;
  const auto source = io::source_of_memory(bytes);
  return v8::read_capture(*source, sink, options);
}

std::string node(int id, const std::string& name, const std::string& more) {
  return R"({"id":)" + std::to_string(id) + R"(,"callFrame":{"functionName":")" + name +
         R"(","scriptId":"7","url":"","lineNumber":4,"columnNumber":2},)" + more + "}";
}

// (root) has main and (idle), main has work.
const std::string kNodes = "\"nodes\":[" + node(1, "(root)", R"("children":[2,4])") + "," +
                           node(2, "main", R"("children":[3])") + "," +
                           node(3, "work", R"("hitCount":2)") + "," +
                           node(4, "(idle)", R"("hitCount":0)") + "]";

// `FUNCTION;FUNCTION WEIGHT` of each sample, leaf first, with a mark of idle ones.
std::vector<std::string> lines_of(CollectingSink& sink) {
  std::map<std::string, std::string> names;
  for (const test::NamedRange& function : test::functions_of(sink)) {
    char text[24];
    std::snprintf(text, sizeof text, "?%llx", static_cast<unsigned long long>(function.start));
    names[text] = function.name;
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
    lines.push_back(line + " " + std::to_string(row.sample.weight) +
                    ((row.sample.flags & kSampleIdle) != 0 ? " idle" : ""));
  }
  return lines;
}

std::string event(const std::string& name, int ts, int pid, const std::string& data) {
  return R"({"name":")" + name + R"(","ph":"P","id":"0x1","ts":)" + std::to_string(ts) +
         R"(,"pid":)" + std::to_string(pid) + R"(,"tid":9,"args":{"data":{)" + data + "}}}";
}

}  // namespace

TEST_CASE("v8: a sample weighs the time to the next one, whatever the order of the keys") {
  const std::string times = R"("startTime":1000,"endTime":1100)";
  const std::string samples = R"("samples":[3,4,2,1],"timeDeltas":[10,20,30,5])";
  for (const std::string& text : {"{" + kNodes + "," + times + "," + samples + "}",
                                  "{" + samples + "," + times + "," + kNodes + "}"}) {
    CAPTURE(text);
    CollectingSink sink;
    const auto account = read(text, sink);
    REQUIRE(account.has_value());
    CHECK(account->balanced());
    CHECK(lines_of(sink) ==
          std::vector<std::string>{"work;main 20000", "(idle) 30000 idle", "main 5000", " 35000"});
    CHECK(sink.events == std::vector<Event>{{"cpu", true}});
    CHECK(sink.rows[0].sample.time_ns == 1'010'000);
    CHECK_FALSE(sink.counters.any_loss());
  }
}

TEST_CASE(
    "v8: profiles of a trace are those of process and id, their parts in the order of times") {
  const auto chunk = [](const std::string& nodes, const std::string& samples,
                        const std::string& deltas) {
    return R"("cpuProfile":{"nodes":[)" + nodes + R"(],"samples":[)" + samples +
           R"(]},"timeDeltas":[)" + deltas + "]";
  };
  const std::string events =
      event("ProfileChunk", 30, 5, chunk("", "2,77", "40,1") + R"(,"endTime":200)") + "," +
      event("Profile", 10, 5, R"("startTime":100)") + "," +
      event("ProfileChunk", 20, 5,
            chunk(node(1, "(root)", R"("x":1)") + "," + node(2, "five", R"("parent":1)"), "2",
                  "10")) +
      "," + event("Profile", 11, 6, R"("startTime":100)") + "," +
      event("ProfileChunk", 21, 6,
            chunk(node(2, "six", R"("x":1)"), "2", "5") + R"(,"endTime":110)") +
      "," + event("ProfileChunk", 22, 7, chunk("", "2", "5")) +
      R"(,{"name":"thread_name","ph":"M","pid":5,"tid":9,"args":{"name":"Main"}},{"name":"X"})";
  for (const std::string& text :
       {"[" + events + "]", R"({"traceEvents":[)" + events + R"(],"metadata":{"a":[1]}})"}) {
    CollectingSink sink;
    REQUIRE(read(text, sink).has_value());
    CHECK(lines_of(sink) == std::vector<std::string>{"five 40000", "five 1000", "six 5000"});
    CHECK(sink.rows[0].sample.pid == 5);
    CHECK(sink.rows[2].sample.pid == 6);
    CHECK(sink.counters.count(v8::loss::kUnknownNode) == 1);
    CHECK(sink.counters.count(v8::loss::kChunkWithoutProfile) == 1);
    CHECK(sink.counters.count(v8::loss::kEventsNotKept) == 1);
  }
  // A browser that ended early leaves the brackets open.
  CollectingSink sink;
  REQUIRE(read("[" + events + ",{\"name\":", sink).has_value());
  CHECK(sink.rows.size() == 3);
  CHECK(sink.counters.count(v8::loss::kCutTrace) == 1);
}

TEST_CASE("v8: nodes of a heap profile weigh their bytes, and (root) is no frame") {
  const auto tree = [](const std::string& name, int size, const std::string& children) {
    return R"({"callFrame":{"functionName":")" + name + R"(","scriptId":"0","url":")" +
           (name == "(root)" ? "" : "a.js") +
           R"(","lineNumber":-1,"columnNumber":-1},"selfSize":)" + std::to_string(size) +
           R"(,"children":[)" + children + "]}";
  };
  const std::string head =
      tree("(root)", 0, tree("main", 0, tree("f", 64, "") + "," + tree("", 32, "")));
  CollectingSink sink;
  REQUIRE(read(R"({"head":)" + head + R"(,"samples":[{"size":64,"nodeId":3}]})", sink).has_value());
  CHECK(lines_of(sink) == std::vector<std::string>{"f;main 64", "(anonymous a.js);main 32"});
  CHECK(sink.events == std::vector<Event>{{"heap", true}});
}

TEST_CASE("v8: files of before node 9 have a tree, times and seconds") {
  CollectingSink sink;
  REQUIRE(read(R"j({"head":{"functionName":"(root)","url":"","lineNumber":0,"id":1,"children":[)j"
               R"j({"functionName":"f","url":"b.js","lineNumber":12,"id":2,"children":[]}]},)j"
               R"j("startTime":2,"endTime":3,"samples":[2,2],"timestamps":[2500000,2600000]})j",
               sink)
              .has_value());
  CHECK(lines_of(sink) == std::vector<std::string>{"f 100000000", "f 400000000"});
  CHECK(test::functions_of(sink)[0].declared == "b.js:12");
}

TEST_CASE("v8: an export says which events, threads and modules there were") {
  // Two threads below (root), samples of one behind those of the other, and a gap.
  const auto thread = [](int id, int tid, int child) {
    return node(id, "t pid 7",
                R"("thread":{"name":"t","pid":7,"tid":)" + std::to_string(tid) +
                    R"(},"children":[)" + std::to_string(child) + "]");
  };
  const std::string nodes =
      R"("nodes":[)" + node(1, "(root)", R"("children":[2,4,6])") + "," + thread(2, 8, 3) + "," +
      R"x({"id":3,"callFrame":{"functionName":"(root)","module":"/lib/a.so","linkage":"_Z"}},)x" +
      thread(4, 9, 5) + "," + node(5, "work", R"("x":1)") + "," +
      node(6, "(idle)", R"("gap":true)") + "]";
  struct Case {
    const char* own;
    std::vector<std::string> lines;
    std::uint64_t time_ns;
  };
  for (const Case& c : {Case{R"({"event":"faults","unit":"page-faults","timed":false,"last":4})",
                             {"(root) 2", "work 4"},  // there is no half of one
                             0},
                        Case{R"({"event":"cpu","unit":"ns","timed":true,"last":0.005})",
                             {"(root) 1500", "work 5"},
                             1'000'250},
                        Case{R"({"event":"part","unit":"samples*10^-2","timed":false,"last":0.25})",
                             {"(root) 150", "work 25"},
                             0}}) {
    CAPTURE(c.own);
    CollectingSink sink;
    REQUIRE(read(R"({"stackpack":)" + std::string(c.own) + "," + nodes +
                     R"(,"startTime":1000,"endTime":1004,"samples":[3,6,5],)" +
                     R"("timeDeltas":[0.25,1.5,2]})",
                 sink)
                .has_value());
    CHECK(lines_of(sink) == c.lines);
    CHECK(sink.rows[0].sample.time_ns == c.time_ns);
    CHECK(sink.rows[0].sample.tid == 8);
    CHECK(sink.rows[1].sample.tid == 9);
    CHECK_FALSE(sink.counters.any_loss());
  }
}

TEST_CASE("v8: modules are packages or scripts") {
  CHECK(v8::module_of("node:internal/timers") == "node:internal/timers");
  CHECK(v8::module_of("file:///a/node_modules/b/node_modules/c/d.js") == "node_modules/c");
  CHECK(v8::module_of("/a/node_modules/@s/c/d.js") == "node_modules/@s/c");
  CHECK(v8::module_of("/a/node_modules/@s") == "node_modules/@s");
  CHECK(v8::module_of("/a/node_modules/c") == "node_modules/c");
}

TEST_CASE("v8: damage is counted or an error") {
  CollectingSink sink;
  CHECK(read("{" + kNodes + R"(,"samples":[2,3],"timeDeltas":[1]})", sink).has_value());
  CHECK(sink.counters.count(v8::loss::kSampleWithoutTime) == 1);
  // A circle of parents.
  CHECK(read(R"({"nodes":[{"id":1,"children":[2]},{"id":2,"children":[1]}],"samples":[1]})", sink)
            .has_value());
  CHECK(sink.counters.count(v8::loss::kStackTooDeep) == 1);
  CHECK(read("{" + kNodes + R"(,"samples":[2,)", sink).error().code == ErrorCode::kCorrupt);
  CHECK(read(R"({"traceEvents":[{"name":"X","ph":"X"}]})", sink).error().code ==
        ErrorCode::kUnsupported);
  v8::ReadOptions options;
  options.max_bytes = 100;
  CHECK(read("{" + kNodes + "}", sink, options).error().code == ErrorCode::kLimit);
  std::string deep = R"({"head":)";
  for (std::size_t i = 0; i <= v8::kMostFrames; ++i) {
    deep += R"({"children":[)";
  }
  CHECK(read(deep, sink).error().code == ErrorCode::kLimit);
}
