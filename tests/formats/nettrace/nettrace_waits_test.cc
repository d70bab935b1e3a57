// Switches of version 6 become intervals.
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/convert.h"
#include "stackpack/reader.h"
#include "support/nettrace_writer.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

struct Switch {
  std::uint64_t ticks = 0;
  std::uint64_t away = 0;  // ticks until it runs again
  std::uint32_t stack = 1;
  std::uint64_t thread = 1;
};

std::vector<std::byte> trace_of(const std::vector<Switch>& switches) {
  NettraceWriter out(6, 8, 1'000'000'000);
  out.metadata(1, "Universal.Events", 1, "cswitch", 0, "Value");
  out.thread(1, 10, 11);
  out.thread(2, 0, 0);
  out.stacks(1, {{0x1010, 0x2020}, {0x3030}});
  std::vector<NettraceEvent> events;
  for (const Switch& row : switches) {
    NettraceEvent event;
    event.thread = event.capture_thread = row.thread;
    event.number = static_cast<std::uint32_t>(events.size() + 1);
    event.ticks = row.ticks;
    event.stack = row.stack;
    TestBytes payload;
    event.payload = put_varint(payload, row.away).bytes;
    events.push_back(event);
  }
  out.events(events);
  return out.finish();
}

struct Intervals {
  std::vector<std::string> rows;  // STATE LENGTH FLAGS STACK
  std::uint64_t switches_without_state = 0;
};

Intervals intervals_of(const std::vector<Switch>& switches) {
  const ScratchDirectory folder;
  const std::vector<std::byte> trace = trace_of(switches);
  std::ofstream(folder.file("in.nettrace"), std::ios::binary)
      .write(reinterpret_cast<const char*>(trace.data()),  // NOLINT: as streams want it
             static_cast<std::streamsize>(trace.size()));
  REQUIRE(convert(folder.file("in.nettrace"), folder.file("out.spk"), {}, nullptr));
  const auto reader = Reader::open(folder.file("out.spk"));
  REQUIRE(reader);
  Intervals found;
  const Status read = (*reader)->intervals({}, [&](std::span<const WaitInterval> block) {
    for (const WaitInterval& row : block) {
      CHECK(row.tid == 11);
      CHECK(row.pid == 10);
      const bool blocked = row.state == WaitState::kBlocked;
      found.rows.push_back((blocked                            ? "blocked "
                            : row.state == WaitState::kRunning ? "running "
                                                               : "other ") +
                           std::to_string(row.to_ns - row.from_ns) + " " +
                           std::to_string(row.flags) + " " +
                           (row.stack == kNoStack ? "-" : std::to_string(row.stack)));
    }
    return true;
  });
  REQUIRE(read);
  for (const LossCounter& loss : (*reader)->statistics().losses) {
    found.switches_without_state += loss.name == "switches_without_state" ? loss.count : 0;
  }
  return found;
}

using Rows = std::vector<std::string>;

TEST_CASE("nettrace switches: a block begins with the event and lasts as long as it says") {
  const Intervals found = intervals_of({{5000, 700}, {6000, 40, 2}, {6100, 0}, {7000, 300}});
  CHECK(found.rows == Rows{"blocked 700 8 0", "running 300 0 -", "blocked 40 8 1", "running 60 0 -",
                           "blocked 0 8 0", "running 900 0 -", "blocked 300 8 0"});
  CHECK(found.switches_without_state == 4);
}

TEST_CASE("nettrace switches: the idle thread waits for nothing, and no time lies beyond all") {
  const Intervals found =
      intervals_of({{4000, 99, 1, 2}, {5000, std::numeric_limits<std::uint64_t>::max() - 1}});
  CHECK(found.rows == Rows{});
  CHECK(found.switches_without_state == 1);
}

TEST_CASE("nettrace switches: where they overlap, something is unknown") {
  const Intervals found = intervals_of({{5000, 700}, {5300, 100}, {6000, 100}});
  std::uint64_t blocked = 0;
  for (const std::string& row : found.rows) {
    blocked += row.starts_with("blocked") ? 1U : 0U;
  }
  CHECK(blocked == 2);
  CHECK(found.rows.size() > 3);
}

}  // namespace
}  // namespace stackpack::test
