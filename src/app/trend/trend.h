// What a program costs from commit to commit, and at which commits that changed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "app/trend/baseline_folder.h"
#include "diff/change_points.h"
#include "stackpack/diff.h"
#include "stackpack/result.h"

namespace stackpack::app {

struct TrendOptions {
  /// by: kFunction, kModule; unit: kRun, or kMeasure for shares; filter, frames, rate. The rest has
  /// no meaning here.
  DiffOptions compared;
  bool rows = true;    ///< functions or modules besides the whole
  bool total = false;  ///< a row's figure is that of it and what it calls, in place of itself
};

/// What something costs at one commit: of its runs.
struct TrendValue {
  double median = 0;
  double least = 0;
  double most = 0;
};

/// A level that changed at a commit.
struct TrendChange {
  diff::ChangePoint point;          ///< index: of TrendReport::commits
  std::vector<std::string> doubts;  ///< why the costs before and after it cannot be compared
};

struct TrendSeries {
  std::string name;  ///< empty: the whole
  std::string module;
  std::vector<TrendValue> values;  ///< by commit
  std::vector<TrendChange> changes;
  double p = 1;  ///< of its surest change
};

struct TrendCommit {
  std::string id;
  std::size_t runs = 0;
};

struct TrendReport {
  DiffUnit unit = DiffUnit::kRun;
  std::string event;
  std::string measure;                ///< what values are counted in; shares: "share"
  std::vector<TrendCommit> commits;   ///< those with samples of the event
  std::vector<std::string> left_out;  ///< commits without
  std::size_t runs_left_out = 0;      ///< runs without, of all commits
  std::size_t tests = 0;              ///< rows that were tested
  /// Rows that never had 0.1 % of the whole, or 5 samples a run: not tested, not here.
  std::size_t too_small = 0;
  double level = 0;                 ///< p values up to which a change of a row counts
  std::vector<TrendSeries> series;  ///< the whole first (costs alone), then rows: largest change
                                    ///< first, then by cost
};

/// Reads the files of all commits; what comes out does not depend on how many at a time.
///
/// The value of a commit is the median of its runs. Changes of the whole are those of
/// diff::change_points at `rate`; those of rows at the level of Benjamini and Hochberg's procedure
/// over the rows' surest changes.
/// Memory: a number for each run in which a row has samples, and as many files at a time as there
///         are processors, four at most, and one. Threads: those.
/// Errors: as compare_profiles; Error::part is the number of the file among those of all commits.
Result<TrendReport> trend_of(std::span<const BaselineCommit> commits, const TrendOptions& options);

}  // namespace stackpack::app
