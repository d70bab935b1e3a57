#include "app/trend/trend.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/trend/baseline_folder.h"
#include "support/profile_runs.h"
#include "support/spk_file_maker.h"
#include "support/temporary_folder.h"

namespace stackpack::test {
namespace {

constexpr std::uint64_t kPeriod = 250'000;

std::string written(const ScratchDirectory& folder, const std::string& name,
                    const SpkContent& content) {
  std::string path = folder.file(name);
  REQUIRE(write_spk(content, {}, path).has_value());
  return path;
}

// `parse` and `serve` in a program that spends the rest in `main`; the seed is the run.
std::string run_of(const ScratchDirectory& folder, int parse, int serve, std::uint64_t seed) {
  return written(
      folder, "run.spk",
      content_of({{{"main", "parse"}, parse}, {{"main", "serve"}, serve}, {{"main"}, 40}}, seed,
                 kPeriod));
}

std::string commit_name(int number) {
  return "c" + std::to_string(number);
}

}  // namespace

TEST_CASE("baselines: adding is repeatable, and commits keep their order") {
  const ScratchDirectory folder;
  const std::string base = folder.file("base");
  const std::string run = run_of(folder, 100, 100, 1);
  CHECK(*app::add_baseline(base, "b-2", run) == app::BaselineAddition::kAdded);
  CHECK(*app::add_baseline(base, "a1", run) == app::BaselineAddition::kAdded);
  CHECK(*app::add_baseline(base, "b-2", run) == app::BaselineAddition::kAlreadyThere);
  CHECK(*app::add_baseline(base, "b-2", run_of(folder, 101, 100, 2)) ==
        app::BaselineAddition::kAdded);
  const auto commits = app::read_baselines(base);
  REQUIRE(commits.has_value());
  REQUIRE(commits->size() == 2);
  CHECK((*commits)[0].id == "b-2");
  CHECK((*commits)[0].runs.size() == 2);
  CHECK((*commits)[1].id == "a1");
  CHECK((*commits)[1].number == 2);
  CHECK(app::latest_runs(*commits, 1).size() == 1);
  CHECK(app::latest_runs(*commits, 0).size() == 3);
  CHECK_FALSE(app::add_baseline(base, "c", base).has_value());
}

TEST_CASE("baselines: prune removes what was added, and nothing else") {
  const ScratchDirectory folder;
  const std::string base = folder.file("base");
  for (int i = 1; i <= 4; ++i) {
    const std::string run = run_of(folder, 100 + i, 100, static_cast<std::uint64_t>(i));
    REQUIRE(app::add_baseline(base, commit_name(i), run).has_value());
  }
  const auto commits = app::read_baselines(base);
  std::ofstream((*commits)[0].runs[0].path, std::ios::app) << "changed";
  std::ofstream(base + "/notes.spk") << "mine";
  std::ofstream(base + "/000001-mine.spk") << "mine";
  const auto pruned = app::prune_baselines(base, 2);
  REQUIRE(pruned.has_value());
  CHECK(pruned->removed == std::vector<std::string>{(*commits)[1].runs[0].path});
  CHECK(pruned->kept == std::vector<std::string>{(*commits)[0].runs[0].path});
  CHECK(std::filesystem::exists(base + "/notes.spk"));
  CHECK(std::filesystem::exists(base + "/000001-mine.spk"));
  CHECK(app::read_baselines(base)->size() == 3);
}

TEST_CASE("baselines: what a commit may be called") {
  CHECK(app::is_commit_id("v1.2-rc_3+x"));
  CHECK_FALSE(app::is_commit_id(""));
  CHECK_FALSE(app::is_commit_id("../x"));
  CHECK_FALSE(app::is_commit_id("a b"));
  CHECK_FALSE(app::is_commit_id(std::string(101, 'a')));
}

TEST_CASE("trend: the commit at which a function became slower") {
  const ScratchDirectory folder;
  const std::string base = folder.file("base");
  for (int i = 0; i < 16; ++i) {
    for (int run = 0; run < 3; ++run) {
      const int noise = (i * 7 + run * 11) % 9 - 4;
      const int parse = (i < 10 ? 200 : 260) + noise;
      const auto seed = static_cast<std::uint64_t>(i) * 3 + static_cast<std::uint64_t>(run) + 1;
      const std::string file = run_of(folder, parse, 400 - noise, seed);
      REQUIRE(app::add_baseline(base, commit_name(i), file).has_value());
    }
  }
  const auto commits = app::read_baselines(base);
  app::TrendOptions options;
  options.compared.unit = DiffUnit::kRun;
  const auto report = app::trend_of(*commits, options);
  REQUIRE(report.has_value());
  CHECK(report->measure == "ns");
  REQUIRE(report->commits.size() == 16);
  CHECK(report->commits[3].runs == 3);
  const app::TrendSeries& whole = report->series[0];
  REQUIRE(whole.changes.size() == 1);
  CHECK(report->commits[whole.changes[0].point.index].id == "c10");
  const app::TrendSeries& parse = report->series[1];
  CHECK(parse.name == "parse");
  REQUIRE(parse.changes.size() == 1);
  CHECK(parse.changes[0].point.index == 10);
  CHECK(parse.changes[0].point.before == doctest::Approx(200 * 250e3).epsilon(0.02));
  CHECK(parse.changes[0].point.after == doctest::Approx(260 * 250e3).epsilon(0.02));
  CHECK(parse.changes[0].doubts.empty());
  for (std::size_t i = 2; i < report->series.size(); ++i) {
    CHECK(report->series[i].changes.empty());
  }

  options.total = true;
  options.compared.unit = DiffUnit::kMeasure;
  const auto shares = app::trend_of(*commits, options);
  REQUIRE(shares.has_value());
  CHECK(shares->measure == "share");
  CHECK(shares->series.front().name == "parse");
  CHECK(shares->series.front().values.front().median == doctest::Approx(200.0 / 640).epsilon(0.05));
}

TEST_CASE("trend: medians and ends are of a commit's own runs, however many it has") {
  const ScratchDirectory folder;
  const std::string base = folder.file("base");
  const std::vector<std::vector<int>> runs = {{100}, {90, 130, 100, 110}, {300, 200}, {50, 70, 60}};
  std::uint64_t seed = 0;
  for (std::size_t commit = 0; commit < runs.size(); ++commit) {
    for (const int parse : runs[commit]) {
      const std::string file = run_of(folder, parse, 400, ++seed);
      REQUIRE(app::add_baseline(base, commit_name(static_cast<int>(commit)), file).has_value());
    }
  }
  app::TrendOptions options;
  options.compared.unit = DiffUnit::kRun;
  const auto report = app::trend_of(*app::read_baselines(base), options);
  REQUIRE(report.has_value());
  REQUIRE(report->commits.size() == runs.size());
  const auto series_of = [&](const std::string& name) {
    return std::find_if(report->series.begin(), report->series.end(),
                        [&](const app::TrendSeries& series) { return series.name == name; });
  };
  const auto parse = series_of("parse");
  REQUIRE(parse != report->series.end());
  const std::vector<std::vector<double>> expected = {
      {100, 100, 100}, {105, 90, 130}, {250, 200, 300}, {60, 50, 70}};
  for (std::size_t commit = 0; commit < runs.size(); ++commit) {
    CHECK(report->commits[commit].id == commit_name(static_cast<int>(commit)));
    CHECK(report->commits[commit].runs == runs[commit].size());
    const app::TrendValue& value = parse->values[commit];
    CHECK(value.median == doctest::Approx(expected[commit][0] * kPeriod));
    CHECK(value.least == doctest::Approx(expected[commit][1] * kPeriod));
    CHECK(value.most == doctest::Approx(expected[commit][2] * kPeriod));
    CHECK(report->series[0].values[commit].median ==
          doctest::Approx((expected[commit][0] + 440) * kPeriod));
  }
}

TEST_CASE("trend: a change is in doubt by runs on its two sides, not by others") {
  const ScratchDirectory folder;
  const std::string base = folder.file("base");
  constexpr int kStep = 12;
  for (int i = 0; i < 3 * kStep; ++i) {
    SpkContent content = content_of({{{"main", "parse"},
                                      i < kStep       ? 200
                                      : i < 2 * kStep ? 400
                                                      : 800},
                                     {{"main"}, 40 + i % 3}},
                                    static_cast<std::uint64_t>(i) + 1, kPeriod);
    if (i == kStep - 1) {
      content.losses = {{"recorder_lost_samples", LossKind::kRecorder, 1'000, 0}};
    }
    REQUIRE(app::add_baseline(base, commit_name(i), written(folder, "run.spk", content)));
  }
  app::TrendOptions options;
  options.compared.unit = DiffUnit::kRun;
  const auto report = app::trend_of(*app::read_baselines(base), options);
  REQUIRE(report.has_value());
  const auto& changes = report->series[0].changes;
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].point.index == kStep);
  CHECK(changes[1].point.index == 2 * kStep);
  CHECK_FALSE(changes[0].doubts.empty());
  CHECK(changes[1].doubts.empty());
}

TEST_CASE("trend: a folder without commits, and a file that is bad") {
  CHECK(app::trend_of({}, {}).error().code == ErrorCode::kUsage);
  std::vector<app::BaselineCommit> commits(2);
  commits[0].runs.push_back({"/nowhere/a.spk", "", 0});
  commits[1].runs.push_back({"/nowhere/b.spk", "", 0});
  const auto report = app::trend_of(commits, {});
  REQUIRE_FALSE(report.has_value());
  CHECK(report.error().code == ErrorCode::kNotFound);
  CHECK(report.error().part == 0);
}

TEST_CASE("trend: a row of a sample a run is not looked at, however steady it looks") {
  const ScratchDirectory folder;
  const std::string base = folder.file("base");
  for (int i = 0; i < 16; ++i) {
    std::vector<FunctionSamples> rows = {{{"main"}, 400 + i % 3}};
    if (i >= 8) {
      rows.push_back({{"main", "rare"}, 4});
      rows.push_back({{"main", "seldom"}, 5});
    }
    const std::string file =
        written(folder, "run.spk", content_of(rows, static_cast<std::uint64_t>(i) + 1, kPeriod));
    REQUIRE(app::add_baseline(base, commit_name(i), file).has_value());
  }
  for (const DiffUnit unit : {DiffUnit::kRun, DiffUnit::kMeasure}) {
    app::TrendOptions options;
    options.compared.unit = unit;
    const auto report = app::trend_of(*app::read_baselines(base), options);
    REQUIRE(report.has_value());
    CHECK(report->too_small == 1);
    const auto seldom = std::find_if(report->series.begin(), report->series.end(),
                                     [](const auto& row) { return row.name == "seldom"; });
    REQUIRE(seldom != report->series.end());
    CHECK(seldom->changes.size() == 1);
  }
}

TEST_CASE("trend: of files that are read at the same time, the first bad one is named") {
  const ScratchDirectory folder;
  const std::string base = folder.file("base");
  for (int i = 0; i < 12; ++i) {
    const std::string file = run_of(folder, 200, 400, static_cast<std::uint64_t>(i) + 1);
    REQUIRE(app::add_baseline(base, commit_name(i), file).has_value());
  }
  const auto commits = app::read_baselines(base);
  for (const std::size_t bad : {9U, 6U, 7U}) {
    std::filesystem::resize_file((*commits)[bad].runs[0].path, 100);
  }
  const auto report = app::trend_of(*commits, {});
  REQUIRE_FALSE(report.has_value());
  CHECK(report.error().part == 6);
}

}  // namespace stackpack::test
