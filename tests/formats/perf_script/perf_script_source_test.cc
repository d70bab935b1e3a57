#include "formats/perf_script/perf_script_source.h"

#include <doctest/doctest.h>

#include "support/collecting_sink.h"
#include "support/recorded_functions.h"
#include "support/skipped_map.h"
#include "support/test_bytes.h"

using namespace stackpack;
using test::CollectingSink;
using test::TestBytes;

namespace {

Result<capture::ByteAccount> read(const std::string& text, CollectingSink& sink,
                                  perf_script::ReadOptions options = {}) {
  const std::vector<std::byte> bytes = TestBytes().text(text).bytes;
  const auto source = io::source_of_memory(bytes);
  return perf_script::read_capture(*source, sink, options);
}

// Callstacks, leaf first, with names and images in place of the addresses that stand for them.
std::vector<std::string> stacks_of(CollectingSink& sink) {
  const capture::SystemTables tables = sink.system_facts.finish();
  std::map<std::string, std::string> names;
  for (const test::NamedRange& function : test::functions_of(sink)) {
    char text[24];
    std::snprintf(text, sizeof text, "?%llx", static_cast<unsigned long long>(function.start));
    names[text] = function.name + (function.code == ":0" ? "" : function.code);
    for (const Module& module : tables.modules) {
      if (function.start - module.base < module.size) {
        names[text] += "@" + module.path;
      }
    }
  }
  std::vector<std::string> lines;
  for (const CollectingSink::Row& row : sink.rows) {
    std::string line;
    std::string stack = row.stack + " ";
    for (std::size_t begin = 0; row.stack.size() > begin;) {
      const std::size_t end = stack.find(' ', begin);
      const std::string frame = stack.substr(begin, end - begin);
      line += (begin == 0 ? "" : ";") + (names.contains(frame) ? names[frame] : frame);
      begin = end + 1;
    }
    lines.push_back(line);
  }
  return lines;
}

std::uint64_t losses(const CollectingSink& sink, std::string_view name) {
  return sink.counters.count(name);
}

}  // namespace

TEST_CASE("perf script: a sample has its thread, time, processor, event and callstack") {
  CollectingSink sink;
  const std::string text =
      "# captured on: today\n"
      "my 2 thread 7/9  [003] 12.000001:        250 cpu-clock:ppp: \n"
      "\t        1a2b leaf(int)+0x1b (/opt/A (x)/lib.so (deleted))\n"
      "\t    7fff1000 [unknown] ([unknown])\n"
      "\t       12345 [unknown] (/lib/libc.so.6)\n"
      "\tffffffff81000010 [unknown] ([kernel.kallsyms])\n"
      "\tffffffff81000000\n"
      "\n"
      "swapper 0/0 13.000000001: page-faults:\n";
  const auto account = read(text, sink);
  REQUIRE(account.has_value());
  CHECK(account->balanced());
  CHECK(account->skipped.total() == 0);
  CHECK(stacks_of(sink) ==
        std::vector<std::string>{
            "leaf(int)@/opt/A (x)/lib.so (deleted);u7fff1000;libc.so.6+0x12345@/lib/libc.so.6;"
            "0xffffffff81000010@[kernel.kallsyms];kffffffff81000000",
            ""});
  const Sample& first = sink.rows[0].sample;
  CHECK(first.pid == 7);
  CHECK(first.tid == 9);
  CHECK(first.cpu == 3);
  CHECK(first.time_ns == 12'000'001'000);
  CHECK(first.weight == 250);
  CHECK(first.origin == StackOrigin::kRecorded);
  CHECK(first.flags == 0);
  const Sample& idle = sink.rows[1].sample;
  CHECK(idle.time_ns == 13'000'000'001);
  CHECK(idle.cpu == kUnknownId);
  CHECK(idle.flags == kSampleIdle);
  CHECK(idle.origin == StackOrigin::kNone);
  CHECK(sink.events == std::vector<Event>{{"cpu-clock:ppp", true}, {"page-faults", false}});
  const auto threads = sink.system_facts.finish().threads;
  REQUIRE(threads.size() == 2);
  CHECK(threads[1].name == "my 2 thread");
}

TEST_CASE("perf script: inlined calls belong to the function whose code they are") {
  CollectingSink sink;
  REQUIRE(read("a 7/7 1.000000: 1 cycles: \n"
               "\t 10 innermost (inlined)\n"
               "\t 10 middle (inlined)\n"
               "\t 10 outer+0x8 (/a)\n"
               "\t 20 lonely (inlined)\n",
               sink)
              .has_value());
  CHECK(stacks_of(sink) ==
        std::vector<std::string>{"outer:0 < middle at :0 < innermost at :0@/a;lonely"});
}

TEST_CASE("perf script: branches and texts of tracepoints are counted, addresses are kept") {
  CollectingSink sink;
  const std::string text =
      "b 5 [000] 1.000000: 3 cycles:ppp:  ffffffffb42071f2 leaf ([k]) 0x5([k])/0x6([k])/P/-/-/4/  "
      "0x7/0x8/M/-/-/0\n"
      "b 5 [000] 1.000001: 3 cycles:ppp: \n"
      "\t 10 f (/a)\n"
      " 0x1/0x2/P/-/-/0  0x3/0x4/M/-/-/7 \n"
      "b 5 [000] 1.000002: sched:sched_switch: prev_comm=add fee (x)\n"
      "b 5 [000] 1.000003: PERF_RECORD_MMAP2 5/5: [0x1(0x2) @ 0 00:00 0 0]: r-xp /a\n";
  const auto account = read(text, sink);
  REQUIRE(account.has_value());
  CHECK(account->balanced());
  CHECK(stacks_of(sink) == std::vector<std::string>{"leaf@[k]", "f@/a", ""});
  CHECK(sink.rows[0].sample.origin == StackOrigin::kIpOnly);
  CHECK(sink.rows[0].sample.pid == 5);
  CHECK(losses(sink, "perf_script_branches_not_kept") == 4);
  CHECK(losses(sink, "perf_script_trace_text_not_kept") == 1);
  CHECK(losses(sink, "perf_script_process_not_told") == 3);
  CHECK(losses(sink, "perf_script_other_record") == 1);
}

TEST_CASE("perf script: a thread that calls itself something else has a name for each time") {
  CollectingSink sink;
  REQUIRE(read("sh 5/5 1.000000: 1 cycles: \n\nsh 5/5 2.000000: 1 cycles: \n\n"
               "make 5/5 3.000000: 1 cycles: \n\n",
               sink)
              .has_value());
  const auto threads = sink.system_facts.finish().threads;
  REQUIRE(threads.size() == 2);
  CHECK(threads[0].name == "sh");
  CHECK(threads[1].name == "make");
  CHECK(threads[1].start_ns == 3'000'000'000);
  const auto processes = sink.system_facts.finish().processes;
  REQUIRE(processes.size() == 2);
  CHECK(processes[0].name == "sh");
  CHECK(processes[1].start_ns == 3'000'000'000);
}

TEST_CASE("perf script: what is no sample is counted where it is") {
  CollectingSink sink;
  const std::string bad = "nonsense\n";
  const std::string good = "a 7/7 1.000000: 1 cycles: \n\t 10 f (/a)\n  what is this\n";
  const std::string nul = std::string("a") + '\0' + "\n";
  perf_script::ReadOptions options;
  options.max_line_bytes = 64;
  const auto account =
      read(bad + good + nul + std::string(200, 'x') + "\n\n" + good, sink, options);
  REQUIRE(account.has_value());
  CHECK(account->balanced());
  CHECK(sink.rows.size() == 2);
  CHECK(losses(sink, "perf_script_unknown_line") == 3);
  CHECK(losses(sink, "perf_script_binary_line") == 1);
  CHECK(losses(sink, "perf_script_line_too_long") == 1);
  CHECK(sink.counters.sorted().front().kind == LossKind::kDamage);

  CollectingSink none;
  CHECK_FALSE(read("nothing\nof that\n", none).has_value());
}

TEST_CASE("perf script: a callstack deeper than can be stored is left out and counted") {
  std::string text = "a 7/7 1.000000: 1 cycles: \n";
  for (int i = 0; i < 65'536; ++i) {
    text += "\t 10 f (/a)\n";
  }
  CollectingSink sink;
  REQUIRE(read(text + "\na 7/7 2.000000: 1 cycles: \n", sink).has_value());
  CHECK(sink.rows.size() == 1);
  CHECK(losses(sink, "perf_script_stack_too_deep") == 1);
}

TEST_CASE("perf script: the first line that is no comment tells it") {
  const auto looks = [](const std::string& text) {
    return bool{perf_script::probe({TestBytes().text(text).bytes})};
  };
  CHECK(looks("# ========\n\na b 7 12.345678: 1 cycles: \n"));
  CHECK(looks("a 7/8 [001] 12.345678901: cycles:\r\n"));
  CHECK_FALSE(looks("a;b 7\n"));
  CHECK_FALSE(looks("a 7 12.3456789: cycles:\n"));
  CHECK_FALSE(looks("# only a comment\n"));
  CHECK_FALSE(looks(""));
}

// The fields that perf prints by -F, with a callstack: `perf script -F` of one recording.
TEST_CASE("perf script: first lines with fewer fields begin samples all the same") {
  struct Case {
    std::string head;
    std::string event;
    std::uint32_t tid;
    std::uint64_t time_ns;
    std::uint64_t weight;
    bool is_aggregated;
  };
  const std::string kStack = "\n\t            11cf f\n\t            11e7 main\n\n";
  for (const Case& c : std::vector<Case>{
           {"node v8 31912 cpu-clock: ", "cpu-clock", 31912, 0, 1, true},
           {"node v8 7/31912 [002] cpu-clock:u: ", "cpu-clock:u", 31912, 0, 1, true},
           {"busy work  4281    2004008 cpu-clock: ", "cpu-clock", 4281, 0, 2004008, true},
           {"busy work  4281 [001] U    sched:sched_switch: prev_comm=a", "sched:sched_switch",
            4281, 0, 1, true},
           {"busy work  4281 1.000000:    2004008 ", "samples", 4281, 1'000'000'000, 2004008,
            false},
           {"busy work  4281 1.000000: ", "samples", 4281, 1'000'000'000, 1, false},
           {" 4281 1.000000:    2004008 cpu-clock: ", "cpu-clock", 4281, 1'000'000'000, 2004008,
            false},
           {"busy work  4281 [000] K     1.000000: cycles: ", "cycles", 4281, 1'000'000'000, 1,
            false},
           {"vm VM:3 VCPU:001 7 [000] 1.000000: cycles: ", "cycles", 7, 1'000'000'000, 1, false},
           {"Web 1\t25145 [004] 115539.8374:\t\t1000000 task-clock:u:", "task-clock:u", 25145,
            115539'008'374'000, 1000000, false},
           {"1.000000: cycles: ", "cycles", kUnknownId, 1'000'000'000, 1, false},
           {"1.000000: ", "samples", kUnknownId, 1'000'000'000, 1, false},
           {"busy work 4281 ", "samples", 4281, 0, 1, true},
           {"busy", "samples", kUnknownId, 0, 1, true},
           {"cycles: ", "cycles", kUnknownId, 0, 1, true},
           {"", "samples", kUnknownId, 0, 1, true}}) {
    CAPTURE(c.head);
    const std::string text = c.head + kStack + c.head + kStack;
    CHECK(bool{perf_script::probe({TestBytes().text(text).bytes})});
    CollectingSink sink;
    const auto account = read(text, sink);
    REQUIRE(account.has_value());
    CHECK(account->balanced());
    CHECK(account->skipped.total() == 0);
    CHECK(stacks_of(sink) == std::vector<std::string>{"f;main", "f;main"});
    REQUIRE(sink.events.size() == 1);
    CHECK(sink.events[0].name == c.event);
    const Sample& sample = sink.rows[0].sample;
    CHECK(sample.tid == c.tid);
    CHECK(sample.time_ns == c.time_ns);
    CHECK(sample.weight == c.weight);
    const auto metadata = sink.system_facts.finish().metadata;
    CHECK((std::count(metadata.begin(), metadata.end(), MetadataEntry{"samples.aggregated", "1"}) !=
           0) == c.is_aggregated);
  }
}

TEST_CASE("perf script: samples without callstacks have their address in the line") {
  for (const std::string head :
       {"frames    43  ffffffff821f2fa7 f", "frames    43    1003009  ffffffff821f2fa7 f",
        "frames cpu-clock:  ffffffff821f2fa7 f", "   43  ffffffff821f2fa7 f",
        " ffffffff821f2fa7 f"}) {
    CAPTURE(head);
    CollectingSink sink;
    const std::string text = head + " ([kernel.kallsyms])\n";
    const auto account = read(text + text, sink);
    REQUIRE(account.has_value());
    CHECK(account->skipped.total() == 0);
    CHECK(stacks_of(sink) ==
          std::vector<std::string>{"f@[kernel.kallsyms]", "f@[kernel.kallsyms]"});
  }
}

TEST_CASE("perf script: a line is a sample by the columns of its address, or by its last event") {
  struct Case {
    std::string text;
    std::vector<std::string> stacks;
  };
  const std::vector<Case> cases = {
      {"          frames  ffffffff8175336a\n          frames      55dcd066b4f9\n",
       {"kffffffff8175336a", "u55dcd066b4f9"}},
      {"   30  ffffffff8175336a\n   33              4f90\n", {"kffffffff8175336a", "u4f90"}},
      {"[000]  ffffffff8175336a insn: 48 89\n", {"kffffffff8175336a"}},
      {"   30      page-faults: \n   33        cpu-clock: \n", {"", ""}},
      {"          frames        cpu-clock:            \n", {""}},
      // Instructions stand in place of the blank line.
      {"frames    30 \n\t    7f10ab70 _start\n insn: 48 89 e7\nframes    31 \n\t    7f10b7a0 "
       "main\n\n",
       {"_start", "main"}},
      {"frames 1.000001: \n\t    7f10ab70 _start\n\nframes 1.000001: \tmetric:  2.5 G/sec\n",
       {"_start"}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.text);
    CollectingSink sink;
    const auto account = read(one.text, sink);
    REQUIRE(account.has_value());
    CHECK(account->balanced());
    CHECK(account->skipped.total() == 0);
    CHECK(stacks_of(sink) == one.stacks);
  }
}

TEST_CASE("perf script: branches of a hardware trace are samples of where they come from") {
  CollectingSink sink;
  const std::string text =
      "p 7/7 9.343298468:                            1   branches:uH:   call                     "
      "7f6fce0b71f4 from+0x24 (/a) =>     7ffd193838e0 to+0x0 (/b)\n"
      "p 7/7 9.343298469:                            1   branches:uH:   tr end  syscall          "
      "7f6fce0b71f5 from+0x25 (/a) =>                0 [unknown] ([unknown])\n";
  REQUIRE(read(text, sink).has_value());
  CHECK(stacks_of(sink) == std::vector<std::string>{"from@/a", "from@/a"});
  CHECK(losses(sink, "perf_script_traced_branches") == 2);
}

TEST_CASE("perf script: source lines are those of the frames before them") {
  CollectingSink sink;
  const auto account = read(
      "a 7/7 1.000000: 1 cycles: \n\t 10 f+0x1 (/a+0x10)\n  a.c:12\n\t 20 g (/b)\n"
      "  /src/b.c:3\n\t ffffffff81000000 h ([k])\n  [k][ffffffff81000000]\n"
      "\t 30 i (/b)\n  :0\n\n",
      sink);
  REQUIRE(account.has_value());
  CHECK(account->skipped.total() == 0);
  CHECK(stacks_of(sink) == std::vector<std::string>{"fa.c:12@/a;g/src/b.c:3@/b;h@[k];i@/b"});
}

TEST_CASE("perf script: source lines of inlined calls are where the next one is called") {
  CollectingSink sink;
  const auto account = read(
      "a 7/7 1.000000: 1 cycles: \n\t 10 innermost\n  a.h:3 (inlined)\n"
      "\t 10 middle\n  b.h:5 (inlined)\n\t 10 outer+0x8 (/a)\n  a.c:12\n\n"
      "a 7/7 1.000000: 1 cycles: \n\t 10 innermost\n  a.h:3 (inlined)\n"
      "\t 10 outer+0x8 (/a)\n  a.h:3\n\t 20 lonely\n  c.c:4 (inlined)\n\n",
      sink);
  REQUIRE(account.has_value());
  CHECK(account->skipped.total() == 0);
  CHECK(stacks_of(sink) ==
        std::vector<std::string>{"outera.h:3 < middle at a.c:12 < innermost at b.h:5@/a",
                                 "outera.h:3 < innermost at :0@/a;lonelyc.c:4"});
}

TEST_CASE("perf script: a text that ends in zeros or other bytes keeps its samples") {
  const std::string good = "a 7/7 1.000000: 1 cycles: \n\t 10 f (/a)\n\n";
  for (const std::string& rest : {std::string(5000, '\0'), std::string("\1\0\xff\n\0", 5)}) {
    const std::vector<std::byte> bytes = TestBytes().text(good + rest).bytes;
    CHECK(perf_script::probe({bytes, true}).answer == capture::ProbeAnswer::kCertain);
    CollectingSink sink;
    const auto account = read(good + rest, sink);
    REQUIRE(account.has_value());
    CHECK(account->balanced());
    CHECK(stacks_of(sink) == std::vector<std::string>{"f@/a"});
    CHECK(account->skipped.total() == rest.size());
    CHECK(losses(sink, "perf_script_binary_line") != 0);
  }
  CHECK_FALSE(bool{perf_script::probe({TestBytes().text(std::string(99, '\0') + good).bytes})});
}

TEST_CASE("perf script: lines with fewer fields than the first are no samples") {
  CollectingSink sink;
  const std::string good = "a 7/7 1.000000: 1 cycles: \n\t 10 f (/a)\n\n";
  const auto account = read(good + "a 7/7 cycles: \n\n" + good + "a 7/7 1.000000: 1", sink);
  REQUIRE(account.has_value());
  CHECK(sink.rows.size() == 2);
  CHECK(losses(sink, "perf_script_unknown_line") == 2);
}

TEST_CASE("perf script: logs and other texts are none") {
  for (const std::string text :
       {"Nov 28 08:00:01 host sshd[77]: session opened\nNov 28 08:00:02 host sshd[78]: closed\n",
        "line 12 error: something\nno more\n", "main;work 10\nmain;rest 20\n",
        "heap profile: 3: 471 [642: 86016] @ heap/2\n3: 471 [3: 471] @ 0x401000 0x402000\n",
        "  a 1\n  b 2\n  words are here\n  and here too, it seems\n"}) {
    CAPTURE(text);
    CHECK_FALSE(bool{perf_script::probe({TestBytes().text(text).bytes})});
  }
}

TEST_CASE(
    "perf script: a number in front of an untimed sample is its thread or period by its columns") {
  struct Case {
    const char* head;
    std::uint32_t tid;
    std::uint64_t weight;
    const char* event;
  };
  for (const Case& c :
       std::vector<Case>{{" 1207 ", 1207, 1, "samples"},
                         {"   2500000 ", kUnknownId, 2'500'000, "samples"},
                         {"   2500000   cpu-clock: ", kUnknownId, 2'500'000, "cpu-clock"},
                         {" 1207    2500000   cpu-clock: ", 1207, 2'500'000, "cpu-clock"},
                         {"w  1207 cpu-clock: ", 1207, 1, "cpu-clock"},
                         {"w    2500000   cpu-clock: ", kUnknownId, 2'500'000, "cpu-clock"},
                         {"w    2500000 ", kUnknownId, 2'500'000, "samples"}}) {
    CAPTURE(c.head);
    CollectingSink sink;
    const std::string sample = std::string(c.head) + "\n\t            1135 f (/w)\n\n";
    const auto account = read(sample + sample, sink);
    REQUIRE(account.has_value());
    CHECK(account->skipped.total() == 0);
    CHECK(stacks_of(sink) == std::vector<std::string>{"f@/w", "f@/w"});
    CHECK(sink.rows[1].sample.tid == c.tid);
    CHECK(sink.rows[1].sample.weight == c.weight);
    CHECK(sink.events[sink.rows[1].sample.event].name == c.event);
  }
}

TEST_CASE("perf script: an address of data is no frame, nor are records and instructions") {
  CollectingSink sink;
  const auto account = read(
      "w  7 1.000000:          1 page-faults:     55907bd07010 data (/w)\n\t    1135 f (/w)\n"
      " insn: 48 29 f8\n\nPERF_RECORD_FINISHED_ROUND\n"
      "w  7 1.000000:          1 page-faults:     55907bd07010 data (/w)             1136 g (/w)\n"
      "w  7 1.000000:          1 cpu-clock:                0             1137 h (/w)\n",
      sink);
  REQUIRE(account.has_value());
  CHECK(stacks_of(sink) == std::vector<std::string>{"f@/w", "g@/w", "h@/w"});
  CHECK(losses(sink, "perf_script_other_record") == 1);
  CHECK(losses(sink, "perf_script_unknown_line") == 0);
  CHECK(losses(sink, "perf_script_trace_text_not_kept") == 2);
  CollectingSink of_data;  // -F addr,ip,sym
  REQUIRE(
      read("    5612a0dbc010 data\n\t    11cf f\n\t    11e7 main\n\n"
           "    5612a0dbc018 data\n\t    11cf g\n\n",
           of_data));
  CHECK(stacks_of(of_data) == std::vector<std::string>{"f;main", "g"});
}
