// Which type each sample's event names.
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/analysis/hot_spots.h"
#include "stackpack/convert.h"
#include "stackpack/reader.h"
#include "support/nettrace_maker.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

using app::HotSpotKind;

void write_trace(const std::string& path, const std::vector<std::byte>& trace) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(trace.data()),  // NOLINT: as streams want it
             static_cast<std::streamsize>(trace.size()));
}

// Allocations of one thread and callstack, two of them at the same time, and an exception then.
std::vector<std::byte> trace_of_equal_times() {
  constexpr std::string_view kRuntime = "Microsoft-Windows-DotNETRuntime";
  NettraceWriter out(4, 8, 1'000'000'000);
  out.metadata(1, kRuntime, 10, "", 4);
  out.metadata(2, kRuntime, 80, "", 1);
  out.stacks(1, {{0x1010, 0x2020}});
  std::vector<NettraceEvent> events;
  const auto add = [&](std::uint32_t kind, std::uint64_t ticks, std::vector<std::byte> payload) {
    NettraceEvent event;
    event.metadata = kind;
    event.number = static_cast<std::uint32_t>(events.size() + 1);
    event.ticks = ticks;
    event.stack = 1;
    event.payload = std::move(payload);
    events.push_back(event);
  };
  add(1, 5000, allocation_event(100, "First"));
  add(1, 5000, allocation_event(20, "Second"));
  add(2, 5000, exception_event("Thrown", "why"));
  add(1, 6000, allocation_event(3, ""));
  out.events(events);
  return out.finish();
}

// `NAME VALUE` of each row, by value.
std::vector<std::string> rows_of(const Reader& reader, const app::HotSpotQuery& query) {
  auto spots = app::hot_spots(reader, query);
  if (!spots) {
    return {std::string(spots.error().what)};
  }
  app::sort_hot_spots(spots->rows, true);
  std::vector<std::string> rows;
  for (const app::HotSpot& row : spots->rows) {
    rows.push_back(row.name + " " + std::to_string(row.self));
  }
  return rows;
}

using Rows = std::vector<std::string>;

TEST_CASE("types of samples: of equal times each event has its own") {
  const ScratchDirectory folder;
  write_trace(folder.file("in.nettrace"), trace_of_equal_times());
  REQUIRE(convert(folder.file("in.nettrace"), folder.file("out.spk"), {}, nullptr));
  const auto reader = Reader::open(folder.file("out.spk"));
  REQUIRE(reader);
  app::HotSpotQuery query;
  query.by = HotSpotKind::kType;
  CHECK(rows_of(**reader, query) == Rows{"First 100", "Second 20", "[no type] 3"});
  query.filters.filter.events = {"*Exception/Start"};
  CHECK(rows_of(**reader, query) == Rows{"Thrown 1"});
  query.filters.filter.events.clear();
  query.types = {"Sec*"};
  CHECK(rows_of(**reader, query) == Rows{"Second 20"});
  query.by = HotSpotKind::kProcess;
  CHECK(rows_of(**reader, query) == Rows{"4321 20"});
}

TEST_CASE("types of samples: a file whose events name none says so") {
  const ScratchDirectory folder;
  write_trace(folder.file("in.nettrace"), trace_of_equal_times());
  ConvertOptions options;
  options.event_values = false;
  REQUIRE(convert(folder.file("in.nettrace"), folder.file("out.spk"), options, nullptr));
  const auto reader = Reader::open(folder.file("out.spk"));
  REQUIRE(reader);
  app::HotSpotQuery query;
  query.by = HotSpotKind::kType;
  const auto spots = app::hot_spots(**reader, query);
  REQUIRE_FALSE(spots);
  CHECK(spots.error().code == ErrorCode::kUsage);
}

}  // namespace
}  // namespace stackpack::test
