#include "query/event_groups.h"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "query/event_traits.h"

namespace stackpack::test {
namespace {

using query::EventFacts;
using query::EventGroup;
using query::EventKind;

TEST_CASE("events: names say what is counted, of which kind it is and in which unit") {
  struct Case {
    std::string name;
    EventKind kind;
    std::string same_as;
    std::string unit;
  };
  for (const Case& c : std::vector<Case>{
           {"cpu-clock", EventKind::kTime, "cpu-clock", "ns"},
           {"cpu-clock:ppp", EventKind::kTime, "cpu-clock", "ns"},
           {"cpu-clock:pppH", EventKind::kTime, "cpu-clock", "ns"},
           {"cpu-clock:u", EventKind::kTime, "cpu-clock:u", "ns"},
           {"cpu-clock:uppp", EventKind::kTime, "cpu-clock:u", "ns"},
           {"task-clock:uk", EventKind::kTime, "task-clock:uk", "ns"},
           {"cycles:ukhP", EventKind::kTime, "cycles", "cycles"},
           {"cpu-cycles", EventKind::kTime, "cycles", "cycles"},
           {"cpu_core/cycles/P", EventKind::kTime, "cycles", "cycles"},
           {"cpu/cpu-cycles,period=7/u", EventKind::kTime, "cycles:u", "cycles"},
           {"cpu/event=0xc0/", EventKind::kWork, "cpu/event=0xc0/", "events"},
           {"cpu/event=0xc0,period=7/u", EventKind::kWork, "cpu/event=0xc0/:u", "events"},
           {"cpu/event=0xd1,freq=9,umask=0x20/", EventKind::kWork, "cpu/event=0xd1,umask=0x20/",
            "events"},
           {"cpu_atom/event=0xc0/", EventKind::kWork, "cpu_atom/event=0xc0/", "events"},
           {"cpu-clock/freq=40000/", EventKind::kTime, "cpu-clock", "ns"},
           {"cpu-clock/call-graph=dwarf,stack-size=512/u", EventKind::kTime, "cpu-clock:u", "ns"},
           {"cpu-cycles/period=100000,name=mine/ppp", EventKind::kTime, "cycles", "cycles"},
           {"page-faults/period=1/", EventKind::kWork, "page-faults", "page-faults"},
           {"branches/freq=40000/", EventKind::kWork, "branches", "branches"},
           {"intel_pt//", EventKind::kWork, "intel_pt", "events"},
           {"sched:sched_switch/call-graph=no/", EventKind::kTrace, "sched:sched_switch", "events"},
           {"instructions:u", EventKind::kWork, "instructions:u", "instructions"},
           {"page-faults", EventKind::kWork, "page-faults", "page-faults"},
           {"r01c2", EventKind::kWork, "r01c2", "events"},
           {"sched:sched_switch", EventKind::kTrace, "sched:sched_switch", "events"},
           {"PerfInfo/SampledProfile", EventKind::kTime, "PerfInfo/SampledProfile", "events"},
           {"PerfInfo/PMCSample/TotalCycles", EventKind::kTime, "PerfInfo/PMCSample/TotalCycles",
            "events"},
           {"PerfInfo/PMCSample/CacheMisses", EventKind::kWork, "PerfInfo/PMCSample/CacheMisses",
            "events"},
           {"Thread/CSwitch", EventKind::kTrace, "Thread/CSwitch", "events"},
           {"Managed", EventKind::kTime, "Managed", "events"},
           {"External", EventKind::kTrace, "External", "events"},
           {"blocked", EventKind::kTrace, "blocked", "ns"},
           {"cswitch", EventKind::kTrace, "cswitch", "ns"},
           {"R/GC/AllocationTick", EventKind::kTrace, "R/GC/AllocationTick", "bytes"},
           {"R/Contention/Stop", EventKind::kTrace, "R/Contention/Stop", "ns"},
           {"R/Contention/Start", EventKind::kTrace, "R/Contention/Start", "events"},
           {"", EventKind::kWork, "", "events"},
           {":", EventKind::kTrace, ":", "events"},
       }) {
    CAPTURE(c.name);
    const query::EventTraits traits = query::traits_of(c.name);
    CHECK(traits.kind == c.kind);
    CHECK(traits.same_as == c.same_as);
    CHECK(traits.unit == c.unit);
  }
}

std::vector<EventGroup> groups_of(const std::vector<Event>& events,
                                  const std::vector<std::uint64_t>& samples,
                                  std::set<std::string> apart = {},
                                  std::string_view default_event = {}) {
  return query::event_groups({events, samples, std::move(apart), default_event},
                             std::vector<bool>(events.size(), true));
}

TEST_CASE("events: what counts the same is one, the timing event with most samples first") {
  const std::vector<Event> events = {
      {"cpu-clock:ppp", true},           {"sched:sched_switch", false}, {"cpu-clock:u", true},
      {"cpu-clock:pppH", true},          {"page-faults", true},         {"cycles", true},
      {"PerfInfo/SampledProfile", false}};
  const auto groups = groups_of(events, {2, 9000, 60, 98, 500, 0, 70});
  REQUIRE(groups.size() == 6);
  CHECK(groups[0].name == "cpu-clock");
  CHECK(groups[0].samples == 100);
  CHECK(groups[0].events == std::vector<std::uint32_t>{3, 0});
  CHECK(groups[0].has_weight);
  CHECK(groups[0].has(0));
  CHECK_FALSE(groups[0].has(2));
  CHECK(groups[1].name == "PerfInfo/SampledProfile");
  CHECK(groups[2].name == "cpu-clock:u");
  CHECK(groups[3].name == "page-faults");
  CHECK(groups[4].name == "sched:sched_switch");
  CHECK(groups[5].name == "cycles");
  const auto others = query::groups_left_out(groups);
  REQUIRE(others.size() == 4);
  CHECK(others[0].name == "PerfInfo/SampledProfile");
  CHECK(others[3].samples == 9000);
}

TEST_CASE("events: the one that the file says to show first is first, where it has samples") {
  const std::vector<Event> events = {{"cpu-clock", true}, {"alloc_space", true}, {"none", true}};
  const auto first_of = [&events](std::string_view default_event) {
    return groups_of(events, {9, 5, 0}, {}, default_event).front().name;
  };
  CHECK(first_of("alloc_space") == "alloc_space");
  CHECK(first_of("none") == "cpu-clock");
  CHECK(first_of("") == "cpu-clock");
}

TEST_CASE("events: those that one capture counted side by side stay apart") {
  const std::vector<Event> events = {{"cycles:p", true}, {"cycles:pp", true}, {"cycles:P", true}};
  const auto groups = groups_of(events, {5, 7, 0}, {"cycles"});
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].name == "cycles:pp");
  CHECK(groups[1].name == "cycles:p");
  // One without samples is no part of another.
  const auto one = groups_of({{"cycles:p", true}, {"cycles:pp", true}}, {5, 0});
  REQUIRE(one.size() == 2);
  CHECK(one[0].name == "cycles:p");
}

TEST_CASE("events: of several files those of one key are one, with weights if all have them") {
  const std::vector<std::vector<EventGroup>> files = {
      groups_of({{"cycles:p", true}, {"page-faults", true}}, {5, 50}),
      groups_of({{"cycles:ppp", true}, {"cpu-clock", true}}, {6, 10}),
      groups_of({{"cpu-clock", false}, {"cycles", true}}, {2, 0})};
  const auto joint = query::joint_groups(files);
  REQUIRE(joint.size() == 3);
  CHECK(joint[0].name == "cpu-clock");
  CHECK(joint[0].samples == 12);
  CHECK_FALSE(joint[0].has_weight);
  CHECK(joint[1].name == "cycles");
  CHECK(joint[1].samples == 11);
  CHECK(joint[1].has_weight);
  CHECK(joint[2].name == "page-faults");
}

TEST_CASE("measure: what the event measures, unless something else is asked for") {
  const auto clock = groups_of({{"cpu-clock:u", true}}, {}).front();
  const auto bare = groups_of({{"cpu-clock", false}}, {}).front();
  using query::Measure;
  CHECK(measure_of(clock, CountBy::kAuto, false, "") == Measure{true, "ns"});
  CHECK(measure_of(clock, CountBy::kSamples, false, "") == Measure{false, "samples"});
  CHECK(measure_of(bare, CountBy::kAuto, false, "") == Measure{false, "samples"});
  CHECK(measure_of(bare, CountBy::kWeight, false, "") == Measure{true, "samples"});
  // Of imported profiles.
  CHECK(measure_of(bare, CountBy::kAuto, true, "") == Measure{true, "samples"});
  CHECK(measure_of(bare, CountBy::kAuto, true, "nanoseconds") == Measure{true, "ns"});
  CHECK(measure_of(bare, CountBy::kAuto, true, "bytes") == Measure{true, "bytes"});
  CHECK(measure_of(bare, CountBy::kAuto, true, "count") == Measure{true, "cpu-clock"});
}

}  // namespace
}  // namespace stackpack::test
