#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scratch/sorted_runs.h"
#include "spk/format/edge_blocks.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Collects which edges there are, in bounded memory.
///
/// Edges collect as they come; when there are many, they are sorted and added to those that were
/// counted before. When these are many, they go to a scratch file as a sorted run, and the runs are
/// merged in the end. What comes out does not depend on the bound.
class EdgeCounter {
 public:
  /// `memory_bytes`: for all edges in memory and for sorting them; 0: no bound.
  EdgeCounter(std::string scratch_directory, std::uint64_t memory_bytes);

  /// Row and child: at most kMaxFrames. Errors: kIo.
  Status add(std::uint32_t row, std::uint32_t child, bool first);

  /// No fewer than there are edges, and no more where all are in memory.
  [[nodiscard]] std::uint64_t most_edges();

  /// All edges by row, then child. Once, after the last add().
  /// Errors: kIo, and whatever `visit` returns.
  Status for_each(const std::function<Status(const CountedEdge&)>& visit);

 private:
  void count_arrived();

  std::vector<std::uint64_t> arrived_;  // row, child, whether it is the first child
  std::vector<CountedEdge> counted_;    // by row, then child
  std::size_t most_arrived_;
  std::size_t most_counted_;
  scratch::SortedRuns<CountedEdge> runs_;
};

}  // namespace stackpack::spk
