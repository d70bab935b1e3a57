#include "formats/stacks/stacks_source.h"

#include <set>

#include <doctest/doctest.h>

#include "support/collecting_sink.h"
#include "support/recorded_functions.h"
#include "support/test_bytes.h"

using namespace stackpack;
using test::CollectingSink;
using test::TestBytes;

namespace {

Result<capture::ByteAccount> read_stacks(const std::string& text, CollectingSink& sink,
                                         stacks::ReadOptions options = {}) {
  const std::vector<std::byte> bytes = TestBytes().text(text).bytes;
  const auto source = io::source_of_memory(bytes);
  return stacks::read_capture(*source, sink, options);
}

capture::Probe probe_of(const std::string& text) {
  return stacks::probe({TestBytes().text(text).bytes, true});
}

// "root;...;leaf WEIGHT EVENT" of each sample.
std::vector<std::string> rows_of(CollectingSink& sink) {
  std::map<std::string, std::string> names;
  for (const test::NamedRange& function : test::functions_of(sink)) {
    char text[24];
    std::snprintf(text, sizeof text, "?%llx", static_cast<unsigned long long>(function.start));
    names[text] = function.name + (function.code == ":0" ? "" : "@" + function.code);
  }
  std::vector<std::string> rows;
  for (const CollectingSink::Row& row : sink.rows) {
    std::string line;
    const std::string stack = row.stack.empty() ? "" : row.stack + " ";
    for (std::size_t begin = 0; begin < stack.size();) {
      const std::size_t end = stack.find(' ', begin);
      line.insert(0, names.at(stack.substr(begin, end - begin)) + (line.empty() ? "" : ";"));
      begin = end + 1;
    }
    rows.push_back(line + " " + std::to_string(row.sample.weight) + " " +
                   sink.events[row.sample.event].name);
  }
  return rows;
}

using Rows = std::vector<std::string>;

const char* const kDtrace =
    "CPU     ID                    FUNCTION:NAME\n  0  76446   :tick-10s\n\n\n"
    "              unix`idle+0x6\n              unix`thread_start+0x8\n             1641\n\n"
    "              genunix`put+0x1\n\n              app`draw::line(int)+0x9\n  3\n";
const char* const kBpftrace =
    "Attaching 1 probe...\n\n@[\n    f+1\n    main+20\n]: 3\n@allocs[bash, \n    g+4\n, \n"
    "    ffff1 h+1 (/lib/a)\n, 7]: 5\n@[\n    f\n]: count 2, average 1\n@x: 7\n";
const char* const kSample =
    "Analysis of sampling a (pid 1) every 1 millisecond\nCall graph:\n"
    "    9 Thread_1   DispatchQueue_1\n    + 9 main  (in a) + 1  [0x1]\n"
    "    +   ! 4 -[NSApp run:at:]  (in liba.dylib) + 2  [0x2]\n"
    "    +   2 kevent  (in libk.dylib) + 2  [0x3]\n\nTotal number in stack\n   5   main\n";
const char* const kGdb =
    "[New LWP 7]\n\nThread 2 (Thread 0x7 (LWP 7) \"a\"):\n"
    "#0  0x0001 in ns::f<int> (x=3) at /src/a b.c:12\n#1  <signal handler called>\n"
    "#2  0x0002 in main () from /lib/libm.so\n\nThread 1 (LWP 8):\n#0  g (p=0x0) at g.c:4\n"
    "    with more\n#0  0x0003 in ?? ()\n";
const char* const kBcc =
    "Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to end.\n^C\n"
    "    schedule\n    --\n    a::b(int, long)\n    b'main'\n"
    "    -                my app (12)\n        70\n\n";

}  // namespace

TEST_CASE("stacks: callstacks with a count below them") {
  CollectingSink sink;
  const auto account = read_stacks(kDtrace, sink);
  REQUIRE(account.has_value());
  CHECK(account->balanced());
  CHECK(account->skipped.total() == 0);
  CHECK(rows_of(sink) ==
        Rows{"unix`thread_start;unix`idle 1641 samples", "app`draw::line;genunix`put 3 samples"});
  CollectingSink bcc;
  REQUIRE(read_stacks(kBcc, bcc).has_value());
  CHECK(rows_of(bcc) == Rows{"main;a::b(int, long);schedule 70 offcpu-time"});
  CHECK(bcc.rows[0].sample.pid == 12);
  CHECK(bcc.system_facts.finish().processes.at(0).name == "my app");
}

TEST_CASE("stacks: maps of bpftrace are events, and their other keys the root") {
  CollectingSink sink;
  const auto account = read_stacks(kBpftrace, sink);
  REQUIRE(account.has_value());
  CHECK(account->balanced());
  CHECK(rows_of(sink) == Rows{"main;f 3 samples", "bash, 7;h;g 5 allocs"});
  CHECK(sink.counters.count("stacks_stack_without_count") == 1);
  CHECK(sink.counters.count("stacks_other_line") == 1);
}

TEST_CASE("stacks: an entry of a map may have no frames") {
  CollectingSink sink;
  REQUIRE(read_stacks("@[]: 4\n@a[, bash]: 3\n@a[sh]: 2\n@[\n    f+1\n]: 1\n@[]: x\n", sink));
  CHECK(rows_of(sink) == Rows{" 4 samples", "bash 3 a", "f 1 samples"});
  CHECK(sink.counters.count("stacks_other_line") == 1);
  CHECK(sink.counters.count("stacks_stack_without_count") == 1);
}

TEST_CASE("stacks: JSON of bpftrace says the same as its text") {
  const std::string json =
      "{\"type\": \"attached_probes\", \"data\": {\"probes\": 1}}\n\n\n"
      "{\"type\": \"map\", \"data\": {\"@\": {\"\": 2, \"\\n    f+1\\n    main+20\\n\": 3, \"\\n   "
      " f\\n\": "
      "\"x\"}}}\n"
      "{\"type\": \"map\", \"data\": {\"@allocs\": {\"bash,\\n    g+4\\n,7\": 5, \"sh\": 1}}}\n"
      "{\"type\": \"map\", \"data\": {\"@x\": 7}}\n{\"type\": 1}\n";
  CollectingSink sink;
  const auto account = read_stacks(json, sink);
  REQUIRE(account.has_value());
  CHECK(account->balanced());
  CHECK(account->total == json.size());
  CHECK(rows_of(sink) == Rows{" 2 samples", "main;f 3 samples", "bash, 7;g 5 allocs"});
  CHECK(sink.counters.count("stacks_stack_without_count") == 1);
  CHECK(sink.counters.count("stacks_other_line") == 3);
  CHECK(sink.counters.count("stacks_unknown_line") == 1);
  // A map is one line, which may be longer than what probes are shown.
  const std::string long_map = "{\"type\": \"map\", \"data\": {\"@\": {\"\\n    f\\n\": 3, \"" +
                               std::string(capture::kProbeBytes, ' ') + "\\n    g\\n\": 4}}}\n";
  CHECK(bool{stacks::probe({std::as_bytes(std::span(long_map)).first(capture::kProbeBytes)})});
  CollectingSink of_long;
  REQUIRE(read_stacks(long_map, of_long).has_value());
  CHECK(of_long.rows.size() == 2);
  for (const std::string& other : {std::string("{\"type\": \"map\", \"data\": {\"@\": 3}}\n"),
                                   std::string(300'000, '['), std::string("[1]\n")}) {
    CHECK_FALSE(bool{probe_of(other)});
  }
}

TEST_CASE("stacks: a node of a call tree weighs what those below it leave") {
  CollectingSink sink;
  const auto account = read_stacks(kSample, sink);
  REQUIRE(account.has_value());
  CHECK(account->skipped.total() == 0);
  CHECK(rows_of(sink) == Rows{"Thread_1;a`main;liba`-[NSApp run:at:] 4 samples",
                              "Thread_1;a`main;libk`kevent 2 samples.waiting",
                              "Thread_1;a`main 3 samples"});
  CollectingSink small;
  REQUIRE(read_stacks("50.0%  [5]    leaf\n 90.0%  [7]     f\n", small).has_value());
  CHECK(small.counters.count("stacks_sums_differ") == 1);
}

TEST_CASE("stacks: tables of call trees count milliseconds") {
  struct Case {
    std::string text;
    Rows rows;
  };
  for (const Case& c : std::vector<Case>{
           {"Function Stack,CPU Time:Self,Module\nTotal,0.0,[Unknown]\n f,0.0325,a.dll\n"
            "  \"g<int,\"\"b\"\">\",2,a.dll\n",
            {"[Unknown]`Total;a.dll`f;a.dll`g<int,\"\"b\"\"> 2 samples",
             "[Unknown]`Total;a.dll`f 325 samples*10^-1"}},
           {"Weight\tSelf Weight\tSymbol Names\n4.93 s  100.0%\t0 s\t   start\n"
            "4.93 s  99.9%\t1.50 s\t    main\n1.00 ms\t2.00 ms\t    rest\n1 min\t1 min\t     x\n",
            {"start;main 1500 samples", "start;rest 2 samples"}}}) {
    CAPTURE(c.text);
    CollectingSink sink;
    const auto account = read_stacks(c.text, sink);
    REQUIRE(account.has_value());
    CHECK(account->balanced());
    CHECK(rows_of(sink) == c.rows);
  }
}

TEST_CASE("stacks: each backtrace is one sample") {
  CollectingSink sink;
  REQUIRE(read_stacks(kGdb, sink).has_value());
  CHECK(rows_of(sink) == Rows{"main;<signal handler called>;ns::f<int>@/src/a b.c:12 1 samples",
                              "g@g.c:4 1 samples", "?? 1 samples"});
  CollectingSink java;
  REQUIRE(read_stacks(
              "\"pool-7\" #9 prio=5\n   java.lang.Thread.State: RUNNABLE\n"
              "\tat a.B.c(java.base@17/B.java:12)\n\t- locked <0x1> (a b)\n"
              "\tat a.B.<init>(Native Method)\n\n"
              "\"x\" #10\n   java.lang.Thread.State: WAITING (parking)\n\tat a.W.w(W.java:1)\n\n"
              "\"y\" #11\n   java.lang.Thread.State: RUNNABLE\n\tat s.E.epollWait(E.java:1)\n",
              java)
              .has_value());
  CHECK(rows_of(java) == Rows{"pool;a.B.<init>;a.B.c@B.java:12 1 samples",
                              "x;a.W.w@W.java:1 1 samples.waiting",
                              "y;s.E.epollWait@E.java:1 1 samples.waiting"});
  CollectingSink python;
  REQUIRE(read_stacks("Thread 0x7 (most recent call first):\n  File \"/a b.py\", line 4 in f\n"
                      "  File \"/a b.py\", line 9 in <module>\n",
                      python)
              .has_value());
  CHECK(rows_of(python) == Rows{"<module>@/a b.py:9;f@/a b.py:4 1 samples"});
  CollectingSink elfutils;
  REQUIRE(read_stacks("PID 5 - process\nTID 6:\n#0  0x01 f\n#1  0x02\nTID 7:\n#0  0x03 g(int)\n",
                      elfutils)
              .has_value());
  CHECK(rows_of(elfutils) == Rows{"[unknown];f 1 samples", "g(int) 1 samples"});
  CHECK(elfutils.rows[1].sample.pid == 5);
  CHECK(elfutils.rows[1].sample.tid == 7);
}

TEST_CASE("stacks: other texts are none") {
  for (const std::string text :
       {"Hello there,\nworld.\n", "main;work 10\nmain;rest 20\n", "  7\n  8\n  9\n",
        "prog  77 [001]  12.345678:     250000 cycles: \n\t    55d0c0 main+0x10 (/bin/prog)\n\n",
        "Shopping:\n  some bread and milk\n 12\n  more of the things\n 13\n",
        "#1 we are the first\n#2 they are not\n", "# a comment\n\n@param[in] x: 7\n",
        "Thread safety:\nnone.\n", "a,b,c\n1,2,3\n", ""}) {
    CAPTURE(text);
    CHECK_FALSE(bool{probe_of(text)});
    CollectingSink sink;
    CHECK_FALSE(read_stacks(text, sink).has_value());
  }
}

TEST_CASE("stacks: a prefix of a text has the callstacks of the whole, and all bytes are counted") {
  for (const std::string text : {kDtrace, kBpftrace, kGdb, kBcc}) {
    CollectingSink whole;
    REQUIRE(read_stacks(text, whole).has_value());
    const Rows rows = rows_of(whole);
    for (std::size_t size = 0; size < text.size(); ++size) {
      CAPTURE(text.substr(0, size));
      CollectingSink sink;
      const auto account = read_stacks(text.substr(0, size), sink);
      if (!account) {
        continue;
      }
      CHECK(account->balanced());
      CHECK(account->total == size);
      CHECK(sink.rows.size() <= rows.size());
    }
  }
}

TEST_CASE("stacks: lines that are too long or have a NUL, and callstacks too deep, are counted") {
  stacks::ReadOptions options;
  options.max_line_bytes = 200;
  CollectingSink sink;
  const std::string good = " a`f+0x1\n 3\n";
  std::string deep;
  for (std::size_t i = 0; i < 65'536; ++i) {
    deep += " a`g+0x1\n";
  }
  const std::string text = good + " a`" + std::string(300, 'x') + "\n" + std::string("a\0b\n", 4) +
                           "not a frame\n" + good + deep + " 9\n" + good + " a`f+0x1\n";
  const auto account = read_stacks(text, sink, options);
  REQUIRE(account.has_value());
  CHECK(account->balanced());
  CHECK(rows_of(sink) == Rows(3, "a`f 3 samples"));
  CHECK(sink.counters.count("stacks_line_too_long") == 1);
  CHECK(sink.counters.count("stacks_binary_line") == 1);
  CHECK(sink.counters.count("stacks_unknown_line") == 1);
  CHECK(sink.counters.count("stacks_stack_too_deep") == 1);
  CHECK(sink.counters.count("stacks_stack_without_count") == 1);
}
