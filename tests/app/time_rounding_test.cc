#include "app/convert/time_rounding.h"

#include <array>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/listing/thread_names.h"
#include "capture/module_map.h"

namespace stackpack::app {

namespace {

Process process_at(std::uint32_t pid, std::uint64_t start_ns) {
  Process row;
  row.pid = pid;
  row.start_ns = start_ns;
  row.name = "p" + std::to_string(start_ns);
  return row;
}

Thread thread_at(std::uint32_t pid, std::uint32_t tid, std::uint64_t start_ns) {
  Thread row;
  row.pid = pid;
  row.tid = tid;
  row.start_ns = start_ns;
  row.name = "t" + std::to_string(start_ns);
  return row;
}

Module module_at(std::uint32_t pid, std::uint64_t base, std::uint64_t start_ns,
                 std::uint64_t end_ns) {
  Module row;
  row.pid = pid;
  row.base = base;
  row.size = 0x1000;
  row.start_ns = start_ns;
  row.end_ns = end_ns;
  return row;
}

}  // namespace

TEST_CASE("app.time_rounding: down to the resolution, up to what begins in between") {
  capture::SystemTables tables;
  tables.processes = {process_at(1, kUnknownTime), process_at(2, 5'432)};
  tables.threads = {thread_at(3, 4, 9'003)};
  tables.modules = {module_at(1, 0x1000, 2'250, 7'099), module_at(kKernelPid, 0, 12'800, 12'900)};
  struct Case {
    const char* name;
    std::uint32_t pid;
    std::uint64_t time;
    std::uint64_t expected;
  };
  const Case cases[] = {
      {"nothing begins", 1, 1'999, 1'000},
      {"a multiple", 1, 2'000, 2'000},
      {"before a mapping", 1, 2'249, 2'000},
      {"at the mapping's first moment", 1, 2'250, 2'250},
      {"no tenth of the resolution lies between: a hundredth", 1, 2'299, 2'290},
      {"a tenth of the resolution lies between", 1, 2'345, 2'300},
      {"of another process", 2, 2'360, 2'000},
      {"in the next step", 2, 3'001, 3'000},
      {"before its process", 2, 5'431, 5'000},
      {"after its start", 2, 5'440, 5'440},
      {"the last moment of a mapping", 1, 7'099, 7'000},
      {"its end", 1, 7'100, 7'100},
      {"a thread", 3, 9'999, 9'900},
      {"nobody's process", 8, 10'000, 10'000},
      {"a mapping of the kernel", 8, 12'850, 12'800},
      {"its end, of all processes", kUnknownId, 12'999, 12'990},
      {"no time", 1, kUnknownTime, kUnknownTime},
  };
  for (const Case& test : cases) {
    CAPTURE(test.name);
    TimeRounding rounding(1'000, tables);
    rounding.begin();
    CHECK(rounding.round(test.pid, test.time) == test.expected);
  }
}

TEST_CASE("app.time_rounding: no sample comes before the one before it") {
  capture::SystemTables tables;
  tables.processes = {process_at(1, 2'250)};
  TimeRounding rounding(1'000, tables);
  rounding.begin();
  CHECK(rounding.round(2, 2'100) == 2'000);
  CHECK(rounding.round(1, 2'249) == 2'000);
  CHECK(rounding.round(1, 2'345) == 2'300);
  CHECK(rounding.round(2, 2'350) == 2'300);
  CHECK(rounding.round(1, 2'999) == 2'300);
  CHECK(rounding.round(2, 3'000) == 3'000);
}

TEST_CASE("app.time_rounding: births of functions, few or too many to keep") {
  for (const std::size_t most : {TimeRounding::kMostFunctionTimes, std::size_t{4}}) {
    CAPTURE(most);
    TimeRounding rounding(1'000, {});
    for (const std::uint64_t time : {2'700U, 4'100U, 2'700U, 2'700U, 3'300U, 3'400U, 9'500U}) {
      rounding.add_function_time(7, time, most);
    }
    rounding.add_function_time(7, kUnknownTime, most);
    rounding.begin();
    const bool all = most != 4;
    CHECK(rounding.round(7, 2'650) == 2'000);
    CHECK(rounding.round(7, 2'799) == (all ? 2'700 : 2'799));
    CHECK(rounding.round(8, 2'950) == (all ? 2'700 : 2'950));
    CHECK(rounding.round(8, 3'950) == (all ? 3'000 : 3'950));
    CHECK(rounding.round(7, 9'500) == 9'500);
    CHECK(rounding.round(8, 9'990) == 9'500);
    CHECK(rounding.round(8, 10'990) == 10'000);
  }
}

TEST_CASE("app.time_rounding: whatever the tables, every look-up by time finds the same") {
  std::mt19937_64 random(22);
  for (std::size_t round = 0; round < 60; ++round) {
    capture::SystemTables tables;
    const auto time = [&random] { return random() % 3'000; };
    for (int i = 0; i < 12; ++i) {
      const auto pid = static_cast<std::uint32_t>(random() % 3);
      tables.processes.push_back(process_at(pid, random() % 4 == 0 ? kUnknownTime : time()));
      tables.processes.back().inherits_mappings = random() % 2 == 0;
      tables.processes.back().parent_pid = static_cast<std::uint32_t>(random() % 3);
      tables.threads.push_back(thread_at(pid, pid + 1, time()));
      const std::uint64_t start = random() % 4 == 0 ? kUnknownTime : time();
      const std::uint64_t end = random() % 3 == 0 ? kUnknownTime : time() + 3'000;
      tables.modules.push_back(
          module_at(random() % 5 == 0 ? kKernelPid : pid, 0x800 * (random() % 4), start, end));
    }
    const std::uint64_t resolution = std::array<std::uint64_t, 5>{2, 7, 100, 250, 1'000}[round % 5];
    TimeRounding rounding(resolution, tables);
    rounding.begin();
    const ThreadNames names(tables.processes, tables.threads);
    const capture::ModuleMap map(tables.processes, tables.modules);
    std::uint64_t before = 0;
    for (std::uint64_t at = 0; at < 6'500; at += random() % 5) {
      const auto pid = static_cast<std::uint32_t>(random() % 3);
      const std::uint64_t rounded = rounding.round(pid, at);
      REQUIRE(rounded <= at);
      REQUIRE(at - rounded < resolution);
      REQUIRE(rounded >= before);
      before = rounded;
      REQUIRE(names.name(pid, pid + 1, rounded) == names.name(pid, pid + 1, at));
      REQUIRE(names.process_name(pid, rounded) == names.process_name(pid, at));
      for (const FrameMode mode : {FrameMode::kUser, FrameMode::kKernel, FrameMode::kUnknown}) {
        const Frame frame{mode, random() % 0x3000};
        const auto exact = map.find(pid, at, frame);
        const auto found = map.find(pid, rounded, frame);
        REQUIRE(found.has_value() == exact.has_value());
        REQUIRE((!found || found->module == exact->module));
      }
    }
  }
}

}  // namespace stackpack::app
