#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/diff/amounts_of_work.h"
#include "app/diff/figures_of_rows.h"
#include "app/diff/gate_comparison.h"
#include "stackpack/diff.h"
#include "support/profile_runs.h"

namespace stackpack::test {
namespace {

constexpr std::uint64_t kPeriod = 250'000;

DiffOptions per_run() {
  DiffOptions options;
  options.unit = DiffUnit::kRun;
  return options;
}

std::vector<FunctionSamples> service(int parse, int serve) {
  return {{{"main", "parse"}, parse}, {{"main", "serve"}, serve}, {{"main"}, 40}};
}

// Five runs that differ by a few samples.
Runs five(int parse, int serve) {
  Runs runs;
  for (int i = 0; i < 5; ++i) {
    runs.add(service(parse + i * 3, serve - i * 2), 1 + static_cast<std::uint64_t>(i), kPeriod);
  }
  return runs;
}

SpkContent run_of(int parse, int serve) {
  return content_of(service(parse, serve), 1, kPeriod);
}

// A run-to-run factor that all functions share, chance for each.
app::SideSums simulated(std::mt19937_64& random, const std::vector<double>& means, double runs_vary,
                        std::size_t runs, double size_of_work) {
  app::SideSums side;
  side.per_size = size_of_work;
  side.self.resize(means.size());
  side.total.resize(means.size());
  for (std::size_t run = 0; run < runs; ++run) {
    app::UnitSums unit;
    const double factor = std::exp(runs_vary * std::normal_distribution<double>()(random));
    for (std::size_t row = 0; row < means.size(); ++row) {
      const double count = std::poisson_distribution<int>(means[row] * factor)(random);
      side.self[row] += count;
      side.total[row] += count;
      unit.count += count;
      if (count > 0) {
        for (app::UnitCounts* const counts : {&unit.self, &unit.total}) {
          counts->rows.push_back(static_cast<std::uint32_t>(row));
          counts->counts.push_back(count);
        }
      }
    }
    unit.size = size_of_work;
    side.size += unit.size;
    side.count += unit.count;
    side.work += 1;
    ++side.filled_units;
    side.units.push_back(unit);
  }
  return side;
}

struct Outcome {
  bool whole = false;  // a verdict on everything
  int rows = 0;        // with a verdict
  bool first = false;  // one on the first row
  double visible = 0;  // of everything, as a part of it
  double least = 0;    // of the first row, as a part of it
};

Outcome outcome_of(std::uint64_t seed, double runs_vary, std::size_t runs, double of_first) {
  std::mt19937_64 random(seed);
  std::vector<double> means;
  app::RowTable table;
  for (int i = 0; i < 50; ++i) {
    means.push_back(1500.0 / (1 + i));
    table.names.push_back({"f" + std::to_string(i), "", "", {}});
  }
  const double size = 1e8;
  const app::SideSums before = simulated(random, means, runs_vary, runs, size);
  means[0] *= of_first;
  const app::SideSums after = simulated(random, means, runs_vary, runs, size);
  EventDiff event;
  event.unit = DiffUnit::kRun;
  event.old_side.value = before.count;
  event.new_side.value = after.count;
  REQUIRE(app::fill_rows(event, table, before, after, per_run()));
  Outcome outcome;
  outcome.whole = event.whole->verdict == DiffVerdict::kMore;
  outcome.visible = event.whole->least_visible / event.whole->old_share;
  const auto differs = [](const DiffFigure& figure) {
    return figure.verdict != DiffVerdict::kNotSeen && figure.verdict != DiffVerdict::kTooFew;
  };
  outcome.whole = differs(*event.whole);
  for (const DiffRow& row : event.rows) {
    outcome.rows += differs(row.self) || differs(row.total) ? 1 : 0;
    if (row.name == "f0") {
      outcome.first = row.self.verdict == DiffVerdict::kMore;
      outcome.least = row.self.least_visible / row.self.old_share;
    }
  }
  return outcome;
}

struct Tally {
  int wholes = 0;
  int rows = 0;
  int first = 0;

  void add(const Outcome& outcome) {
    wholes += outcome.whole ? 1 : 0;
    rows += outcome.rows > 0 ? 1 : 0;
    first += outcome.first ? 1 : 0;
  }
};

TEST_SUITE("comparison of costs") {
  TEST_CASE("cost: a program that takes twice as long everywhere has the same shares") {
    Runs before = five(600, 1200);
    Runs after = five(1200, 2400);
    CHECK(row_of(compared(before, after), "parse").self.verdict == DiffVerdict::kNotSeen);
    const DiffReport report = compared(before, after, per_run());
    const EventDiff& event = report.events.front();
    REQUIRE(event.whole.has_value());
    CHECK(event.measure == "ns");
    CHECK(event.work == "run");
    CHECK(event.whole->verdict == DiffVerdict::kMore);
    CHECK(event.whole->old_share == doctest::Approx(1842.0 * kPeriod));
    CHECK(event.whole->ratio == doctest::Approx(3642.0 / 1842));
    CHECK(event.whole->ratio_low > 1.9);
    CHECK(event.whole->ratio_high < 2.1);
    const DiffRow& parse = row_of(report, "parse");
    CHECK(parse.self.verdict == DiffVerdict::kMore);
    CHECK(parse.self.difference == doctest::Approx(600.0 * kPeriod));
    CHECK(parse.self.low > 500.0 * kPeriod);
    CHECK(parse.self.high < 700.0 * kPeriod);
    CHECK(event.old_side.value == doctest::Approx(5 * 1842.0 * kPeriod));
    CHECK(event.old_side.work == 5);
  }

  TEST_CASE("cost: twice the work in twice the time costs the same") {
    Runs before = five(600, 1200);
    Runs after = five(1200, 2400);
    DiffOptions options = per_run();
    options.work = "request";
    options.work_of_files = {921, 921, 921, 921, 921, 1821, 1821, 1821, 1821, 1821};
    const DiffReport report = compared(before, after, options);
    CHECK(report.events.front().whole->verdict == DiffVerdict::kNotSeen);
    CHECK(report.events.front().whole->old_share == doctest::Approx(2.0 * kPeriod));
    CHECK(report.events.front().work == "request");
    options.work_of_files.back() = 0;
    CHECK_FALSE(compare_profiles(before.all(), after.all(), options).has_value());
    options.unit = DiffUnit::kMeasure;
    options.work_of_files.clear();
    CHECK_FALSE(compare_profiles(before.all(), after.all(), options).has_value());
  }

  TEST_CASE("cost: amounts of work are read") {
    const std::array<std::string, 2> paths = {"runs/a b.spk", "c.spk"};
    std::string problem;
    const auto amounts =
        app::amounts_of_lines("# work\n1e3 a b.spk\n 2.5\tc.spk \n", paths, problem);
    REQUIRE(amounts.has_value());
    CHECK(*amounts == std::vector<double>{1000, 2.5});
    const auto missing = app::amounts_of_lines("1 c.spk\n", paths, problem);
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().part == 0);
    CHECK(problem.empty());
    const auto bad = app::amounts_of_lines("1 c.spk\n0 d.spk\n", paths, problem);
    REQUIRE_FALSE(bad.has_value());
    CHECK(bad.error().offset == 8);
  }

  TEST_CASE("cost: an amount of work that is none is named, with its line") {
    const std::array<std::string, 1> paths = {"c.spk"};
    for (const std::string word :
         {"0", "-1", "nan", "inf", "-inf", "1e999", "12x", "0x10", "c.spk", "1,5"}) {
      CAPTURE(word);
      std::string problem;
      CHECK_FALSE(app::amounts_of_lines("# 1\n\n" + word + " c.spk\n", paths, problem).has_value());
      CHECK(problem.starts_with("line 3: `" + word + "` is no amount; a number above 0 is"));
    }
    std::string problem;
    CHECK_FALSE(app::amounts_of_lines("1200\n", paths, problem).has_value());
    CHECK(problem.starts_with("line 1: `1200`: no file follows"));
  }

  TEST_CASE("cost: a unit of work is a word") {
    for (const std::string word : {"request", "MB", "a frame of 60", "Größe", "k/s"}) {
      CAPTURE(word);
      CHECK(app::problem_of_unit(word).empty());
    }
    for (const std::string word :
         {"60", "6e1", "-1", "nan", "inf", "Infinity", "0", "1e999", "60s", "", " ", "a\nb"}) {
      CAPTURE(word);
      const std::string problem = app::problem_of_unit(word);
      CHECK(problem.find("--units FILE or --label-unit KEY") != std::string::npos);
      CHECK(problem.find('\n') == std::string::npos);
    }
    CHECK(app::problem_of_unit("60").starts_with("`60` is a number"));
    CHECK(app::problem_of_unit("nan").starts_with("`nan` is a number"));
  }

  TEST_CASE("conditions: sentences are read, and the wrong word is named") {
    const auto cpu = parse_gate_condition("total cpu +3%");
    REQUIRE(cpu.has_value());
    CHECK(cpu->whole);
    CHECK(cpu->cost_of == "cpu");
    CHECK(cpu->measure == GateMeasure::kRelative);
    CHECK(cpu->limit == doctest::Approx(0.03));
    const auto function = parse_gate_condition("function of operator new(long) cpu +1.5ms from 1%");
    REQUIRE(function.has_value());
    CHECK_FALSE(function->whole);
    CHECK(function->pattern == "operator new(long)");
    CHECK(function->measure == GateMeasure::kCost);
    CHECK(function->limit == doctest::Approx(1.5e6));
    CHECK(function->least == doctest::Approx(0.01));
    CHECK(parse_gate_condition("function self share -0.5pp")->figure == GateFigure::kSelf);
    CHECK(parse_gate_condition("blocked +10%")->whole);
    CHECK(parse_gate_condition("total instructions +2M")->limit == doctest::Approx(2e6));
    const std::array<std::array<const char*, 2>, 11> wrong = {{
        {"", "it is empty"},
        {"total", "it ends after word 1: share, relative, cpu"},
        {"total cup +3%", "word 2, `cup`: share, relative, cpu"},
        {"total cpu 3%", "word 3, `3%`: an amount such as +5% or +50ms"},
        {"total cpu +3pp", "word 3, `+3pp`"},
        {"total cpu +3M", "word 3, `+3M`"},
        {"total instructions +3ms", "word 3, `+3ms`"},
        {"self cpu +1%", "word 1, `self`: the whole has no self"},
        {"function of f cpu", "word 3, `f`: no measure with an amount"},
        {"total cpu +1% from 1%", "`of` and `from` go with functions"},
        {"function cpu +1% until 1%", "word 4, `until`"},
    }};
    for (const auto& [text, said] : wrong) {
      std::string problem;
      CAPTURE(text);
      CHECK_FALSE(parse_gate_condition(text, &problem).has_value());
      CHECK_MESSAGE(problem.find(said) != std::string::npos, problem);
    }
    std::size_t place = 0;
    CHECK_FALSE(parse_gate_condition("total  cup +3%", nullptr, &place).has_value());
    CHECK(place == 7);
    CHECK_FALSE(parse_gate_condition("total cpu", nullptr, &place).has_value());
    CHECK(place == 9);
  }

  TEST_CASE("conditions: costs and shares are judged in one gate, each by its own comparison") {
    const Runs before = five(600, 1200);
    const Runs after = five(1200, 2400);
    const auto outcomes = [&](const std::vector<std::string>& texts, const std::string& known,
                              const DiffOptions& options) {
      std::vector<GateCondition> conditions;
      for (const std::string& text : texts) {
        conditions.push_back(*parse_gate_condition(text));
      }
      const auto report = app::compare_for_gate(before.all(), after.all(), options, conditions);
      REQUIRE(report.has_value());
      const auto gate = check_gate(*report, conditions, *parse_allowed_changes(known));
      REQUIRE_MESSAGE(gate.has_value(), failure(gate));
      for (const GateFinding& finding : gate->findings) {
        CHECK_FALSE(finding_text(*report, conditions, finding).empty());
      }
      std::string all;
      for (const GateResult& result : gate->results) {
        all += std::string(outcome_name(result.outcome)) + " ";
      }
      return all;
    };
    const std::vector<std::string> texts = {"total cpu +50%",   "total cpu +400ms",
                                            "total cpu +500ms", "function of parse cpu +100ms",
                                            "self share +10pp", "blocked +10%"};
    const std::string expected = "failed failed passed failed passed undecided ";
    CHECK(outcomes(texts, "", {}) == expected);
    CHECK(outcomes(texts, "", per_run()) == expected);
    CHECK(outcomes({"total cpu +50%"}, "(everything)", {}) == "passed ");
    CHECK(outcomes({"total cpu +50%"}, "(everything) up to +500ms", {}) == "passed ");
    CHECK(outcomes({"total cpu +50%"}, "(everything) up to +300ms", {}) == "failed ");
    CHECK(outcomes({"relative +50%"}, "", per_run()) == "failed ");
    // Of shares it is none.
    CHECK(outcomes({"self relative +50% of parse"}, "", {}) == "passed ");
  }

  TEST_CASE("cost: one run a side is unsure") {
    Runs before;
    Runs after;
    before.add_content(run_of(600, 1200));
    after.add_content(run_of(1200, 2400));
    const DiffReport report = compared(before, after, per_run());
    CHECK(report.events.front().whole->verdict == DiffVerdict::kUnsure);
    CHECK(report.events.front().scatter == DiffScatter::kBlocks);
  }

  TEST_CASE("cost: runs that cannot be compared say why") {
    const auto doubts_with = [](const auto& change) {
      Runs before = five(600, 1200);
      Runs after;
      for (int i = 0; i < 5; ++i) {
        SpkContent content = run_of(1200 + i, 2400 - i);
        change(content, i);
        after.add_content(content);
      }
      const DiffReport report = compared(before, after, per_run());
      const EventDiff& event = report.events.front();
      CHECK(event.doubts.empty() == (event.whole->verdict == DiffVerdict::kMore));
      CHECK(event.doubts.empty() == (event.whole->verdict != DiffVerdict::kDoubted));
      std::string all;
      for (const std::string& doubt : event.doubts) {
        all += doubt + "\n";
      }
      return all;
    };
    CHECK(doubts_with([](SpkContent&, int) {}).empty());
    CHECK(doubts_with([](SpkContent& content, int run) {
            if (run == 0) {
              content.losses = {{"recorder_lost_samples", LossKind::kRecorder, 40, 0}};
            }
          }) == "lost samples (40 in 1 of 10 runs)\n");
    // One sample of thousands is less than what can be seen.
    CHECK(doubts_with([](SpkContent& content, int) {
            content.losses = {{"recorder_lost_samples", LossKind::kRecorder, 1, 0}};
          }).empty());
    CHECK(doubts_with([](SpkContent& content, int) {
            content.losses = {{"throttle_events", LossKind::kNotice, 9, 0}};
          }) == "throttled sampling (45 in 5 of 10 runs)\n");
    CHECK(doubts_with([](SpkContent& content, int run) {
            content.tables.metadata = {{"cpu.count", run == 4 ? "2" : "4"}};
          }) == "different numbers of processors (2 in 1, 4 in 4 runs)\n");
    CHECK(doubts_with([](SpkContent& content, int run) {
            content.tables.processes.front().end_ns = run == 2 ? kUnknownTime : ~0ULL - 1;
          }) ==
          "recordings cut short (in 6 of 10 runs the program had not ended when the "
          "recording did)\n");
  }

  TEST_CASE("cost: frequency is seen where cycles and time are recorded") {
    const auto side = [](std::uint64_t cycles) {
      Runs runs;
      for (int i = 0; i < 3; ++i) {
        SpkContent content = run_of(600, 1200);
        content.events = {{"task-clock", true}, {"cycles", true}};
        const std::size_t samples = content.samples.size();
        for (std::size_t k = 0; k < samples; ++k) {
          StoredSample other = content.samples[k];
          other.event = 1;
          other.weight = cycles;
          content.samples.push_back(other);
        }
        std::stable_sort(content.samples.begin(), content.samples.end(),
                         [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
        runs.add_content(content);
      }
      return runs;
    };
    DiffOptions options = per_run();
    options.filter.events = {"task-clock"};
    const Runs fast = side(3 * kPeriod);
    const Runs slow = side(2 * kPeriod);
    const DiffReport report = compared(fast, slow, options);
    REQUIRE(report.events.front().doubts.size() == 1);
    CHECK(report.events.front().doubts.front() ==
          "different frequency (3.00 GHz before, 2.00 GHz now)");
    CHECK(compared(fast, fast, options).events.front().doubts.empty());
    options.filter.events = {"cycles"};
    CHECK(compared(fast, slow, options).events.front().doubts.empty());
  }

  TEST_CASE("cost: iterations that an event begins are runs of one file, and work of several") {
    const auto marked = [](int samples_each) {
      SpkContent content = run_of(20 * samples_each, 0);
      content.events = {{"cpu-clock", true}, {"probe:step", false}};
      std::vector<StoredSample> all;
      for (std::size_t i = 0; i < content.samples.size(); ++i) {
        if (i % static_cast<std::size_t>(samples_each) == 0) {
          StoredSample mark = content.samples[i];
          mark.event = 1;
          mark.weight = 1;
          all.push_back(mark);
        }
        all.push_back(content.samples[i]);
      }
      content.samples = all;
      return content;
    };
    DiffOptions options = per_run();
    options.runs_by = "probe:step";
    options.filter.events = {"cpu-clock"};
    Runs before;
    Runs after;
    before.add_content(marked(200));
    after.add_content(marked(300));
    const DiffReport one = compared(before, after, options);
    CHECK(one.events.front().work == "iteration");
    CHECK(one.events.front().old_side.runs == 20);
    CHECK(one.events.front().scatter == DiffScatter::kRuns);
    CHECK(one.events.front().whole->old_share == doctest::Approx(200.0 * kPeriod));
    CHECK(one.events.front().whole->new_share == doctest::Approx(300.0 * kPeriod));
    CHECK(one.events.front().whole->verdict == DiffVerdict::kMore);
    before.add_content(marked(200));
    after.add_content(marked(300));
    const DiffReport two = compared(before, after, options);
    CHECK(two.events.front().old_side.runs == 2);
    CHECK(two.events.front().old_side.work == 40);
    CHECK(two.events.front().whole->old_share == doctest::Approx(200.0 * kPeriod));
    options.runs_by = "nothing";
    CHECK_FALSE(compare_profiles(before.all(), after.all(), options).has_value());
  }

  TEST_CASE("cost: runs that vary as a whole give no alarm, and growth is found") {
    constexpr int kTrials = 400;
    for (const double runs_vary : {0.0, 0.01, 0.05}) {
      for (const std::size_t runs : {std::size_t{3}, std::size_t{5}, std::size_t{10}}) {
        CAPTURE(runs_vary);
        CAPTURE(runs);
        Tally same;
        Tally grown;
        for (int trial = 0; trial < kTrials; ++trial) {
          const auto seed = 1000 + static_cast<std::uint64_t>(trial);
          const Outcome outcome = outcome_of(seed, runs_vary, runs, 1);
          same.add(outcome);
          grown.add(outcome_of(seed, runs_vary, runs, 1 + 2 * outcome.least));
        }
        // 1 % are four; more than ten of a true 1 % come up once in hundreds of tests.
        CHECK(same.wholes <= 10);
        CHECK(same.rows <= 10);
        CHECK(grown.first >= 380);
      }
    }
  }
}

}  // namespace
}  // namespace stackpack::test
