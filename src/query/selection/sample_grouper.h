#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/index_table.h"
#include "query/selection/group.h"
#include "query/selection/group_runs.h"
#include "query/selection/sample_selection.h"

namespace stackpack::query {

/// Which members of the key matter; the others are 0 in every group, and the callstack kNoStack.
struct GroupBy {
  bool event = false;
  bool context = false;
  bool track = false;
  bool weight = true;  ///< false: nobody asks for weights, which may be 0
  bool stack = true;
  /// Whether threads get their numbers, in the order of the file, though `track` does not matter:
  /// for who asks for them later. False: less memory where there are very many.
  bool numbers_tracks = true;
};

/// Adds samples up by group, with bounded memory, in as many passes over the samples as it takes.
///
/// A pass collects groups in a hash table. When the table is full, its groups are packed as a run,
/// and in the end the runs are added up. Of runs beyond their limit the upper part (by key) is
/// thrown out, and the pass goes on for the lower part alone: the lowest key thrown out is where
/// the next pass begins. So every group is complete when it is handed out, and one pass is enough
/// for some four times the groups of a table. A callstack has many samples, most of them in one
/// group: where its latest one is stands in an array, and only those of others are looked for in
/// the table.
class SampleGrouper {
 public:
  /// `limit`: groups held at once, at least 2.
  SampleGrouper(SampleSelection& selection, GroupBy by, std::size_t limit);

  /// All groups, ascending by key, in blocks of up to limit(). An error from `visit` ends it.
  Status for_each(const std::function<Status(std::span<const Group>)>& visit);

  /// While a block is visited: where the group of a sample is in it, if it is there.
  [[nodiscard]] std::optional<std::size_t> find(const SelectedSample& sample);

  /// The key under which a sample is counted.
  [[nodiscard]] GroupKey key_of(const SelectedSample& sample) const;

  [[nodiscard]] std::size_t limit() const { return limit_; }
  [[nodiscard]] std::size_t passes() const { return passes_; }

  /// Bytes that one group takes in the table, for choosing a limit. Runs take half of that for each
  /// of `limit`, once there are more groups.
  static constexpr std::size_t kBytesPerGroup = sizeof(Group) + 4 * sizeof(std::uint32_t);

  /// Bytes besides for each callstack of the file, of those that have no more than `limit`.
  static constexpr std::size_t kBytesPerStack = sizeof(std::uint32_t);

 private:
  Status collect(const GroupKey& from);
  Status hand_out(const std::function<Status(std::span<const Group>)>& visit);
  void add(const GroupKey& key, const SummedSample& sample);
  [[nodiscard]] GroupKey key_of(const SummedSample& sample) const;
  void prefetch(std::span<const SummedSample> block, std::size_t at) const;
  void forget_numbers();
  void sort_groups();
  void pack_groups();
  void index_groups();

  SampleSelection& selection_;
  GroupBy by_;
  std::size_t limit_;
  std::size_t passes_ = 0;
  std::vector<Group> groups_;
  core::IndexTable index_;             // of groups_; of those that are visited if indexed_
  std::vector<std::uint32_t> latest_;  // by callstack: its latest group; or none are kept
  GroupRuns runs_;                     // groups that the table had no room for
  GroupKey end_;                       // keys from here on are left to a later pass
  bool has_end_ = false;
  bool indexed_ = false;
};

}  // namespace stackpack::query
