#include "app/analysis/hot_spots.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/analysis/call_tree.h"
#include "app/analysis/placed_callstacks.h"
#include "app/analysis/report_plan.h"
#include "stackpack/names.h"
#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

using app::HotSpotKind;
using app::HotSpotQuery;
using app::HotSpots;
using app::NeighbourSide;

constexpr FrameMode kUser = FrameMode::kUser;

// Functions a 100..109, b 110..119, c 120..129 of process 7, and a module at 200 without names.
// Samples: 5 of a>b>a, 3 of a>c, 2 of a>200, 1 without a callstack.
SpkContent recursive_content() {
  SpkContent content;
  const Frame a{kUser, 105};
  const Frame b{kUser, 115};
  content.stacks = {{a, b, {kUser, 101}}, {a, {kUser, 122}}, {a, {kUser, 205}}};
  const std::vector<RootFirstStack> stacks(content.stacks.begin(), content.stacks.end());
  const auto add = [&](const RootFirstStack& stack, int count) {
    const auto id = std::find(stacks.begin(), stacks.end(), stack) - stacks.begin();
    for (int i = 0; i < count; ++i) {
      StoredSample sample;
      sample.time_ns = content.samples.size();
      sample.pid = sample.tid = 7;
      sample.weight = 10;
      sample.origin = StackOrigin::kRecorded;
      sample.stack = static_cast<StackId>(id);
      content.samples.push_back(sample);
    }
  };
  add({a, b, {kUser, 101}}, 5);
  add({a, {kUser, 122}}, 3);
  add({a, {kUser, 205}}, 2);
  StoredSample bare;
  bare.time_ns = content.samples.size();
  bare.pid = bare.tid = 7;
  content.samples.push_back(bare);
  content.tables.processes = {{7, 1, kUnknownTime, kUnknownTime, false, "prog", ""}};
  Module module;
  module.pid = 7;
  module.base = 200;
  module.size = 100;
  module.path = "/lib/x.so";
  content.tables.modules = {module};
  content.add_names = [](spk::NameWriter& names) {
    Status added;
    std::uint64_t start = 100;
    for (const char* const name : {"a", "b", "c"}) {
      Function function;
      function.pid = 7;
      function.start = start;
      function.size = 10;
      added = names.add(function, {name, "", ""});
      start += 10;
    }
    return added;
  };
  return content;
}

std::vector<std::string> lines_of(HotSpots spots, bool by_self = false) {
  app::sort_hot_spots(spots.rows, by_self);
  std::vector<std::string> lines;
  for (const app::HotSpot& row : spots.rows) {
    lines.push_back(row.name + " " + std::to_string(row.self) + " " + std::to_string(row.total));
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST_SUITE("hot spots") {
  TEST_CASE("hot spots: self and total, recursion once, code without a name by its module") {
    const std::vector<std::byte> file = spk_bytes(recursive_content());
    const auto reader = open_spk(file);
    HotSpotQuery query;
    query.filters.frames = FrameStyle::kFunction;
    // What the event measures: time.
    const auto measured = app::hot_spots(*reader, query);
    REQUIRE_MESSAGE(measured.has_value(), failure(measured));
    CHECK(measured->unit == "ns");
    CHECK(measured->event == "cpu-clock");
    CHECK(measured->value == 101);
    CHECK(lines_of(*measured) == Lines{"a 50 100", "b 0 50", "c 30 30", "[x.so] 20 20"});
    query.filters.count = CountBy::kSamples;
    const auto spots = app::hot_spots(*reader, query);
    REQUIRE_MESSAGE(spots.has_value(), failure(spots));
    CHECK(spots->samples == 11);
    CHECK(spots->value == 11);
    CHECK(spots->unit == "samples");
    CHECK(lines_of(*spots) == Lines{"a 5 10", "b 0 5", "c 3 3", "[x.so] 2 2"});
    CHECK(lines_of(*spots, true) == Lines{"a 5 10", "c 3 3", "[x.so] 2 2", "b 0 5"});
    HotSpots twice = *spots;
    twice.add(*spots);
    CHECK(lines_of(twice).front() == "a 10 20");
  }

  TEST_CASE("hot spots: pools are threads whose names differ in numbers alone") {
    SpkContent content = recursive_content();
    const std::string names[] = {"kworker/5:2-mm", "kworker/12:40-mm", "worker-1", "7z", "x", ""};
    for (std::size_t i = 0; i < content.samples.size(); ++i) {
      content.samples[i].tid = static_cast<std::uint32_t>(10 + i % 6);
    }
    for (std::uint32_t i = 0; i < 6; ++i) {
      content.tables.threads.push_back({7, 10 + i, kUnknownTime, kUnknownTime, names[i]});
    }
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    HotSpotQuery query;
    query.by = HotSpotKind::kPool;
    query.filters.count = CountBy::kSamples;
    const auto spots = app::hot_spots(*reader, query);
    REQUIRE_MESSAGE(spots.has_value(), failure(spots));
    // As comm_nodigit of perf report writes them; a thread without a name has that of its process.
    CHECK(lines_of(*spots) ==
          Lines{"kworker/<N>:<N>-mm 4 4", "<N>z 2 2", "worker-<N> 2 2", "x 2 2", "prog 1 1"});
  }

  TEST_CASE("hot spots: by other things") {
    const std::vector<std::byte> file = spk_bytes(recursive_content());
    const auto reader = open_spk(file);
    HotSpotQuery query;
    query.filters.frames = FrameStyle::kFunction;
    query.filters.count = CountBy::kWeight;
    const auto lines = [&](HotSpotKind by) {
      query.by = by;
      const auto spots = app::hot_spots(*reader, query);
      REQUIRE_MESSAGE(spots.has_value(), failure(spots));
      return lines_of(*spots);
    };
    // Code without a file is what its process made at run time.
    CHECK(lines(HotSpotKind::kModule) == Lines{"[JIT] prog 80 100", "x.so 20 20"});
    CHECK(lines(HotSpotKind::kFile) == Lines{"[JIT] prog 80 100", "[x.so] 20 20"});
    CHECK(lines(HotSpotKind::kComm) == Lines{"prog 101 101"});
    CHECK(lines(HotSpotKind::kProcess) == Lines{"prog (7) 101 101"});
    CHECK(lines(HotSpotKind::kEvent) == Lines{"cpu-clock 101 101"});
    CHECK(lines(HotSpotKind::kSource) == Lines{"0 101 101"});
    CHECK(lines(HotSpotKind::kCallstack) ==
          Lines{"a;b;a 50 50", "a;c 30 30", "a;[x.so] 20 20", "[no callstack] 1 1"});
    query.filters.frames = FrameStyle::kModule;
    CHECK(lines(HotSpotKind::kFunction).back() == "x.so+0x5 20 20");
  }

  TEST_CASE("hot spots: callstacks and frames are chosen by functions") {
    const std::vector<std::byte> file = spk_bytes(recursive_content());
    const auto reader = open_spk(file);
    HotSpotQuery query;
    query.filters.count = CountBy::kSamples;
    const auto lines = [&](app::StackPatterns patterns) {
      query.patterns = std::move(patterns);
      const auto spots = app::hot_spots(*reader, query);
      REQUIRE_MESSAGE(spots.has_value(), failure(spots));
      Lines found = lines_of(*spots);
      found.push_back("of " + std::to_string(spots->value));
      return found;
    };
    CHECK(lines({{"b"}, {}, {}}) == Lines{"a 5 5", "b 0 5", "of 5"});
    CHECK(lines({{"b", "c"}, {}, {}}) == Lines{"a 5 8", "b 0 5", "c 3 3", "of 8"});
    CHECK(lines({{}, {"b"}, {}}) == Lines{"a 0 5", "c 3 3", "[x.so] 2 2", "of 6"});
    CHECK(lines({{}, {}, {"/^a$/"}}) == Lines{"b 5 5", "c 3 3", "[x.so] 2 2", "of 11"});
    CHECK(lines({{"a"}, {"x.so!*"}, {"c"}}) == Lines{"a 8 8", "b 0 5", "of 8"});
    // Processes are counted by the callstacks that are left, too.
    query.by = HotSpotKind::kProcess;
    CHECK(lines({{"c"}, {}, {}}) == Lines{"prog (7) 3 3", "of 3"});
    query.patterns = {{"/(/"}, {}, {}};
    CHECK(app::hot_spots(*reader, query).error().code == ErrorCode::kUsage);
  }

  TEST_CASE("call tree: the largest functions below what calls them") {
    const std::vector<std::byte> file = spk_bytes(recursive_content());
    const auto reader = open_spk(file);
    HotSpotQuery query;
    query.filters.count = CountBy::kSamples;
    const auto lines = [&](std::size_t most) {
      const auto tree = app::call_tree(*reader, query, most);
      REQUIRE_MESSAGE(tree.has_value(), failure(tree));
      CHECK(tree->about.value == 11);
      Lines found;
      for (const app::CallTreeRow& row : tree->rows) {
        found.push_back(std::string(row.depth, '-') + row.spot.name + " " +
                        std::to_string(row.spot.self) + " " + std::to_string(row.spot.total));
      }
      found.push_back("and " + std::to_string(tree->left_out));
      if (most != 0) {
        // The first rows of a larger tree are the same.
        const app::CallTree first = app::call_tree(*reader, query, 0)->first(most);
        CHECK(first.left_out == tree->left_out);
        REQUIRE(first.rows.size() == tree->rows.size());
        for (std::size_t i = 0; i < first.rows.size(); ++i) {
          CHECK(first.rows[i].spot == tree->rows[i].spot);
        }
      }
      return found;
    };
    CHECK(lines(0) == Lines{"a 0 10", "-b 0 5", "--a 5 5", "-c 3 3", "-[x.so] 2 2", "and 0"});
    CHECK(lines(3) == Lines{"a 0 10", "-b 0 5", "--a 5 5", "and 2"});
    query.patterns.hide = {"b"};
    CHECK(lines(2) == Lines{"a 0 10", "-a 5 5", "and 2"});
  }

  TEST_CASE("hot spots: focus, ignore and hide mean functions, whatever a row is") {
    const std::vector<std::byte> file = spk_bytes(recursive_content());
    const auto reader = open_spk(file);
    HotSpotQuery query;
    query.filters.frames = FrameStyle::kFunction;
    query.filters.count = CountBy::kSamples;
    const auto modules = [&] {
      query.by = HotSpotKind::kModule;
      const auto spots = app::hot_spots(*reader, query);
      REQUIRE_MESSAGE(spots.has_value(), failure(spots));
      return lines_of(*spots);
    };
    const Lines all{"[JIT] prog 8 10", "x.so 2 2"};
    CHECK(modules() == all);
    query.patterns.focus = {"b"};
    CHECK(modules() == Lines{"[JIT] prog 5 5"});
    query.patterns.focus.clear();
    query.patterns.ignore = {"b"};
    CHECK(modules() == Lines{"[JIT] prog 3 5", "x.so 2 2"});
    query.patterns.ignore = {"x.so"};  // an image is no function
    CHECK(modules() == all);
  }

  TEST_CASE("hot spots: an unnamed caller is where it called, as in exports") {
    SpkContent content = recursive_content();
    content.stacks = {{{kUser, 210}, {kUser, 320}, {kUser, 205}}};
    content.samples.resize(1);
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    HotSpotQuery query;
    query.filters.frames = FrameStyle::kModule;
    query.filters.count = CountBy::kSamples;
    const auto spots = app::hot_spots(*reader, query);
    REQUIRE_MESSAGE(spots.has_value(), failure(spots));
    CHECK(lines_of(*spots) == Lines{"x.so+0x5 1 1", "0x13f 0 1", "x.so+0x9 0 1"});
  }

  TEST_CASE("hot spots: callers and callees") {
    const std::vector<std::byte> file = spk_bytes(recursive_content());
    const auto reader = open_spk(file);
    HotSpotQuery query;
    query.filters.frames = FrameStyle::kFunction;
    query.filters.count = CountBy::kSamples;
    const auto callers = app::neighbours(*reader, query, "a", NeighbourSide::kCallers);
    REQUIRE_MESSAGE(callers.has_value(), failure(callers));
    CHECK(callers->center.self == 5);
    CHECK(callers->center.total == 10);
    CHECK(lines_of(callers->around) == Lines{"[root] 0 10", "b 5 5"});
    const auto callees = app::neighbours(*reader, query, "a", NeighbourSide::kCallees);
    REQUIRE_MESSAGE(callees.has_value(), failure(callees));
    CHECK(lines_of(callees->around) == Lines{"[self] 0 5", "b 0 5", "c 3 3", "[x.so] 2 2"});
    CHECK(callees->matches.size() == 1);
    const auto nobody = app::neighbours(*reader, query, "nobody", NeighbourSide::kCallees);
    REQUIRE(nobody.has_value());
    CHECK(nobody->matches.empty());
    CHECK(nobody->occurring == Lines{"[x.so]", "a", "b", "c"});
    CHECK_FALSE(app::neighbours(*reader, query, "/(/", NeighbourSide::kCallees).has_value());
  }

  TEST_CASE("hot spots: several functions that are meant are summed, each sample once") {
    const std::vector<std::byte> file = spk_bytes(recursive_content());
    const auto reader = open_spk(file);
    HotSpotQuery query;
    query.filters.count = CountBy::kSamples;
    const auto callers = app::neighbours(*reader, query, "/^[bc]$/", NeighbourSide::kCallers);
    REQUIRE_MESSAGE(callers.has_value(), failure(callers));
    CHECK(callers->center.self == 3);
    CHECK(callers->center.total == 8);
    REQUIRE(callers->matches.size() == 2);
    CHECK(callers->matches[0].name == "b");
    CHECK(callers->matches[0].total == 5);
    CHECK(callers->matches[1].self == 3);
    CHECK(lines_of(callers->around) == Lines{"a 3 8"});
    // A function of just this name is meant alone, though others fit the text as well.
    const auto exact = app::neighbours(*reader, query, "a", NeighbourSide::kCallers);
    REQUIRE(exact.has_value());
    CHECK(exact->matches.size() == 1);
  }

  TEST_CASE("hot spots: several files are counted by the event and the measure that all have") {
    SpkContent first = recursive_content();
    first.events = {{"cpu-clock:ppp", true}, {"page-faults", true}};
    SpkContent second = recursive_content();
    second.events = {{"cpu-clock:pppH", false}};
    SpkContent third = recursive_content();
    third.events = {{"cycles", true}};
    third.samples.resize(3);
    const std::vector<std::vector<std::byte>> files = {spk_bytes(first), spk_bytes(second),
                                                       spk_bytes(third)};
    HotSpotQuery query;
    std::vector<std::unique_ptr<Reader>> readers;
    std::vector<app::FileEvents> events;
    for (const std::vector<std::byte>& file : files) {
      readers.push_back(open_spk(file));
      const auto found = app::events_of_file(*readers.back(), query);
      REQUIRE(found.has_value());
      events.push_back(*found);
    }
    const app::ReportPlan plan = app::plan_report(events, query);
    CHECK(plan.event == "cpu-clock");
    CHECK(plan.count == CountBy::kSamples);
    REQUIRE(plan.events_left_out.size() == 1);
    CHECK(plan.events_left_out.front().name == "cycles");
    CHECK(plan.takes(events[0]));
    CHECK(plan.takes(events[1]));
    CHECK_FALSE(plan.takes(events[2]));
    query.event_key = plan.event_key;
    query.filters.count = plan.count;
    HotSpots sum;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto counted = app::hot_spots(*readers[i], query);
      REQUIRE(counted.has_value());
      sum.add(*counted);
    }
    CHECK(sum.samples == 22);
    CHECK(sum.value == 22);
    CHECK(sum.parts == Lines{"cpu-clock:ppp", "cpu-clock:pppH"});
    const app::ReportPlan weighed = app::plan_report(std::span(events).first(1), query);
    CHECK(weighed.event == "cpu-clock:ppp");
  }

  TEST_CASE("hot spots: idle threads are left out, and what is left of nothing is no error") {
    SpkContent content = recursive_content();
    for (StoredSample& sample : content.samples) {
      sample.flags = kSampleIdle;
    }
    content.samples.front().flags = 0;
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    HotSpotQuery query;
    const auto spots = app::hot_spots(*reader, query);
    REQUIRE(spots.has_value());
    CHECK(spots->samples == 1);
    CHECK(spots->idle.samples == 10);
    CHECK(spots->idle.share() == doctest::Approx(91.0 / 101));
    query.filters.filter.to = CaptureTime{content.samples[1].time_ns, false};
    query.filters.filter.from = query.filters.filter.to;
    const auto idle = app::hot_spots(*reader, query);
    REQUIRE(idle.has_value());
    CHECK(idle->samples == 0);
    CHECK(idle->idle.samples == 1);
    query.filters.filter.idle = IdleSamples::kKeep;
    CHECK(app::hot_spots(*reader, query)->samples == 1);
  }

  TEST_CASE("named frames: each address once, callers by the byte before") {
    SpkContent content = recursive_content();
    // A rarer event, in another callstack: an export would leave it out.
    content.stacks.insert({{kUser, 108}});
    content.events.push_back({"sched:sched_switch", false});
    StoredSample rare = content.samples.front();
    rare.time_ns = content.samples.back().time_ns + 1;
    rare.event = 1;
    rare.stack = static_cast<StackId>(
        std::distance(content.stacks.begin(), content.stacks.find({{kUser, 108}})));
    content.samples.push_back(rare);
    const std::vector<std::byte> file = spk_bytes(content);
    const auto reader = open_spk(file);
    Lines lines;
    const Status visited = app::visit_named_frames(*reader, [&](const app::NamedFrame& named) {
      lines.push_back(std::to_string(named.pid) + " " + std::to_string(named.frame.address) + " " +
                      std::string(named.location.name));
      return Status{};
    });
    REQUIRE(visited);
    CHECK(lines == Lines{"7 101 a", "7 105 a", "7 108 a", "7 115 b", "7 122 c"});
  }
}

}  // namespace
}  // namespace stackpack::test
