#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/number_table.h"
#include "scratch/sorted_runs.h"
#include "spk/format/edge_blocks.h"
#include "stackpack/result.h"

namespace stackpack::spk {

/// Collects which edges there are, in bounded memory.
///
/// Edges collect in a hash; when that is full, they go to a scratch file as a sorted run, and the
/// runs are merged in the end. What comes out does not depend on the bound.
class EdgeCounter {
 public:
  /// `memory_bytes`: for the hash and for sorting what is in it; 0: no bound.
  EdgeCounter(std::string scratch_directory, std::uint64_t memory_bytes);

  /// Errors: kIo.
  Status add(std::uint32_t row, std::uint32_t child, bool first);

  /// No fewer than there are edges, and no more where all are in memory.
  [[nodiscard]] std::uint64_t most_edges() const { return edges_.size() + runs_.rows(); }

  /// All edges by row, then child. Once, after the last add().
  /// Errors: kIo, and whatever `visit` returns.
  Status for_each(const std::function<Status(const CountedEdge&)>& visit);

 private:
  std::vector<CountedEdge> take_sorted();

  // Edges and counts, twice while their arrays grow, the slots of the table, the edges as they are
  // sorted.
  static constexpr std::uint64_t kBytesPerEdge = 64;

  core::NumberTable<std::uint64_t> edges_;  // row in the high half, child in the low one
  std::vector<std::uint64_t> counts_;       // by number of the edge
  std::uint64_t most_edges_;
  scratch::SortedRuns<CountedEdge> runs_;
};

}  // namespace stackpack::spk
