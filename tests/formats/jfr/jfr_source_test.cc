#include "formats/jfr/jfr_source.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "formats/jfr/recording_bytes.h"
#include "support/collecting_sink.h"
#include "support/recorded_functions.h"

using namespace stackpack;
using test::CollectingSink;
using test::JfrChunk;
using test::JfrValues;

namespace {

Result<capture::ByteAccount> read(const std::vector<std::byte>& bytes, CollectingSink& sink,
                                  const jfr::ReadOptions& options = {}) {
  const auto source = io::source_of_memory(bytes);
  const auto account = jfr::read_capture(*source, sink, options);
  if (account) {
    CHECK(account->total == bytes.size());
    CHECK(account->balanced());
  }
  return account;
}

// `event time weight tid leaf:line;...;root:line` of each sample.
std::vector<std::string> lines_of(CollectingSink& sink) {
  std::map<std::string, std::string> names;
  for (const test::NamedRange& function : test::functions_of(sink)) {
    char text[24];
    std::snprintf(text, sizeof text, "?%llx", static_cast<unsigned long long>(function.start));
    names[text] = function.name + function.code;
  }
  std::vector<std::string> lines;
  for (const CollectingSink::Row& row : sink.rows) {
    std::string line = sink.events.at(row.sample.event).name + " " +
                       std::to_string(row.sample.time_ns - JfrChunk::kStartNs) + " " +
                       std::to_string(row.sample.weight) + " " + std::to_string(row.sample.tid) +
                       " ";
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

std::uint64_t count_of(CollectingSink& sink, std::string_view loss) {
  for (const LossCounter& counter : sink.counters.sorted()) {
    if (counter.name == loss) {
      return counter.count;
    }
  }
  return 0;
}

// Two methods of a/B, one function of libc; traces 1 to 3; threads 1 and 2.
JfrChunk small_chunk(bool compressed = true) {
  JfrChunk chunk(compressed);
  chunk.symbol(1, "a/B").symbol(2, "run").symbol(3, "()V").symbol(4, "work").symbol(5, "(I)J");
  chunk.symbol(6, "libc.so.6").symbol(7, "memset").symbol(8, "()L;");
  chunk.constant(JfrChunk::kClass, 1, chunk.values().number(1).count(0));
  chunk.constant(JfrChunk::kClass, 2, chunk.values().number(6).count(0));
  chunk.method(1, 1, 2, 3).method(2, 1, 4, 5).method(3, 2, 7, 8);
  chunk.trace(1, {{2, 12}, {1, 7}}).trace(2, {{3, 0}, {2, 13}, {1, 7}}).trace(3, {{1, 8}}, true);
  chunk.constant(JfrChunk::kFrameType, 1, chunk.values().text("JIT compiled"));
  chunk.constant(JfrChunk::kThreadState, 1, chunk.values().text("STATE_RUNNABLE"));
  chunk.constant(JfrChunk::kThreadState, 2, chunk.values().text("STATE_SLEEPING"));
  chunk.thread(1, "main", 71, "worker", 1).thread(2, "", 0, "virtual", 33);
  return chunk;
}

JfrValues execution(const JfrChunk& chunk, std::uint64_t ticks, std::uint64_t thread,
                    std::uint64_t trace, std::uint64_t state) {
  return chunk.values().number(ticks).number(thread).number(trace).number(state);
}

}  // namespace

TEST_CASE("jfr: samples have times, threads, events and weights; integers compressed or not") {
  for (const bool compressed : {true, false}) {
    CAPTURE(compressed);
    JfrChunk chunk = small_chunk(compressed);
    const auto values = [&chunk] { return chunk.values(); };
    chunk.event(JfrChunk::kExecution, execution(chunk, 5'100, 1, 1, 1));
    chunk.event(JfrChunk::kExecution, execution(chunk, 5'200, 2, 2, 2));
    chunk.event(JfrChunk::kMonitor, values().number(5'300).number(400).number(1).number(1));
    chunk.event(JfrChunk::kAllocation,
                values().number(5'400).number(1).number(3).number(24).number(4'096));
    chunk.event(JfrChunk::kError, values().number(5'450).number(0).number(1).number(3));
    JfrValues wall = values();
    wall.number(4'900).number(1).number(1).number(1).count(5);
    wall.out.u64(0);
    chunk.event(JfrChunk::kWall, wall);
    chunk.event(JfrChunk::kHeap, values().number(5'500).number(1 << 20));
    chunk.event(JfrChunk::kJvm,
                values().number(5'500).text("-Xmx1g").text("a.B --fast").number(70));
    chunk.event(JfrChunk::kDataLoss, values().number(5'600).number(300).number(900));
    CollectingSink sink;
    const auto account = read(chunk.bytes(), sink);
    REQUIRE(account.has_value());
    CHECK(account->skipped.total() != 0);  // of the heap and the machine
    CHECK(lines_of(sink) ==
          std::vector<std::string>{
              "jdk.ExecutionSample 100000 1 71 a.B.work:12;a.B.run:7",
              "jdk.ExecutionSample/sleeping 200000 1 2147483681 memset:0;a.B.work:13;a.B.run:7",
              "jdk.JavaMonitorEnter 300000 400000 71 a.B.work:12;a.B.run:7",
              "jdk.ObjectAllocationInNewTLAB 400000 4096 71 a.B.run:8",
              "jdk.JavaErrorThrow 450000 1 71 a.B.run:8",
              "profiler.WallClockSample 18446744073709451616 5 71 a.B.work:12;a.B.run:7"});
    CHECK(sink.rows[0].sample.pid == 70);
    CHECK(sink.rows[3].sample.flags == kSampleIncomplete);
    CHECK(sink.events[0].has_weight == false);
    CHECK(sink.events[2].has_weight == true);
    CHECK(count_of(sink, "jfr_events_without_callstack") == 2);
    CHECK(count_of(sink, "jfr_truncated_stacks") == 2);
    CHECK(count_of(sink, "jfr_recorder_lost_bytes") == 300);
    const capture::SystemTables tables = sink.system_facts.finish();
    CHECK(tables.processes.at(0).command_line == "-Xmx1g a.B --fast");
    std::vector<std::string> threads;
    for (const Thread& thread : tables.threads) {
      threads.push_back(std::to_string(thread.tid) + " " + thread.name);
    }
    CHECK(threads == std::vector<std::string>{"71 worker", "2147483681 virtual"});
    for (const test::NamedRange& function : test::functions_of(sink)) {
      CHECK(function.linkage == (function.name == "a.B.work"  ? "a/B.work(I)J"
                                 : function.name == "a.B.run" ? "a/B.run()V"
                                                              : ""));
    }
    CHECK(tables.modules.at(0).path == "libc.so.6");
  }
}

TEST_CASE("jfr: every chunk has constants of its own") {
  JfrChunk first = small_chunk();
  first.event(JfrChunk::kExecution, execution(first, 5'001, 1, 1, 1));
  JfrChunk second(false);
  second.symbol(1, "c/D").symbol(2, "other").symbol(3, "()V");
  second.constant(JfrChunk::kClass, 1, second.values().number(1).count(0));
  second.method(2, 1, 2, 3).trace(1, {{2, 1}}).thread(1, "", 71, "renamed", 1);
  second.event(JfrChunk::kExecution, execution(second, 5'002, 1, 1, 0));
  std::vector<std::byte> bytes = first.bytes();
  const std::vector<std::byte> more = second.bytes();
  bytes.insert(bytes.end(), more.begin(), more.end());
  for (const bool remembers : {false, true}) {
    CollectingSink sink;
    sink.remembers = remembers;
    REQUIRE(read(bytes, sink).has_value());
    CHECK(lines_of(sink) ==
          std::vector<std::string>{"jdk.ExecutionSample 1000 1 71 a.B.work:12;a.B.run:7",
                                   "jdk.ExecutionSample 2000 1 71 c.D.other:1"});
    CHECK(sink.events.size() == 1);
  }
}

TEST_CASE("jfr: a callstack that comes again is known by the sink") {
  JfrChunk chunk = small_chunk();
  for (std::uint64_t i = 0; i < 4; ++i) {
    chunk.event(JfrChunk::kExecution, execution(chunk, 5'000 + i, 1, 1 + i % 2, 1));
  }
  CollectingSink sink;
  sink.remembers = true;
  REQUIRE(read(chunk.bytes(), sink).has_value());
  CHECK(sink.known_samples == 2);
  CHECK(sink.rows[3].stack == sink.rows[1].stack);
}

TEST_CASE("jfr: texts in every coding") {
  JfrChunk chunk = small_chunk();
  const auto symbol = [&chunk](std::uint64_t key, const JfrValues& text) {
    chunk.constant(JfrChunk::kSymbol, key, text);
    chunk.method(key, 1, key, 3);
    chunk.trace(key, {{key, 1}});
    chunk.event(JfrChunk::kExecution, execution(chunk, 5'000, 1, key, 1));
  };
  JfrValues latin = chunk.values().byte(5).count(2);
  latin.byte('m').byte(0xE4);
  symbol(50, latin);
  symbol(51, chunk.values().byte(4).count(3).number('p').number(0xD83D, 2).number(0xDE00, 2));
  symbol(52, chunk.values().byte(4).count(2).number(0xDC00, 2).number(0xD800, 2));
  symbol(53, chunk.values().byte(1));
  CollectingSink sink;
  REQUIRE(read(chunk.bytes(), sink).has_value());
  std::vector<std::string> names;
  for (const std::string& line : lines_of(sink)) {
    names.push_back(line.substr(line.rfind(' ') + 1));
  }
  CHECK(names == std::vector<std::string>{"a.B.m\u00e4:1", "a.B.p\U0001F600:1",
                                          "a.B.\uFFFD\uFFFD:1", "a.B.:1"});
}

TEST_CASE("jfr: what is not there is counted, and the rest is read") {
  JfrChunk chunk = small_chunk();
  chunk.event(JfrChunk::kExecution, execution(chunk, 5'000, 1, 99, 1));  // no such trace
  chunk.event(JfrChunk::kExecution, execution(chunk, 5'000, 9, 1, 1));   // no such thread
  chunk.trace(4, {{77, 1}});
  chunk.event(JfrChunk::kExecution, execution(chunk, 5'000, 1, 4, 1));  // no such method
  chunk.event(JfrChunk::kExecution, chunk.values().number(5'000));      // too short
  chunk.event(JfrChunk::kExecution, execution(chunk, 5'001, 1, 0, 1));  // no callstack
  chunk.event(12'345, chunk.values().number(5'000));                    // no such type
  CollectingSink sink;
  const auto account = read(chunk.bytes(), sink);
  REQUIRE(account.has_value());
  CHECK(lines_of(sink) ==
        std::vector<std::string>{"jdk.ExecutionSample 0 1 4294967295 a.B.work:12;a.B.run:7",
                                 "jdk.ExecutionSample 0 1 71 [unknown]:0"});
  CHECK(count_of(sink, "jfr_unknown_constant") == 2);
  CHECK(count_of(sink, "jfr_unknown_thread") == 1);
  CHECK(count_of(sink, "jfr_damaged_event") == 1);
  CHECK(count_of(sink, "jfr_events_without_callstack") == 2);
}

TEST_CASE("jfr: a chunk that was not finished is read as far as it goes") {
  JfrChunk chunk = small_chunk();
  chunk.event(JfrChunk::kExecution, execution(chunk, 5'000, 1, 1, 1));
  const std::vector<std::byte> bytes = chunk.bytes(false);
  CollectingSink whole;
  REQUIRE(read(bytes, whole).has_value());
  CHECK(whole.rows.size() == 1);
  CHECK(count_of(whole, "jfr_unfinished_chunk") == 1);
  for (std::size_t size = 68; size < bytes.size(); ++size) {
    CAPTURE(size);
    CollectingSink sink;
    REQUIRE(read({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}, sink));
    CHECK(count_of(sink, "jfr_unfinished_chunk") == 1);
    CHECK(count_of(sink, "jfr_chunk_without_metadata") == 1);
  }
}

TEST_CASE("jfr: a chunk that was cut before its constants has those of the chunk before") {
  JfrChunk first = small_chunk();
  first.event(JfrChunk::kExecution, execution(first, 5'001, 1, 1, 1));
  JfrChunk cut;
  cut.event(JfrChunk::kExecution, execution(cut, 5'002, 1, 1, 1));
  cut.event(JfrChunk::kExecution, execution(cut, 5'003, 1, 99, 1));  // nobody knows it
  std::vector<std::byte> bytes = first.bytes();
  const std::vector<std::byte> more = cut.bytes(false, false);
  bytes.insert(bytes.end(), more.begin(), more.end());
  CollectingSink sink;
  REQUIRE(read(bytes, sink).has_value());
  CHECK(lines_of(sink) ==
        std::vector<std::string>{"jdk.ExecutionSample 1000 1 71 a.B.work:12;a.B.run:7",
                                 "jdk.ExecutionSample 2000 1 71 a.B.work:12;a.B.run:7",
                                 "jdk.ExecutionSample 3000 1 71 "});
  CHECK(sink.rows[2].sample.origin == StackOrigin::kNone);
  CHECK((sink.rows[2].sample.flags & kSampleIncomplete) != 0);
  CHECK(count_of(sink, "jfr_unknown_constant") == 1);
  CHECK(count_of(sink, "jfr_unfinished_chunk") == 1);
  CHECK(count_of(sink, "jfr_chunk_without_metadata") == 0);

  // Alone it says nothing.
  CollectingSink alone;
  REQUIRE(read(more, alone).has_value());
  CHECK(alone.rows.empty());
  CHECK(count_of(alone, "jfr_chunk_without_metadata") == 1);
}

TEST_CASE("jfr: samples that the recorder lost are a loss") {
  JfrChunk chunk = small_chunk();
  chunk.describe(200, "jdk.CPUTimeSamplesLost",
                 {{"startTime", JfrChunk::kLong},
                  {"lostSamples", JfrChunk::kInt},
                  {"eventThread", JfrChunk::kThread, true}},
                 true);
  chunk.event(200, chunk.values().number(5'001).count(17).number(1));
  chunk.event(200, chunk.values().number(5'002).count(3).number(1));
  CollectingSink sink;
  REQUIRE(read(chunk.bytes(), sink).has_value());
  CHECK(count_of(sink, "jfr_recorder_lost_samples") == 20);
  CHECK(count_of(sink, "jfr_events_without_callstack") == 0);
}

TEST_CASE("jfr: files that are none, and limits") {
  const JfrChunk chunk = small_chunk();
  std::vector<std::byte> bytes = chunk.bytes();
  CHECK(jfr::probe({bytes}));
  CollectingSink sink;
  jfr::ReadOptions options;
  options.max_table_bytes = 600;
  const auto small = read(bytes, sink, options);
  REQUIRE_FALSE(small.has_value());
  CHECK(small.error().code == ErrorCode::kLimit);
  bytes[5] = std::byte{0};  // the major version
  const auto old = read(bytes, sink);
  REQUIRE_FALSE(old.has_value());
  CHECK(old.error().code == ErrorCode::kUnsupported);
  bytes[0] = std::byte{'X'};
  CHECK_FALSE(jfr::probe({bytes}));
  CHECK_FALSE(read(bytes, sink).has_value());
}

TEST_CASE("jfr: constants of a type without members are no damage") {
  JfrChunk chunk = small_chunk();
  chunk.describe(9, "Nothing", {});
  chunk.constant(9, 1, chunk.values());  // before all others
  chunk.event(JfrChunk::kExecution, execution(chunk, 5'000, 1, 1, 1));
  CollectingSink sink;
  REQUIRE(read(chunk.bytes(), sink).has_value());
  CHECK(count_of(sink, "jfr_damaged_checkpoint") == 0);
  CHECK(sink.rows.size() == 1);
}

TEST_CASE("jfr: deep callstacks are cut and counted") {
  JfrChunk chunk = small_chunk();
  const std::vector<std::pair<std::uint64_t, std::uint32_t>> deep(5'000, {1, 3});
  chunk.trace(9, deep);
  chunk.event(JfrChunk::kExecution, execution(chunk, 5'000, 1, 9, 1));
  CollectingSink sink;
  REQUIRE(read(chunk.bytes(), sink).has_value());
  CHECK(std::count(sink.rows.at(0).stack.begin(), sink.rows.at(0).stack.end(), ' ') == 4'095);
  CHECK(sink.rows[0].sample.flags == kSampleIncomplete);
  CHECK(count_of(sink, "jfr_stack_too_deep") == 1);
}

TEST_CASE("jfr: types that contain themselves or nothing end the reading of a value") {
  for (const std::uint64_t inner : {std::uint64_t{200}, std::uint64_t{201}}) {
    JfrChunk chunk = small_chunk();
    chunk.describe(200, "Self", {{"self", 200}});
    chunk.describe(201, "Nothing", {});
    chunk.describe(202, "Odd",
                   {{"startTime", JfrChunk::kLong},
                    {"stackTrace", JfrChunk::kTrace, true},
                    {"inner", inner, false, true}},
                   true);
    chunk.event(202, chunk.values().number(5'000).number(1).count(0xFFFF'FFFF));
    chunk.event(JfrChunk::kExecution, execution(chunk, 5'000, 1, 1, 1));
    CollectingSink sink;
    REQUIRE(read(chunk.bytes(), sink).has_value());
    CHECK(sink.rows.size() == 1);
    CHECK(count_of(sink, "jfr_damaged_event") == 1);
  }
}

TEST_CASE("jfr: whatever byte is wrong, reading ends and every byte has its place") {
  JfrChunk chunk = small_chunk();
  chunk.event(JfrChunk::kExecution, execution(chunk, 5'000, 1, 1, 1));
  chunk.event(JfrChunk::kExecution, execution(chunk, 5'001, 1, 2, 2));
  const std::vector<std::byte> good = chunk.bytes();
  std::size_t read_whole = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const auto mask : {std::byte{0xFF}, std::byte{0x80}, std::byte{0x01}}) {
      std::vector<std::byte> bytes = good;
      bytes[at] ^= mask;
      CollectingSink sink;
      jfr::ReadOptions options;
      options.max_table_bytes = 1 << 20;
      const auto account = read(bytes, sink, options);  // checks the account
      read_whole += account && sink.rows.size() == 2 ? 1U : 0U;
    }
  }
  CHECK(read_whole > 0);
}
