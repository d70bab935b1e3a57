#include "capture/function_recorder.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "capture/system_recorder.h"

using stackpack::FunctionOwner;
using stackpack::kUnknownTime;
using stackpack::Status;
using stackpack::capture::FunctionFact;
using stackpack::capture::FunctionNews;
using stackpack::capture::NameSource;
using stackpack::capture::RecordedFunction;
using stackpack::capture::SystemRecorder;

namespace {

FunctionFact method(std::uint32_t pid, std::uint64_t start, std::uint64_t size, FunctionNews news,
                    std::uint64_t time_ns, std::string_view name) {
  FunctionFact fact;
  fact.pid = pid;
  fact.start = start;
  fact.size = size;
  fact.news = news;
  fact.time_ns = time_ns;
  fact.name = name;
  return fact;
}

std::string time_text(std::uint64_t time_ns) {
  return time_ns == kUnknownTime ? "-" : std::to_string(time_ns);
}

bool all(const RecordedFunction& /*function*/) {
  return true;
}

// `pid/life start+size @born name` of each function.
std::vector<std::string> functions_of(
    SystemRecorder& system, const stackpack::capture::FunctionRecorder::Occurs& occurs = all) {
  std::vector<std::string> lines;
  const Status done = system.functions().finish(
      system.finish(), occurs, [&lines](const RecordedFunction& function) -> Status {
        lines.push_back(std::to_string(function.pid) + "/" + time_text(function.life_ns) + " " +
                        std::to_string(function.start) + "+" + std::to_string(function.size) +
                        " @" + time_text(function.born_ns) + " " + std::string(function.name) +
                        (function.linkage.empty() ? "" : " = " + std::string(function.linkage)) +
                        (function.file.empty() ? "" : " " + std::string(function.file)));
        return {};
      });
  REQUIRE(done);
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("function recorder: births by load, rundown and unload") {
  SystemRecorder system;
  auto& functions = system.functions();
  functions.add(method(7, 100, 10, FunctionNews::kBegins, 50, "loaded"));
  functions.add(method(7, 100, 10, FunctionNews::kExisted, 90, "loaded"));  // a second time
  functions.add(method(7, 200, 10, FunctionNews::kExists, 1, "there at the start"));
  functions.add(method(7, 300, 10, FunctionNews::kExisted, 90, "there at the end"));
  functions.add(method(7, 400, 10, FunctionNews::kEnds, 60, "only unloaded"));
  CHECK(functions_of(system) == Lines{"7/- 100+10 @50 loaded", "7/- 200+10 @- there at the start",
                                      "7/- 300+10 @- there at the end",
                                      "7/- 400+10 @- only unloaded"});
}

TEST_CASE("function recorder: bytes that are used again") {
  SystemRecorder system;
  auto& functions = system.functions();
  functions.add(method(7, 100, 10, FunctionNews::kBegins, 10, "a"));
  functions.add(method(7, 100, 10, FunctionNews::kEnds, 20, "a"));
  // Nobody saw it come, but before 20 the bytes were those of a.
  FunctionFact second = method(7, 104, 10, FunctionNews::kExisted, 90, "b");
  second.id = 2;
  functions.add(second);
  // One that is there at the end and overlaps one that never died stays without a birth.
  functions.add(method(7, 500, 10, FunctionNews::kExists, 5, "c"));
  FunctionFact fourth = method(7, 505, 10, FunctionNews::kExisted, 90, "d");
  functions.add(fourth);
  CHECK(functions_of(system) ==
        Lines{"7/- 100+10 @10 a", "7/- 104+10 @20 b", "7/- 500+10 @- c", "7/- 505+10 @- d"});
}

TEST_CASE("function recorder: a process that starts anew has other functions") {
  SystemRecorder system;
  system.process_started(7, 1, 100, false);
  auto& functions = system.functions();
  functions.add(method(7, 100, 10, FunctionNews::kExisted, 90, "before"));
  functions.add(method(7, 100, 10, FunctionNews::kExisted, 190, "after"));
  functions.add(method(8, 100, 10, FunctionNews::kExisted, 190, "elsewhere"));
  CHECK(functions_of(system) ==
        Lines{"7/- 100+10 @- before", "7/100 100+10 @- after", "8/- 100+10 @- elsewhere"});
}

TEST_CASE("function recorder: what does not occur is left out, and its texts are not read") {
  SystemRecorder system;
  system.functions().add(method(7, 100, 10, FunctionNews::kBegins, 50, "a"));
  system.functions().add(method(7, 200, 10, FunctionNews::kBegins, 50, "b"));
  CHECK(functions_of(system, [](const RecordedFunction& function) {
          return function.start == 200;
        }) == Lines{"7/- 200+10 @50 b"});
}

TEST_CASE("function recorder: a source is asked for names of functions that occur") {
  class Source final : public NameSource {
   public:
    explicit Source(std::vector<std::uint64_t>& asked) : asked_(asked) {}
    stackpack::Result<bool> read(std::uint64_t offset, std::uint32_t bytes,
                                 std::string& name) override {
      asked_.push_back(offset);
      name = "at " + std::to_string(offset) + "+" + std::to_string(bytes);
      return offset != 30;
    }

   private:
    std::vector<std::uint64_t>& asked_;
  };
  std::vector<std::uint64_t> asked;
  SystemRecorder system;
  const std::uint8_t source = system.functions().add_source(std::make_unique<Source>(asked));
  REQUIRE(source != 0);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    FunctionFact fact = method(7, 100 * i, 10, FunctionNews::kBegins, 50, "");
    fact.name_place = {source, 10 * i, 4};
    system.functions().add(fact);
  }
  system.functions().add(method(7, 400, 10, FunctionNews::kBegins, 50, "d"));
  CHECK(functions_of(system, [](const RecordedFunction& function) {
          return function.start != 100;
        }) == Lines{"7/- 200+10 @50 at 20+4", "7/- 400+10 @50 d"});
  CHECK((asked == std::vector<std::uint64_t>{20, 30}));
}

TEST_CASE("function recorder: the same with facts and texts in scratch files") {
  const auto fill = [](SystemRecorder& system) {
    const std::string tail(200, 'x');
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      const std::uint64_t at = i * 7919 % 20'000;
      FunctionFact fact = method(7, at * 16, 16, FunctionNews::kBegins, i, "");
      const std::string name = "f" + std::to_string(at) + tail;
      fact.name = name;
      fact.linkage = at % 2 == 0 ? "_Zlinkage" : fact.name;
      system.functions().add(fact);
    }
  };
  SystemRecorder in_memory;
  fill(in_memory);
  SystemRecorder spilled;
  spilled.functions().configure("/tmp", 1 << 16);
  fill(spilled);
  const Lines expected = functions_of(in_memory);
  CHECK(expected.size() == 20'000);
  CHECK(expected.front().ends_with(" = _Zlinkage"));
  CHECK((functions_of(spilled) == expected));
}

TEST_CASE("function recorder: the times at which bytes change hands, before and beside finish") {
  for (const std::uint64_t count : {std::uint64_t{8}, std::uint64_t{3'000}}) {
    SystemRecorder system;
    system.functions().configure(std::filesystem::temp_directory_path().string(), 1 << 16);
    std::set<std::pair<std::uint32_t, std::uint64_t>> expected;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto news = static_cast<FunctionNews>(i % 4);
      const auto pid = static_cast<std::uint32_t>(i % 3);
      system.functions().add(method(pid, 100 + 20 * (i % 500), 10, news, 10 + i, "f"));
      if (news == FunctionNews::kBegins || news == FunctionNews::kEnds) {
        expected.emplace(pid, 10 + i);
      }
    }
    FunctionFact of_image = method(1, 0, 10, FunctionNews::kBegins, 5, "in an image");
    of_image.owner = FunctionOwner::kImage;
    system.functions().add(of_image);
    const auto times_of = [&system] {
      std::set<std::pair<std::uint32_t, std::uint64_t>> seen;
      REQUIRE(system.functions()
                  .for_each_time([&seen](std::uint32_t pid, std::uint64_t time_ns) {
                    seen.emplace(pid, time_ns);
                  })
                  .has_value());
      return seen;
    };
    CHECK(times_of() == expected);
    CHECK(times_of() == expected);
    CHECK(functions_of(system).size() > 1);
  }
}

TEST_CASE("function recorder: user names in paths are replaced on demand") {
  SystemRecorder system;
  system.set_redaction(true);
  FunctionFact fact = method(7, 100, 10, FunctionNews::kBegins, 50, "/home/ann/a.js:run");
  fact.linkage = "C:\\Users\\ann\\x";
  fact.file = "/home/ann/a.js";
  system.functions().add(fact);
  CHECK(functions_of(system) ==
        Lines{"7/- 100+10 @50 /home/USER/a.js:run = C:\\Users\\USER\\x /home/USER/a.js"});
}

TEST_CASE("function recorder: without a size there is no function, and images must be modules") {
  SystemRecorder system;
  stackpack::Module module;
  module.base = 0x1000;
  module.size = 0x1000;
  module.path = "/lib/a.so";
  system.module_mapped(module);
  system.functions().add(method(7, 100, 0, FunctionNews::kBegins, 50, "a"));
  FunctionFact known = method(7, 100, 4, FunctionNews::kExists, kUnknownTime, "b");
  known.owner = FunctionOwner::kImage;
  known.image_path = "/lib/a.so";
  system.functions().add(known);
  known.image_path = "/lib/b.so";
  system.functions().add(known);
  CHECK(functions_of(system).size() == 1);
  CHECK(system.functions().facts() == 3);
  CHECK(system.functions().unsized_facts() == 1);
}

TEST_CASE("function recorder: functions of images come in the order of the modules") {
  SystemRecorder system;
  for (const char* const path : {"/lib/b.so", "/lib/a.so"}) {
    stackpack::Module module;
    module.pid = 7;
    module.base = path[5] == 'a' ? 0x1000 : 0x9000;
    module.size = 0x1000;
    module.path = path;
    system.module_mapped(module);
  }
  for (const char* const path : {"/lib/b.so", "/lib/a.so"}) {
    FunctionFact fact = method(7, 16, 4, FunctionNews::kExists, kUnknownTime, path);
    fact.owner = FunctionOwner::kImage;
    fact.image_path = path;
    system.functions().add(fact);
  }
  std::vector<std::uint32_t> modules;
  const Status done = system.functions().finish(
      system.finish(), all, [&modules](const RecordedFunction& function) -> Status {
        modules.push_back(function.module);
        return {};
      });
  REQUIRE(done);
  CHECK(modules == std::vector<std::uint32_t>{0, 1});
}
