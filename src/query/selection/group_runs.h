#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "query/selection/group.h"

namespace stackpack::query {

/// Groups that a table has no room for: packed, in runs that are ordered by key each. Mostly they
/// take 3 to 8 bytes each, where a table needs 48.
///
/// A key may be in many runs; when the runs are read, its groups are added up.
class GroupRuns {
 public:
  /// `limit_bytes`: what is kept at once, at least kLeastBytes.
  explicit GroupRuns(std::size_t limit_bytes);
  GroupRuns(const GroupRuns&) = delete;
  GroupRuns& operator=(const GroupRuns&) = delete;
  ~GroupRuns();

  /// Adds groups, ascending by key and each key once. Where that is too much, the runs become one;
  /// where that is too much still, its upper part is thrown out. Result: the lowest key that was.
  std::optional<GroupKey> add(std::span<const Group> groups);

  /// Takes the first groups by key out, up to `most`, complete and ascending. False: there are
  /// none. No group is added from then on, until clear().
  bool take(std::size_t most, std::vector<Group>& groups);

  void clear();
  [[nodiscard]] bool empty() const { return runs_.empty(); }

  static constexpr std::size_t kLeastBytes = 4096;

 private:
  struct Chunk;
  class Merge;
  using Run = std::vector<Chunk>;

  void append(Run& run, std::span<const Group> groups);
  void make_one();
  std::optional<GroupKey> throw_out_upper_part();

  std::size_t limit_bytes_;
  std::size_t bytes_ = 0;  // of all runs
  std::vector<Run> runs_;
  std::unique_ptr<Merge> merge_;  // while groups are taken out
};

}  // namespace stackpack::query
