// The samples of one side of a comparison, by callstack of functions.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "app/diff/run_trust.h"
#include "query/event_groups.h"
#include "query/naming/frame_entities.h"
#include "query/naming/stack_tree.h"
#include "stackpack/diff.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// What samples of one stretch of time count for: a run, or a block of one.
struct ProfileUnit {
  std::vector<std::uint32_t> nodes;  ///< of the tree; the root: samples without a callstack
  std::vector<std::uint64_t> values;
  std::uint64_t samples = 0;
  double value = 0;    ///< of all samples
  double squares = 0;  ///< sum of the squares of what each sample counts for
  double seconds = 0;
  double work = 0;  ///< units of work done
};

/// One side: callstacks are paths of entities in a tree, samples belong to units.
struct SideProfile {
  std::vector<query::FrameEntity> entities;
  query::StackTree tree;  // locations: numbers of entities
  std::vector<ProfileUnit> units;
  std::size_t runs = 0;           ///< with selected samples
  std::size_t runs_left_out = 0;  ///< without
  std::uint64_t samples = 0;
  IdleLeftOut idle;
  double seconds = 0;
  bool has_times = true;
  unsigned decimals = 0;  ///< digits of values behind the point
  /// By diff::identity_of_module of an image with code in callstacks or without: its build ids.
  std::map<std::string, std::set<std::string>> build_ids;
  std::vector<RunFacts> facts;  ///< by run, with DiffUnit::kRun
};

/// What of files is read into a profile.
struct ProfileQuery {
  DiffOptions options;    ///< unit: never kMeasure
  std::string event_key;  ///< of the group
  /// Units are that many stretches of a run, of the same length each, also those without samples;
  /// 0: units are runs.
  std::size_t blocks = 0;
  bool weighted = false;         ///< samples count for their weights
  unsigned weight_decimals = 0;  ///< digits of weights behind the point, the most of all files
  /// By file of the side: units of work done. Empty: 1 each.
  std::vector<double> work;
  bool iterations_are_runs = false;  ///< those of DiffOptions::runs_by; else they are work
};

/// What a file has of the events that a comparison may be about.
struct ComparedEvents {
  std::vector<query::EventGroup> groups;  ///< in the order in which a report takes them
  bool aggregated = false;
  std::vector<std::string> units;  ///< by group: what its weights are counted in
};
/// A file that has none of the events named has no groups.
Result<ComparedEvents> compared_events(const Reader& reader, const DiffOptions& options);

/// How many stretches a comparison of two runs takes: of one second, but not too few or too many.
/// 0: the runs have no times.
Result<std::size_t> block_count(const Reader& before, const Reader& after);

/// Reads the files of a side. A file without selected samples of the event is no run of it.
/// Memory: see compare_profiles. Errors: likewise.
Result<SideProfile> read_side(std::span<const Reader* const> files, const ProfileQuery& query);

}  // namespace stackpack::app
