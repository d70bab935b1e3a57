#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/diff.h"
#include "stackpack/names.h"
#include "support/profile_runs.h"
#include "support/source_folder.h"
#include "support/spk_reading.h"
#include "support/spk_surgery.h"
#include "support/test_bytes.h"

namespace stackpack::test {
namespace {

std::vector<FunctionSamples> program(int small, int other, int scale = 1) {
  return {{{"main", "work"}, 5000 * scale},
          {{"main", "serve", "small"}, small * scale},
          {{"main", "serve", "other"}, other * scale},
          {{"main", "serve"}, 500 * scale},
          {{"main"}, 100 * scale}};
}

GateResult judged(const DiffReport& report, const std::string& condition,
                  const std::string& allowed = "", const GateOptions& options = {true}) {
  const auto parsed = parse_gate_condition(condition);
  REQUIRE_MESSAGE(parsed.has_value(), condition);
  const auto known = parse_allowed_changes(allowed);
  REQUIRE(known.has_value());
  const auto gate = check_gate(report, std::array{*parsed}, *known, options);
  REQUIRE_MESSAGE(gate.has_value(), failure(gate));
  return gate->results.front();
}

TEST_SUITE("comparison of profiles") {
  TEST_CASE("comparison: what has grown is found, with an interval, and nothing else") {
    Runs before;
    Runs after;
    before.add(program(100, 2000), 1);
    after.add(program(400, 2000), 2);
    DiffOptions options;
    options.run_variation = 0;
    options.accept_single_run = true;
    const DiffReport report = compared(before, after, options);
    const EventDiff& event = report.events.front();
    CHECK(event.scatter == DiffScatter::kBlocks);
    CHECK(event.old_side.samples == 7700);
    CHECK(event.new_side.value == 8000);
    CHECK(event.rows.front().name == "small");
    const DiffFigure& small = row_of(report, "small").self;
    CHECK(small.verdict == DiffVerdict::kMore);
    CHECK(small.old_value == 100);
    CHECK(small.new_share == doctest::Approx(0.05));
    CHECK(small.low > 0.02);
    CHECK(small.low < small.difference);
    CHECK(small.difference < small.high);
    CHECK(small.ratio == doctest::Approx(0.05 / (100.0 / 7700)));
    CHECK(small.least_visible < 0.02);
    CHECK(row_of(report, "main").total.verdict == DiffVerdict::kNotSeen);
    CHECK(row_of(report, "main").total.new_share == 1);
    CHECK(row_of(report, "other").self.verdict == DiffVerdict::kNotSeen);
    CHECK(row_of(report, "serve").total.old_value == 2600);
    CHECK(row_of(report, "serve").self.old_value == 500);
  }

  TEST_CASE("comparison: of several runs, what varies between runs is no change") {
    Runs before;
    Runs after;
    for (std::uint64_t run = 0; run < 5; ++run) {
      // `other` is a third more in some runs of both sides.
      before.add(program(100, run % 2 == 0 ? 2000 : 2700), 10 + run);
      after.add(program(200, run % 3 == 0 ? 2000 : 2700), 20 + run);
    }
    const DiffReport report = compared(before, after);
    CHECK(report.events.front().scatter == DiffScatter::kRuns);
    CHECK(report.events.front().old_side.runs == 5);
    CHECK(row_of(report, "other").self.verdict == DiffVerdict::kNotSeen);
    CHECK(row_of(report, "other").self.overdispersion > 10);
    CHECK(row_of(report, "small").self.verdict == DiffVerdict::kMore);
  }

  TEST_CASE("comparison: appeared, disappeared, and too few to tell") {
    Runs before;
    Runs after;
    before.add({{{"main", "a"}, 4000}, {{"main", "gone"}, 300}, {{"main", "rare"}, 1}}, 1);
    after.add({{{"main", "a"}, 4000}, {{"main", "fresh"}, 300}, {{"main", "rare"}, 1}}, 2);
    DiffOptions options;
    options.accept_single_run = true;
    const DiffReport report = compared(before, after, options);
    CHECK(row_of(report, "gone").self.verdict == DiffVerdict::kDisappeared);
    CHECK(row_of(report, "fresh").self.verdict == DiffVerdict::kAppeared);
    CHECK(std::isinf(row_of(report, "fresh").self.ratio));
    CHECK(row_of(report, "rare").self.verdict == DiffVerdict::kTooFew);
    CHECK(row_of(report, "main").self.verdict == DiffVerdict::kTooFew);
    CHECK(report.events.front().new_side.unpaired == doctest::Approx(300.0 / 4301));
  }

  TEST_CASE("comparison: one run a side is sure of no change, and of no rare function either") {
    Runs before;
    Runs after;
    before.add({{{"main", "a"}, 4000}, {{"main", "gone"}, 300}, {{"main", "rare"}, 1}}, 1);
    after.add({{{"main", "a"}, 4000}, {{"main", "fresh"}, 300}, {{"main", "rare"}, 1}}, 2);
    const DiffReport unsure = compared(before, after);
    CHECK(row_of(unsure, "gone").self.verdict == DiffVerdict::kUnsure);
    CHECK(row_of(unsure, "fresh").self.verdict == DiffVerdict::kUnsure);
    CHECK(row_of(unsure, "fresh").self.low > 0);
    CHECK(row_of(unsure, "a").self.verdict == DiffVerdict::kNotSeen);
    CHECK(row_of(unsure, "rare").self.verdict == DiffVerdict::kTooFew);
    CHECK(verdict_name(DiffVerdict::kUnsure) == "unsure (one run a side)");
    // A gate that accepts it fails, and one that does not is undecided.
    CHECK(judged(unsure, "self share +1pp").outcome == GateOutcome::kFailed);
    CHECK(judged(unsure, "self share +1pp", "", {}).outcome == GateOutcome::kUndecided);
    // A second run on one side shows how runs differ.
    before.add({{{"main", "a"}, 4000}, {{"main", "gone"}, 300}, {{"main", "rare"}, 1}}, 3);
    CHECK(row_of(compared(before, after), "gone").self.verdict == DiffVerdict::kDisappeared);
  }

  TEST_CASE("comparison: parts, hashes and renumbered lambdas pair up") {
    const auto lambda = [](int number) {
      return "run()::{lambda()#" + std::to_string(number) + "}::operator()() const";
    };
    Runs before;
    Runs after;
    before.add({{{"main", "hot"}, 900},
                {{"main", "hot.cold"}, 100},
                {{"main", "hot", "hot.cold"}, 50},
                {{"main", "f::h0123456789abcdef"}, 500},
                {{"main", lambda(1)}, 300},
                {{"main", lambda(2)}, 200}});
    after.add({{{"main", "hot.constprop.0"}, 1050},
               {{"main", "f::h00000000000000ff"}, 500},
               {{"main", lambda(2)}, 200},
               {{"main", lambda(3)}, 300}});
    const DiffReport report = compared(before, after);
    CHECK(report.events.front().old_side.unpaired == 0);
    CHECK(report.events.front().new_side.unpaired == 0);
    CHECK(row_of(report, "hot").total.old_value == 1050);
    CHECK(row_of(report, "hot").total.new_value == 1050);
    CHECK(row_of(report, "f").self.new_value == 500);
    // Two of them, as before; the numbers do not say which is which.
    const DiffRow& lambdas = row_of(report, "run()::{lambda()#}::operator()() const");
    CHECK(lambdas.self.old_value == 500);
    CHECK(lambdas.self.new_value == 500);
    CHECK(lambdas.self.verdict == DiffVerdict::kNotSeen);
  }

  TEST_CASE("comparison: events apart, weights, time, and a function as the whole") {
    std::vector<FunctionSamples> groups = program(100, 2000);
    groups.push_back({{"main", "fault"}, 400, 1});
    Runs before;
    Runs after;
    before.add(groups, 1, 10);
    groups[1].count = 400;
    after.add(groups, 2, 10);
    DiffOptions options;
    options.all_events = true;
    const DiffReport all = compared(before, after, options);
    REQUIRE(all.events.size() == 2);
    CHECK(all.events[1].event == "page-faults");
    CHECK(row_of(all, "fault", 1).self.old_share == 1);
    CHECK(compared(before, after).events_left_out == std::vector<std::string>{"page-faults"});

    options.all_events = false;
    options.unit = DiffUnit::kWeight;
    const DiffReport weighed = compared(before, after, options);
    CHECK(weighed.events.front().old_side.value == doctest::Approx(77'000));
    CHECK(row_of(weighed, "small").self.p ==
          doctest::Approx(row_of(compared(before, after), "small").self.p));

    options.unit = DiffUnit::kTime;
    const DiffReport timed = compared(before, after, options);
    CHECK(timed.events.front().new_side.seconds == doctest::Approx(8.4).epsilon(0.01));
    CHECK(row_of(timed, "work").self.old_share == doctest::Approx(5000 / 8.1).epsilon(0.01));

    options.unit = DiffUnit::kSamples;
    options.whole = "serve";
    const DiffReport part = compared(before, after, options);
    CHECK(part.events.front().old_side.value == 2600);
    CHECK(row_of(part, "serve").total.new_share == 1);
    CHECK(row_of(part, "small").self.new_share == doctest::Approx(400.0 / 2900));
    CHECK(part.events.front().rows.size() == 3);
    options.whole = "nothing";
    const auto none = compare_profiles(before.all(), after.all(), options);
    REQUIRE_FALSE(none.has_value());
    CHECK(none.error().code == ErrorCode::kUsage);
  }

  TEST_CASE("comparison: callstacks, and folded text with both counts") {
    Runs before;
    Runs after;
    before.add({{{"main", "a"}, 3000}, {{"main", "b"}, 3000}}, 1);
    after.add({{{"main", "a"}, 4000}, {{"main", "b"}, 3000}, {{"main", "c"}, 1}}, 2);
    DiffOptions options;
    options.by = DiffGrain::kCallstack;
    const DiffReport report = compared(before, after, options);
    CHECK(row_of(report, "main;a").self.new_value == 4000);
    CHECK(report.events.front().left_out == 1);
    const auto folded = folded_differences(before.all(), after.all(), {});
    REQUIRE(folded.has_value());
    CHECK(*folded == "main;a 3000 4000\nmain;b 3000 3000\nmain;c 0 1\n");
  }

  TEST_CASE("comparison: intervals leave 0 out just where there is a verdict") {
    Random random(5);
    Runs before;
    Runs after;
    std::vector<FunctionSamples> olds;
    std::vector<FunctionSamples> news;
    for (int i = 0; i < 120; ++i) {
      const std::string name = "f" + std::to_string(i);
      const int count = static_cast<int>(random.below(400));
      olds.push_back({{"main", name}, count + 1});
      news.push_back({{"main", name}, i % 4 == 0 ? count * 2 + 1 : count + 1});
    }
    before.add(olds, 1);
    after.add(news, 2);
    int changes = 0;
    DiffOptions options;
    options.run_variation = 0;
    options.accept_single_run = true;
    const DiffReport report = compared(before, after, options);
    for (const DiffRow& row : report.events.front().rows) {
      CAPTURE(row.name);
      const bool more = row.self.verdict == DiffVerdict::kMore;
      const bool less = row.self.verdict == DiffVerdict::kLess;
      changes += more || less ? 1 : 0;
      CHECK(more == (row.self.low > 0));
      CHECK(less == (row.self.high < 0));
      CHECK(more == (row.self.ratio_low > 1));
    }
    CHECK(changes > 3);
  }

  TEST_CASE("gate: conditions are read, and what is none is refused") {
    const auto condition = parse_gate_condition("self relative +10% from 1% of app!serve *");
    REQUIRE(condition.has_value());
    CHECK(condition->measure == GateMeasure::kRelative);
    CHECK(condition->figure == GateFigure::kSelf);
    CHECK(condition->limit == doctest::Approx(0.1));
    CHECK(condition->least == doctest::Approx(0.01));
    CHECK(condition->pattern == "app!serve *");
    for (const char* const text : {"", "share", "share 0.5pp", "share +0.5%", "relative +10pp",
                                   "share +pp", "share +0.5pp x", "share +0.5pp from",
                                   "share +0.5pp of", "share +1e999pp", "both share +1pp"}) {
      CAPTURE(text);
      CHECK_FALSE(parse_gate_condition(text).has_value());
    }
    const auto changes = parse_allowed_changes(
        "#known\n\napp!a up to +2pp # why\r\noperator new(long)\nrun()::{lambda()#1} # x#y\n");
    REQUIRE(changes.has_value());
    REQUIRE(changes->size() == 3);
    CHECK(changes->front().pattern == "app!a");
    CHECK(changes->front().limit == doctest::Approx(0.02));
    CHECK((*changes)[1].pattern == "operator new(long)");
    CHECK(changes->back().pattern == "run()::{lambda()#1}");
    const auto bad = parse_allowed_changes("a\nb up to much\n");
    REQUIRE_FALSE(bad.has_value());
    CHECK(bad.error().offset == 2);
  }

  TEST_CASE("gate: fails on the bound of the interval, and says what it could not see") {
    Runs before;
    Runs after;
    before.add(program(100, 2000), 1);
    after.add(program(400, 2000), 2);
    DiffOptions options;
    options.run_variation = 0;
    const DiffReport report = compared(before, after, options);
    // 1.3 % became 5 %: surely more by 2 points, not surely by 3.6.
    CHECK(judged(report, "self share +2pp").outcome == GateOutcome::kFailed);
    CHECK(judged(report, "self share +3.6pp of small").outcome == GateOutcome::kPassed);
    CHECK(judged(report, "share +2pp of work").outcome != GateOutcome::kFailed);
    CHECK(judged(report, "self relative +100%").outcome == GateOutcome::kFailed);
    CHECK(judged(report, "share -30pp").outcome == GateOutcome::kPassed);
    CHECK(judged(report, "self share +2pp", "small\n").outcome != GateOutcome::kFailed);
    CHECK(judged(report, "self share +2pp", "small up to +1pp\n").outcome == GateOutcome::kFailed);
    CHECK(judged(report, "self share +2pp", "small up to +5pp\n").outcome != GateOutcome::kFailed);
    const GateResult blind = judged(report, "self share +0.05pp of work");
    CHECK(blind.outcome == GateOutcome::kUndecided);
    CHECK(blind.not_visible == 1);
    CHECK(blind.least_visible_in == "work");
    // What one run a side shows is a finding, and nothing fails for it unless that is asked for.
    const GateResult unsure = judged(report, "self share +2pp", "", {});
    CHECK(unsure.outcome == GateOutcome::kUndecided);
    CHECK(unsure.unsure == 1);
    CHECK(judged(report, "self share +2pp", "small\n", {}).unsure == 0);
    before.add(program(100, 2000), 3);
    after.add(program(400, 2000), 4);
    const DiffReport of_two = compared(before, after, options);
    const GateResult sure = judged(of_two, "self share +2pp", "", {});
    CHECK(sure.outcome == GateOutcome::kFailed);
    CHECK(sure.unsure == 0);
    DiffReport timed = report;
    timed.unit = DiffUnit::kTime;
    // The word that is wrong is named.
    for (const auto& [text, word] :
         {std::pair("share +1pp", "`share`"), std::pair("relative +10% from 1%", "`from`")}) {
      CAPTURE(text);
      const auto refused = check_gate(timed, std::array{*parse_gate_condition(text)}, {});
      REQUIRE_FALSE(refused.has_value());
      CHECK(refused.error().what.starts_with(word));
    }
    CHECK(check_gate(timed, std::array{*parse_gate_condition("relative +10%")}, {}).has_value());
    CHECK_FALSE(parse_gate_condition("share +1pp of /(/").has_value());
  }

  TEST_CASE("gate: functions are found as people type them") {
    Runs before;
    Runs after;
    before.add({{{"main"}, 9000}, {{"main", "app::Engine<int>::apply(int)"}, 100}}, 1);
    after.add({{{"main"}, 9000}, {{"main", "app::Engine<int>::apply(int)"}, 900}}, 2);
    DiffOptions options;
    options.run_variation = 0;
    const DiffReport report = compared(before, after, options);
    for (const char* const text :
         {"Engine::apply", "apply", "*engine*", "/^app::.*apply/", "app::Engine::apply"}) {
      CAPTURE(text);
      CHECK(judged(report, std::string("self share +2pp of ") + text).outcome ==
            GateOutcome::kFailed);
      CHECK(judged(report, "self share +2pp", std::string(text) + "\n").outcome !=
            GateOutcome::kFailed);
      options.whole = text;
      CHECK(compared(before, after, options).events.front().old_side.value == 100);
    }
    CHECK(judged(report, "self share +2pp of Apply").outcome == GateOutcome::kPassed);
  }

  TEST_CASE("comparison: events that count the same are one, and a run without them is none") {
    const auto run = [](const char* event, std::uint32_t number, std::uint64_t seed) {
      std::vector<FunctionSamples> groups = program(100, 2000);
      for (FunctionSamples& group : groups) {
        group.event = number;
      }
      SpkContent content = content_of(groups, seed, 5);
      content.events[0].name = event;
      return content;
    };
    Runs before;
    Runs after;
    before.add_content(run("cpu-clock:ppp", 0, 1)).add_content(run("cpu-clock", 0, 2));
    before.add_content(run("cpu-clock", 1, 3));
    after.add_content(run("cpu-clock:pppH", 0, 4)).add_content(run("cpu-clock:pppH", 0, 5));
    const DiffReport report = compared(before, after);
    REQUIRE(report.events.size() == 1);
    const EventDiff& event = report.events.front();
    CHECK(event.event == "cpu-clock");
    CHECK(event.unit == DiffUnit::kWeight);
    CHECK(event.measure == "ns");
    CHECK(event.old_side.runs == 2);
    CHECK(event.old_side.runs_left_out == 1);
    CHECK(event.old_side.samples == 2 * 7700);
    CHECK(event.old_side.value == doctest::Approx(2 * 7700 * 5));
    CHECK(event.new_side.runs_left_out == 0);
    CHECK(report.events_left_out == std::vector<std::string>{"page-faults"});
  }

  TEST_CASE("comparison: idle threads are left out, and the report says how much") {
    SpkContent content = content_of(program(100, 2000), 1, 3);
    for (std::size_t i = 0; i < content.samples.size(); i += 4) {
      content.samples[i].flags = kSampleIdle;
    }
    Runs runs;
    runs.add_content(content);
    DiffOptions options;
    const EventDiff without = compared(runs, runs, options).events.front();
    CHECK(without.old_side.samples == 5775);
    CHECK(without.old_side.idle.samples == 1925);
    CHECK(without.old_side.idle.share() == doctest::Approx(0.25));
    options.filter.idle = IdleSamples::kKeep;
    const EventDiff with = compared(runs, runs, options).events.front();
    CHECK(with.old_side.samples == 7700);
    CHECK(with.old_side.idle.samples == 0);
  }

  TEST_CASE("comparison: a side without samples is an error") {
    Runs before;
    Runs after;
    before.add(program(1, 1));
    CHECK_FALSE(compare_profiles(before.all(), after.all(), {}).has_value());
    after.add({{{"main"}, 3, 1}});
    const auto none = compare_profiles(before.all(), after.all(), {});
    REQUIRE_FALSE(none.has_value());
    CHECK(none.error().code == ErrorCode::kUsage);
    DiffOptions options;
    options.filter.pid = 99;
    CHECK_FALSE(compare_profiles(before.all(), before.all(), options).has_value());
  }

  TEST_CASE("comparison: an error says which of the files is damaged") {
    const std::vector<std::byte> file =
        read_test_file(source_folder() + "/testdata/spk/v1/perf-events.spk");
    std::vector<std::byte> changed = file;
    const auto index = take_apart(file).section(spk::SectionKind::kSampleIndex).offset;
    changed.at(static_cast<std::size_t>(index) + 6) ^= std::byte{1};
    const auto sound = Reader::open_memory(file);
    const auto damaged = Reader::open_memory(changed);
    REQUIRE(sound.has_value());
    REQUIRE(damaged.has_value());
    const std::array good{sound->get()};
    const std::array bad{damaged->get()};
    const std::array both{sound->get(), damaged->get()};
    const auto part_of = [](const auto& report) {
      REQUIRE_FALSE(report.has_value());
      CHECK(report.error().code == ErrorCode::kCorrupt);
      return report.error().part;
    };
    CHECK(part_of(compare_profiles(bad, good, {})) == 0);
    CHECK(part_of(compare_profiles(good, bad, {})) == 1);
    CHECK(part_of(compare_profiles(both, good, {})) == 1);
    CHECK(part_of(compare_profiles(good, both, {})) == 2);
  }
}

}  // namespace
}  // namespace stackpack::test
