#include "query/selection/event_choice.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "export/hand_made_capture.h"
#include "query/selection/sample_grouper.h"
#include "query/selection/sample_selection.h"

namespace stackpack::test {
namespace {

using query::SampleSelection;
using query::SelectionRules;

// Processes 1 and 2 are of the first source, 3 of the second one, if `merged`.
HandMadeCapture two_clocks(bool merged) {
  HandMadeCapture capture;
  capture.tables.events = {{"sched:sched_switch", true},
                           {"cpu-clock:ppp", true},
                           {"cpu-clock:pppH", true},
                           {"cpu-clock:u", true}};
  if (merged) {
    capture.tables.source_firsts = {1, 3};
  }
  const StackId stack = capture.add_stack({user(0x10)});
  const auto add = [&](std::uint32_t pid, std::uint32_t event, std::uint64_t weight) {
    StoredSample& sample = capture.add_sample(capture.samples.size(), pid, pid, stack);
    sample.event = event;
    sample.weight = weight;
  };
  for (int i = 0; i < 9; ++i) {
    add(1, 0, 1);
  }
  add(1, 1, 100);
  add(2, 1, 200);
  add(3, 2, 40);
  add(3, 2, 50);
  add(3, 2, 60);
  add(2, 3, 7);
  capture.tables.event_samples = {9, 2, 3, 1};
  return capture;
}

std::uint64_t value_of_all(SampleSelection& selection) {
  std::uint64_t value = 0;
  query::SampleGrouper grouper(selection, {.event = true}, 100);
  const Status counted = grouper.for_each([&](std::span<const query::Group> groups) {
    for (const query::Group& group : groups) {
      value += selection.value_of_group(group);
    }
    return Status{};
  });
  CHECK(counted);
  return value;
}

TEST_CASE("choice: events of several captures that count the same are shown as one") {
  const HandMadeCapture capture = two_clocks(true);
  const query::CaptureView view = capture.view();
  const ExportOptions options;
  const auto selection = SampleSelection::create(view, options);
  REQUIRE(selection.has_value());
  const query::EventChoice& choice = (*selection)->choice();
  CHECK(choice.is_chosen());
  CHECK(choice.name_of(choice.main_event()) == "cpu-clock");
  CHECK(choice.main_event() == 1);
  CHECK(choice.joined(2) == 1);
  CHECK(choice.wants(1));
  CHECK(choice.wants(2));
  CHECK_FALSE(choice.wants(0));
  CHECK_FALSE(choice.wants(3));
  CHECK(choice.measure_of(1) == query::Measure{true, "ns"});
  CHECK(value_of_all(**selection) == 450);
  const auto others = choice.left_out();
  REQUIRE(others.size() == 2);
  CHECK(others[0].name == "cpu-clock:u");
  CHECK(others[0].samples == 1);
  CHECK(others[1].name == "sched:sched_switch");
}

TEST_CASE("choice: what one capture counted side by side is never added up") {
  for (const bool merged : {false, true}) {
    CAPTURE(merged);
    HandMadeCapture capture = two_clocks(merged);
    // The second source has both.
    capture.samples[9].pid = 3;
    const query::CaptureView view = capture.view();
    const ExportOptions options;
    const auto selection = SampleSelection::create(view, options);
    REQUIRE(selection.has_value());
    const query::EventChoice& choice = (*selection)->choice();
    CHECK(choice.name_of(choice.main_event()) == "cpu-clock:pppH");
    CHECK(choice.left_out().size() == 3);
    CHECK(value_of_all(**selection) == 150);
  }
}

TEST_CASE("choice: one thing counted on processors of two kinds is one event, apart on request") {
  struct Case {
    std::vector<std::string> names;
    bool one;
  };
  for (const Case& c : std::vector<Case>{{{"cpu_core/cycles/", "cpu_atom/cycles/"}, true},
                                         {{"cpu_core/cycles/P", "cpu_atom/cycles/pp"}, true},
                                         {{"cpu_core/cycles/", "cpu_core/cycles/p"}, false},
                                         {{"cpu_core/cycles/", "cycles"}, false},
                                         {{"cycles", "cpu_core/cycles/"}, false},
                                         {{"cpu_core/cycles/u", "cpu_atom/cycles/"}, false}}) {
    CAPTURE(c.names.front());
    for (const bool merged : {false, true}) {
      HandMadeCapture capture;
      const StackId stack = capture.add_stack({user(0x10)});
      for (std::uint32_t event = 0; event < 2; ++event) {
        capture.tables.events.push_back({c.names[event], true});
        StoredSample& sample = capture.add_sample(event, 1, 1, stack);
        sample.event = event;
        sample.weight = event + 5;
      }
      capture.tables.event_samples = {1, 1};
      if (merged) {
        capture.tables.source_firsts = {1, 3};
      }
      const query::CaptureView view = capture.view();
      const auto groups = query::wanted_groups(view, {});
      REQUIRE(groups.has_value());
      REQUIRE(groups->size() == (c.one ? 1 : 2));
      CHECK(groups->front().name == (c.one ? "cycles" : groups->front().name));
      const auto apart = query::wanted_groups(view, {}, true);
      REQUIRE(apart.has_value());
      CHECK(apart->size() == 2);
    }
  }
}

TEST_CASE("choice: a pattern means names first, then what events count") {
  const HandMadeCapture capture = two_clocks(true);
  const query::CaptureView view = capture.view();
  const auto value = [&](const std::string& pattern) -> std::uint64_t {
    ExportOptions options;
    options.filter.events = {pattern};
    const auto selection = SampleSelection::create(view, options);
    return selection ? value_of_all(**selection) : 0;
  };
  CHECK(value("cpu-clock:u") == 7);
  CHECK(value("cpu-clock:ppp") == 300);
  CHECK(value("cpu-clock") == 450);   // no event is called so
  CHECK(value("cpu-clock*") == 457);  // weights of one unit
  CHECK(value("*") == 15);            // of several: samples
  CHECK(value("cpu") == 0);
}

TEST_CASE("choice: weights of several units are added up on no word") {
  const HandMadeCapture capture = two_clocks(true);
  const query::CaptureView view = capture.view();
  ExportOptions options;
  options.all_events = true;
  options.count = CountBy::kWeight;
  CHECK_FALSE(SampleSelection::create(view, options).has_value());
  // Formats that keep events apart count each by itself.
  options.format = ExportFormat::kOtlp;
  options.count = CountBy::kAuto;
  const auto selection = SampleSelection::create(view, options);
  REQUIRE(selection.has_value());
  CHECK((*selection)->choice().measure_of(0).unit == "events");
  CHECK((*selection)->choice().measure_of(2).unit == "ns");
}

TEST_CASE("choice: the key of several files leaves nothing of a file without it") {
  const HandMadeCapture capture = two_clocks(true);
  const query::CaptureView view = capture.view();
  const ExportOptions options;
  const auto selection =
      SampleSelection::create(view, options, {.is_report = true, .event_key = "cycles"});
  REQUIRE(selection.has_value());
  CHECK(value_of_all(**selection) == 0);
  CHECK((*selection)->choice().name_of(0).empty());
  CHECK((*selection)->choice().measure_of(0) == query::Measure{});
}

TEST_CASE("idle: reports and pages leave idle threads out and say how much, others keep them") {
  HandMadeCapture capture = two_clocks(false);
  capture.tables.events = {{"cpu-clock", true}, {"page-faults", true}};
  capture.tables.event_samples.clear();
  capture.add_module(2, 0, 0x1000, "/bin/two");
  for (StoredSample& sample : capture.samples) {
    sample.event = sample.event == 0 ? 1 : 0;
    sample.flags = sample.pid == 3 ? kSampleIdle : 0;
  }
  const query::CaptureView view = capture.view();
  struct Case {
    const char* name;
    ExportFormat format;
    bool is_report;
    IdleSamples idle;
    std::uint64_t value;
    std::uint64_t left_out;
    double share;
  };
  for (const Case& c : std::vector<Case>{
           {"export", ExportFormat::kFolded, false, IdleSamples::kAuto, 457, 0, 0},
           {"export --no-idle", ExportFormat::kFolded, false, IdleSamples::kLeaveOut, 307, 3,
            150.0 / 457},
           {"report", ExportFormat::kFolded, true, IdleSamples::kAuto, 307, 3, 150.0 / 457},
           {"report --idle", ExportFormat::kFolded, true, IdleSamples::kKeep, 457, 0, 0},
           {"page", ExportFormat::kHtml, false, IdleSamples::kAuto, 307 + 9, 3, 150.0 / 457},
           {"page --idle", ExportFormat::kHtml, false, IdleSamples::kKeep, 457 + 9, 0, 0}}) {
    CAPTURE(c.name);
    ExportOptions options;
    options.format = c.format;
    options.filter.idle = c.idle;
    SelectionRules rules;
    rules.is_report = c.is_report;
    const auto selection = SampleSelection::create(view, options, rules);
    REQUIRE(selection.has_value());
    for (int pass = 0; pass < 2; ++pass) {
      CHECK(value_of_all(**selection) == c.value);
      CHECK((*selection)->idle_left_out().samples == c.left_out);
      CHECK((*selection)->idle_left_out().share() == doctest::Approx(c.share));
    }
  }
  // What another filter drops was not left out for being idle.
  ExportOptions of_module;
  of_module.filter.modules = {"two"};
  auto selection = SampleSelection::create(view, of_module, {.is_report = true, .event_key = ""});
  REQUIRE(selection.has_value());
  CHECK(value_of_all(**selection) == 207);
  CHECK((*selection)->idle_left_out().samples == 0);
  of_module.filter.modules.clear();
  of_module.filter.excluded_modules = {"two"};
  selection = SampleSelection::create(view, of_module, {.is_report = true, .event_key = ""});
  REQUIRE(selection.has_value());
  CHECK(value_of_all(**selection) == 100);
  CHECK((*selection)->idle_left_out().samples == 3);
}

TEST_CASE("idle: an event of idle threads alone is not passed over for the next one") {
  HandMadeCapture capture = two_clocks(false);
  for (StoredSample& sample : capture.samples) {
    sample.flags = sample.event == 2 ? kSampleIdle : 0;
  }
  const query::CaptureView view = capture.view();
  const ExportOptions options;
  const auto selection =
      SampleSelection::create(view, options, {.is_report = true, .event_key = ""});
  REQUIRE(selection.has_value());
  CHECK(value_of_all(**selection) == 0);
  CHECK((*selection)->idle_left_out().samples == 3);
  CHECK_FALSE((*selection)->choose_next_event());
}

}  // namespace
}  // namespace stackpack::test
