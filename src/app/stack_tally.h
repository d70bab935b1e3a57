#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dag/frozen_dag.h"
#include "stackpack/model.h"
#include "stackpack/stats.h"

namespace stackpack::app {

/// Counts samples and callstacks for the summary of a file.
///
/// Memory: 6 bytes per callstack, a bit per callstack and per distinct frame.
class StackTally {
 public:
  explicit StackTally(std::size_t event_count) : samples_of_event_(event_count) {}

  /// Takes depth and leaf of every callstack; call once, before the first add.
  void learn_stacks(const dag::FrozenDag& dag);

  void add(const StoredSample& sample);

  /// Fills in the parts about samples, callstacks and events (their counts, not their names).
  void report(Statistics& statistics) const;

 private:
  std::vector<std::uint32_t> leaf_of_;
  std::vector<std::uint16_t> depth_of_;
  std::vector<bool> recorded_;
  std::size_t distinct_frames_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t by_origin_[3] = {0, 0, 0};
  std::uint64_t empty_chains_ = 0;
  std::uint64_t stack_dump_only_ = 0;
  std::uint64_t raw_frames_ = 0;
  std::vector<std::uint64_t> samples_of_event_;
};

}  // namespace stackpack::app
