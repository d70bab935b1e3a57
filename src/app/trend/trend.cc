#include "app/trend/trend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include "app/diff/event_pairing.h"
#include "app/diff/row_sums.h"
#include "app/diff/row_table.h"
#include "app/diff/run_trust.h"
#include "app/diff/side_profile.h"
#include "core/guard.h"
#include "core/sort_rows.h"
#include "core/string_table.h"
#include "core/task_line.h"
#include "diff/significance.h"
#include "stackpack/reader.h"

namespace stackpack::app {

namespace {

// Rows below that part of the whole at every commit are left out.
constexpr double kLeastShare = 0.001;
// And those that never had so many samples in half of a commit's runs: medians of fewer are 0 or 1
// for many commits, as if they did not scatter.
constexpr double kLeastSamples = 5;
// Files that are read at the same time.
constexpr unsigned kMostThreads = 4;

Error in_file(Error error, std::size_t file) {
  error.part = static_cast<std::uint32_t>(file);
  return error;
}

/// A figure of one run.
struct RunValue {
  std::uint32_t run = 0;
  double value = 0;
};

struct RowHistory {
  RowName name;
  std::vector<RunValue> values;  ///< of runs in which it has samples
};

/// Everything that is read of the files.
class TrendReading {
 public:
  TrendReading(std::span<const BaselineCommit> commits, const TrendOptions& options)
      : commits_(commits), options_(options) {}

  Status read() {
    if (const Status chosen = choose_event(); !chosen) {
      return chosen;
    }
    query_.options = options_.compared;
    query_.options.unit = event_.unit;
    query_.event_key = event_.key;
    query_.weighted = event_.weighted;
    query_.weight_decimals = event_.weight_decimals;
    return read_files();
  }

  [[nodiscard]] const PairedEvent& event() const { return event_; }
  [[nodiscard]] std::size_t runs() const { return wholes_.size(); }
  [[nodiscard]] const std::vector<double>& wholes() const { return wholes_; }
  [[nodiscard]] const std::vector<std::size_t>& commit_of_run() const { return commit_of_run_; }
  [[nodiscard]] const std::vector<RunFacts>& facts() const { return facts_; }
  [[nodiscard]] const std::vector<RowHistory>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<double>& samples() const { return samples_; }
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  // The event that the first and the last commit have in common: the preferred one.
  Status choose_event() {
    std::vector<std::unique_ptr<Reader>> open;
    std::vector<const Reader*> readers;
    const auto open_runs = [&](const BaselineCommit& commit, std::size_t first) -> Status {
      for (std::size_t i = 0; i < commit.runs.size(); ++i) {
        auto reader = Reader::open(commit.runs[i].path);
        if (!reader) {
          return in_file(reader.error(), first + i);
        }
        readers.push_back(reader->get());
        open.push_back(std::move(*reader));
      }
      return {};
    };
    std::size_t files = 0;
    for (const BaselineCommit& commit : commits_) {
      files += commit.runs.size();
    }
    if (const Status opened = open_runs(commits_.front(), 0); !opened) {
      return opened;
    }
    const std::size_t olds = readers.size();
    const std::size_t first = files - commits_.back().runs.size();
    if (const Status opened = open_runs(commits_.back(), first); !opened) {
      return opened;
    }
    const std::span<const Reader* const> all = readers;
    const auto events = pair_events(all.first(olds), all.subspan(olds), options_.compared);
    if (!events) {
      return events.error().part < olds || events.error().part == kMainPart
                 ? events.error()
                 : in_file(events.error(), first + events.error().part - olds);
    }
    if (events->common.empty()) {
      return Error{ErrorCode::kUsage, kNoOffset,
                   "no event has samples in the first and the last commit"};
    }
    event_ = events->common.front();
    return {};
  }

  /// A file that some thread reads.
  struct FileTask : core::TaskLine::Task {
    std::string path;
    SideProfile side;
  };

  // Files are read at the same time, and added in their order.
  Status read_files() {
    std::vector<std::pair<std::string, std::size_t>> files;  // path, and number of the commit
    for (std::size_t commit = 0; commit < commits_.size(); ++commit) {
      for (const BaselineRun& run : commits_[commit].runs) {
        files.emplace_back(run.path, commit);
      }
    }
    const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
    std::array<FileTask, kMostThreads + 1> tasks;
    core::TaskLine line(threads, [this](unsigned, core::TaskLine::Task& task) {
      return read_file(static_cast<FileTask&>(task));
    });
    const auto submit = [&](std::size_t file) {
      if (file < files.size()) {
        FileTask& task = tasks[file % (threads + 1)];
        task.path = files[file].first;
        line.submit(task);
      }
    };
    for (std::size_t file = 0; file <= threads; ++file) {
      submit(file);
    }
    for (std::size_t file = 0; file < files.size(); ++file) {
      FileTask& task = tasks[file % (threads + 1)];
      const Status read = line.collect(task, core::TaskLine::IfNotBegun::kRunHere);
      if (!read) {
        return in_file(read.error(), file);
      }
      add(task.side, files[file].second);
      submit(file + threads + 1);
    }
    return {};
  }

  Status read_file(FileTask& task) const {
    auto reader = Reader::open(task.path);
    if (!reader) {
      return reader.error();
    }
    const Reader* const file = reader->get();
    auto side = read_side({&file, 1}, query_);
    if (!side) {
      return side.error();
    }
    task.side = std::move(*side);
    return {};
  }

  void add(const SideProfile& side, std::size_t commit) {
    if (side.runs == 0) {
      ++left_out_;
      return;
    }
    commit_of_run_.push_back(commit);
    samples_.push_back(static_cast<double>(side.samples));
    facts_.push_back(side.facts.empty() ? RunFacts{} : side.facts.front());
    add_rows(side, query_.options);
  }

  void add_rows(const SideProfile& side, const DiffOptions& options) {
    // Rows of this file, and which of all they are.
    std::vector<std::uint32_t> row_of_entity;
    for (const query::FrameEntity& entity : side.entities) {
      RowName name = name_of_entity(entity, options.by);
      const std::uint32_t row = keys_.intern(name.name + '\0' + name.module + '\0' + name.place);
      if (row == rows_.size()) {
        rows_.push_back({std::move(name), {}});
      }
      row_of_entity.push_back(row);
    }
    std::vector<std::uint32_t> rows(side.tree.node_count(), RowTable::kNoRow);
    for (std::uint32_t node = 1; node < rows.size(); ++node) {
      rows[node] = row_of_entity[side.tree.location(node)];
    }
    const auto run = static_cast<std::uint32_t>(wholes_.size());
    const SideSums sums = sum_rows(side, rows, rows_.size(), {options, {}, 1});
    const double whole = sums.count / sums.scale;
    wholes_.push_back(whole);
    const double unit = event_.unit == DiffUnit::kRun ? sums.scale : sums.count;
    const std::vector<double>& figures = options_.total ? sums.total : sums.self;
    for (std::uint32_t row = 0; row < rows_.size() && options_.rows; ++row) {
      if (figures[row] > 0) {
        rows_[row].values.push_back({run, figures[row] / unit});
      }
    }
  }

  std::span<const BaselineCommit> commits_;
  const TrendOptions& options_;
  PairedEvent event_;
  ProfileQuery query_;  // of each file
  core::StringTable keys_;
  std::vector<RowHistory> rows_;
  std::vector<double> wholes_;              // by run
  std::vector<std::size_t> commit_of_run_;  // by run
  std::vector<double> samples_;             // by run
  std::vector<RunFacts> facts_;             // by run
  std::size_t left_out_ = 0;
};

TrendValue value_of_runs(std::vector<double>& runs) {
  std::sort(runs.begin(), runs.end());
  const std::size_t half = runs.size() / 2;
  const double median = runs.size() % 2 == 1 ? runs[half] : (runs[half - 1] + runs[half]) / 2;
  return {median, runs.front(), runs.back()};
}

std::vector<double> medians_of(const TrendSeries& series) {
  std::vector<double> medians;
  medians.reserve(series.values.size());
  for (const TrendValue& value : series.values) {
    medians.push_back(value.median);
  }
  return medians;
}

/// The report of what was read.
class TrendJudgement {
 public:
  TrendJudgement(std::span<const BaselineCommit> commits, const TrendReading& reading,
                 const TrendOptions& options)
      : reading_(reading), options_(options) {
    report_.unit = reading.event().unit;
    report_.event = reading.event().name;
    report_.measure = report_.unit == DiffUnit::kRun ? reading.event().measure : "share";
    report_.runs_left_out = reading.left_out();
    std::vector<std::size_t> runs(commits.size());
    for (const std::size_t commit : reading.commit_of_run()) {
      ++runs[commit];
    }
    std::size_t first = 0;
    for (std::size_t i = 0; i < commits.size(); ++i) {
      if (runs[i] == 0) {
        report_.left_out.push_back(commits[i].id);
        continue;
      }
      report_.commits.push_back({commits[i].id, runs[i]});
      first_run_.push_back(first);
      first += runs[i];
    }
    first_run_.push_back(first);
  }

  TrendReport make() {
    if (report_.unit == DiffUnit::kRun) {
      TrendSeries whole;
      whole.values = values_of(reading_.wholes());
      find_changes(whole, options_.compared.rate);
      report_.series.push_back(std::move(whole));
    }
    add_rows();
    return std::move(report_);
  }

 private:
  // `values`: by run.
  [[nodiscard]] std::vector<TrendValue> values_of(const std::vector<double>& values) const {
    std::vector<TrendValue> result;
    std::vector<double> runs;
    for (std::size_t i = 0; i + 1 < first_run_.size(); ++i) {
      runs.assign(values.begin() + static_cast<std::ptrdiff_t>(first_run_[i]),
                  values.begin() + static_cast<std::ptrdiff_t>(first_run_[i + 1]));
      result.push_back(value_of_runs(runs));
    }
    return result;
  }

  // Whether it ever had a part of the whole that counts, and samples enough for a commit.
  [[nodiscard]] bool is_large(const RowHistory& row) const {
    const bool costs = report_.unit == DiffUnit::kRun;
    std::vector<double> samples(reading_.runs());
    double most = 0;
    for (const RunValue& value : row.values) {
      const double share = costs ? value.value / reading_.wholes()[value.run] : value.value;
      samples[value.run] = share * reading_.samples()[value.run];
      most = std::max(most, share);
    }
    const std::vector<TrendValue> commits = values_of(samples);
    return most >= kLeastShare &&
           std::any_of(commits.begin(), commits.end(), [](const TrendValue& commit) {
             return std::round(commit.median) >= kLeastSamples;
           });
  }

  void add_rows() {
    std::vector<TrendSeries> rows;
    std::vector<diff::TestedValue> tests;
    for (const RowHistory& row : reading_.rows()) {
      if (row.values.empty()) {
        continue;
      }
      if (!is_large(row)) {
        ++report_.too_small;
        continue;
      }
      std::vector<double> values(reading_.runs());
      for (const RunValue& value : row.values) {
        values[value.run] = value.value;
      }
      TrendSeries series{row.name.name, row.name.module, values_of(values), {}, 1};
      const std::vector<double> medians = medians_of(series);
      const auto change = diff::surest_level(medians);
      series.p = change ? change->p : 1;
      tests.push_back({series.p, 0});
      rows.push_back(std::move(series));
    }
    if (tests.empty()) {
      return;
    }
    const diff::Discoveries found = diff::discoveries_of(tests, options_.compared.rate);
    report_.tests = found.tests;
    report_.level = found.level;
    for (TrendSeries& row : rows) {
      find_changes(row, found.level);
    }
    core::sort_rows(
        rows, [](const TrendSeries& a, const TrendSeries& b) { return order_of(a) < order_of(b); });
    std::move(rows.begin(), rows.end(), std::back_inserter(report_.series));
  }

  static std::tuple<double, double, const std::string&, const std::string&> order_of(
      const TrendSeries& series) {
    double change = 0;
    for (const TrendChange& each : series.changes) {
      change = std::max(change, std::abs(each.point.after - each.point.before));
    }
    return {-change, -series.values.back().median, series.name, series.module};
  }

  void find_changes(TrendSeries& series, double level) const {
    const std::vector<double> medians = medians_of(series);
    if (const auto surest = diff::surest_level(medians)) {
      series.p = surest->p;
    }
    const std::vector<diff::ChangePoint> points = diff::change_points(medians, level);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t begin = i == 0 ? 0 : points[i - 1].index;
      const std::size_t end = i + 1 == points.size() ? report_.commits.size() : points[i + 1].index;
      series.changes.push_back({points[i], doubts_between(begin, points[i].index, end)});
    }
  }

  // Of the runs of commits begin .. middle and middle .. end.
  [[nodiscard]] std::vector<std::string> doubts_between(std::size_t begin, std::size_t middle,
                                                        std::size_t end) const {
    if (report_.unit != DiffUnit::kRun) {
      return {};
    }
    const std::span<const RunFacts> all = reading_.facts();
    const auto runs = [&](std::size_t from, std::size_t to) {
      return all.subspan(first_run_[from], first_run_[to] - first_run_[from]);
    };
    return doubts_of(runs(begin, middle), runs(middle, end),
                     report_.measure == "ns" || report_.measure == "samples");
  }

  const TrendReading& reading_;
  const TrendOptions& options_;
  TrendReport report_;
  std::vector<std::size_t> first_run_;  // by commit of the report, and the end
};

}  // namespace

Result<TrendReport> trend_of(std::span<const BaselineCommit> commits, const TrendOptions& options) {
  return core::guarded([&]() -> Result<TrendReport> {
    if (commits.empty()) {
      return Error{ErrorCode::kUsage, kNoOffset, "there are no baselines to look at"};
    }
    TrendReading reading(commits, options);
    if (const Status read = reading.read(); !read) {
      return read.error();
    }
    if (reading.runs() == 0) {
      return Error{ErrorCode::kUsage, kNoOffset, "no file has selected samples of the event"};
    }
    return TrendJudgement(commits, reading, options).make();
  });
}

}  // namespace stackpack::app
