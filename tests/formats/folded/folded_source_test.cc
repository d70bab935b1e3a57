#include "formats/folded/folded_source.h"

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
                                  folded::ReadOptions options = {}) {
  const std::vector<std::byte> bytes = TestBytes().text(text).bytes;
  const auto source = io::source_of_memory(bytes);
  return folded::read_capture(*source, sink, options);
}

// "leaf;...;root weight", with names in place of the addresses that stand for them.
std::vector<std::string> lines_of(CollectingSink& sink) {
  std::map<std::string, std::string> names;
  for (const test::NamedRange& function : test::functions_of(sink)) {
    CHECK(function.size == 1);
    CHECK(function.owner == FunctionOwner::kKernel);
    CHECK(function.source == FunctionSource::kFolded);
    char text[24];
    std::snprintf(text, sizeof text, "?%llx", static_cast<unsigned long long>(function.start));
    names[text] = function.name;
  }
  std::vector<std::string> lines;
  for (const CollectingSink::Row& row : sink.rows) {
    std::string line;
    std::string stack = row.stack + " ";
    for (std::size_t begin = 0; begin < stack.size();) {
      const std::size_t end = stack.find(' ', begin);
      line += (begin == 0 ? "" : ";") + names.at(stack.substr(begin, end - begin));
      begin = end + 1;
    }
    lines.push_back(line + " " + std::to_string(row.sample.weight));
  }
  return lines;
}

}  // namespace

TEST_CASE("folded source: lines become samples, names become frames, leaf first") {
  CollectingSink sink;
  const std::string text =
      "main;work;spin 12\n"
      "main;std::pair<a, b>::f(int) 3\r\n"
      "\n"
      "main 1\n"
      "a;;b 18446744073709551615";
  const auto account = read(text, sink);
  REQUIRE(account.has_value());
  CHECK(lines_of(sink) == std::vector<std::string>{"spin;work;main 12",
                                                   "std::pair<a, b>::f(int);main 3", "main 1",
                                                   "b;;a 18446744073709551615"});
  CHECK(account->total == text.size());
  CHECK(account->padding == 1);
  CHECK(account->parsed == text.size() - 1);
  CHECK(sink.events == std::vector<Event>{{"samples", true}});
  CHECK(sink.rows[0].sample.pid == kUnknownId);
  CHECK(sink.rows[0].sample.origin == StackOrigin::kRecorded);
  const capture::SystemTables tables = sink.system_facts.finish();
  CHECK(tables.modules.empty());
  CHECK(tables.metadata ==
        std::vector<MetadataEntry>{{"frames.synthetic", "1"}, {"samples.aggregated", "1"}});
}

TEST_CASE("folded source: a line that is none is counted where it is, the others are read") {
  CollectingSink sink;
  const std::string text = std::string("a;b 1\nno count\nc 2x\nd 99999999999999999999\ne -1\n") +
                           "f" + '\0' + "g 1\n" + "h 5\nh 6\nh 7\n";
  const auto account = read(text, sink);
  REQUIRE(account.has_value());
  CHECK(lines_of(sink) == std::vector<std::string>{"b;a 1", "h 5", "h 6", "h 7"});
  CHECK(sink.counters.count("folded_line_without_count") == 3);
  CHECK(sink.counters.count("folded_negative_count") == 1);
  CHECK(sink.counters.count("folded_binary_line") == 1);
  CHECK(sink.counters.sorted()[1].first_offset == 6);
  CHECK(account->balanced());
  CHECK(test::skipped_map(*account) ==
        test::SkippedMap{{"folded_line_without_count", text.size() - 6 - 12 - 6 - 5},
                         {"folded_negative_count", 5},
                         {"folded_binary_line", 6}});
}

TEST_CASE("folded source: a last line without its end is read, and counted as cut") {
  for (const auto& [given, cut] : {std::pair{"a;b 123\n", 0}, {"a;b 123", 1}, {"x 1\na;b 12", 1}}) {
    const char* const text = given;
    CAPTURE(text);
    CollectingSink sink;
    const auto account = read(text, sink);
    REQUIRE(account.has_value());
    CHECK(sink.rows.size() == (text[0] == 'x' ? 2 : 1));
    CHECK(sink.counters.count("folded_last_line_unended") == static_cast<std::uint64_t>(cut));
    CHECK(sink.counters.any_loss() == (cut != 0));
    CHECK(account->balanced());
  }
}

TEST_CASE("folded source: a line with too many frames is passed over, the others are read") {
  const auto line = [](std::size_t frames) {
    std::string text = "f";
    for (std::size_t i = 1; i < frames; ++i) {
      text += ";f";
    }
    return text + " 3\n";
  };
  CollectingSink sink;
  const auto account = read("a 1\n" + line(65'536) + line(65'535) + "b 2\n", sink);
  REQUIRE(account.has_value());
  CHECK(sink.rows.size() == 3);
  CHECK(sink.counters.count("folded_stack_too_deep") == 1);
  CHECK(sink.counters.sorted()[0].first_offset == 4);
  CHECK(test::skipped_map(*account) ==
        test::SkippedMap{{"folded_stack_too_deep", line(65'536).size()}});
  CHECK(account->balanced());
}

TEST_CASE("folded source: nothing readable, too long a line, a stop") {
  CollectingSink sink;
  const auto nothing = read("neither\nof these\n", sink);
  REQUIRE_FALSE(nothing.has_value());
  CHECK(nothing.error().code == ErrorCode::kCorrupt);

  for (const std::size_t length : {std::size_t{5000}, std::size_t{20'000}, std::size_t{3} << 20}) {
    CAPTURE(length);
    folded::ReadOptions options;
    options.max_line_bytes = 5000;
    CollectingSink long_sink;
    const std::string text = "a 1\n" + std::string(length, 'x') + " 1\nb 2\n";
    const auto account = read(text, long_sink, options);
    REQUIRE(account.has_value());
    CHECK(account->total == text.size());
    CHECK(account->parsed == 8);
    CHECK(test::skipped_map(*account) ==
          test::SkippedMap{{"folded_line_too_long", text.size() - 8}});
    CHECK(lines_of(long_sink) == std::vector<std::string>{"a 1", "b 2"});
    CHECK(long_sink.counters.count("folded_line_too_long") == 1);
    CHECK(long_sink.counters.sorted().size() == 1);
  }

  const std::atomic<bool> stop{true};
  folded::ReadOptions stopped;
  stopped.control.cancelled = &stop;
  CollectingSink none;
  const auto cancelled = read("a 1\n", none, stopped);
  REQUIRE_FALSE(cancelled.has_value());
  CHECK(cancelled.error().code == ErrorCode::kCancelled);
}

TEST_CASE("folded source: every prefix of a text gives its whole lines, or an error") {
  const std::string text = "main;work 12\nmain;rest 34\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    CAPTURE(size);
    CollectingSink sink;
    const auto account = read(text.substr(0, size), sink);
    for (const std::string& line : lines_of(sink)) {
      const bool known = line == "work;main 12" || line == "rest;main 34" ||
                         line == "work;main 1" || line == "rest;main 3";  // cut in the count
      CHECK(known);
    }
    if (account) {
      CHECK(account->total == size);
    }
  }
}

TEST_CASE("folded source: what is folded text, and what is not") {
  struct Case {
    const char* name;
    std::string head;
    bool expected;
  };
  for (const Case& c : std::vector<Case>{{"a callstack", "a;b 1\nc;d 2\n", true},
                                         {"a single frame", "main 7\n", true},
                                         {"a first line longer than the head", "a;b;c", true},
                                         {"empty", "", false},
                                         {"prose", "Hello there\nworld\n", false},
                                         {"perf.data", "PERFILE2", false},
                                         {"a NUL", std::string("a;b 1\0c;d 2\n", 12), false},
                                         {"a control character", "a\x01;b 1\n", false},
                                         {"json", "{\"a\": 1}\n", false},
                                         {"gzip", "\x1f\x8b\x08 1\n", false}}) {
    CAPTURE(c.name);
    CHECK(bool{folded::probe({TestBytes().text(c.head).bytes})} == c.expected);
  }
}

TEST_CASE("folded source: a text whose first line alone ends in a number is none") {
  const auto looks = [](const std::string& text) {
    return bool{folded::probe({TestBytes().text(text).bytes})};
  };
  CHECK(looks("main;work 1\nno count\n"));
  CHECK_FALSE(looks("period: 1 addr: 0\nffffffff81\nffffffff82\n"));
}

// callgrind's costs by line, and the columns of GHC's report.
TEST_CASE("folded source: tables of numbers and columns are none") {
  for (const std::string text : {"fn=(1) main\n16 3\n17 1\n+3 5\n* 4\n",
                                 "MAIN   MAIN      100      0\nmain   Main      200      7\n"}) {
    CHECK_FALSE(bool{folded::probe({TestBytes().text(text).bytes})});
  }
}

TEST_CASE("folded source: comments say nothing, and names may begin with their sign") {
  CollectingSink sink;
  const std::string text =
      "# austin: 3.3.0\n#\n# interval: 100\n\nmain;work 10\n#<Class:A>;call 3\n";
  CHECK(bool{folded::probe({TestBytes().text(text).bytes})});
  const auto account = read(text, sink);
  REQUIRE(account.has_value());
  CHECK(account->balanced());
  CHECK(account->skipped.total() == 0);
  CHECK(lines_of(sink) == std::vector<std::string>{"work;main 10", "call;#<Class:A> 3"});
}

// As difffolded.pl and inferno-diff-folded write them.
TEST_CASE("folded source: two counts in every line are two sides") {
  CollectingSink one_has_one;
  const std::string text = "# before and after\nmain;work 10 4\nmain;rest 0 7\nmain;old 3 0\n";
  REQUIRE(read(text + "main 5\n", one_has_one).has_value());
  CHECK(lines_of(one_has_one).front() == "work 10;main 4");  // a number in a name
  CollectingSink sink;
  REQUIRE(read(text, sink).has_value());
  CHECK(lines_of(sink) == std::vector<std::string>{"work;main 4", "work;main 10", "rest;main 7",
                                                   "rest;main 0", "old;main 0", "old;main 3"});
  CHECK(sink.events == std::vector<Event>{{"samples", true}, {"samples.before", true}});
  CHECK(sink.rows[0].sample.event == 0);
  CHECK(sink.rows[1].sample.event == 1);
}

TEST_CASE("folded source: a tab may stand in front of the count") {
  CollectingSink sink;
  REQUIRE(read("main;work of it\t10\n", sink).has_value());
  CHECK(lines_of(sink) == std::vector<std::string>{"work of it;main 10"});
}

TEST_CASE("folded: a text that ends in zeros keeps its lines, bytes that begin as one are none") {
  const std::string zeros = "main;work 10\nmain;rest 20\nmain;cu" + std::string(5000, '\0');
  CHECK(bool{folded::probe({TestBytes().text(zeros).bytes, true})});
  CollectingSink sink;
  const auto account = read(zeros, sink);
  REQUIRE(account.has_value());
  CHECK(account->balanced());
  CHECK(sink.rows.size() == 2);
  CHECK(sink.counters.count("folded_binary_line") == 1);
  CHECK_FALSE(bool{folded::probe({TestBytes().text("a 1\n" + std::string(9, '\0') + "\1").bytes})});
}

TEST_CASE("folded: metrics of austin are events") {
  const auto rows = [](const std::string& text) {
    CHECK(bool{folded::probe({TestBytes().text(text).bytes, true})});
    CollectingSink sink;
    const auto account = read(text, sink);
    REQUIRE(account.has_value());
    CHECK(account->skipped.total() == 0);
    std::vector<std::string> lines = lines_of(sink);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      lines[i] += " " + sink.events[sink.rows[i].sample.event].name;
    }
    return lines;
  };
  // Time is wall time, and processor time unless idle; memory by its sign (austin-python's
  // stats.py).
  CHECK(rows("# austin: 3.3.0\n# mode: full\n\nP1;T1;a:f:3 120,0,4096\nP1;T1;a:g:4 30,1,-8\n"
             "P1;T1;a:h:5 7,1,0\n") ==
        std::vector<std::string>{"a:f:3;T1;P1 120 wall", "a:f:3;T1;P1 120 cpu",
                                 "a:f:3;T1;P1 4096 memory_alloc", "a:g:4;T1;P1 30 wall",
                                 "a:g:4;T1;P1 8 memory_dealloc", "a:h:5;T1;P1 7 wall"});
  CHECK(rows("# mode: memory\nP1;T1;a:f:3 4096\nP1;T1;a:g:4 -8\n") ==
        std::vector<std::string>{"a:f:3;T1;P1 4096 memory_alloc", "a:g:4;T1;P1 8 memory_dealloc"});
  for (const char* const text : {"a;b 1,2,3\n", "a;b 1,0\n", "a;b 1,0,x\n", "a;b -1\n"}) {
    CAPTURE(text);
    CHECK_FALSE(bool{folded::probe({TestBytes().text(text).bytes, true})});
  }
}
