#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/convert/memory_plan.h"
#include "app/convert/packed_stacks.h"
#include "app/convert/pending_table.h"
#include "dag/builder.h"
#include "dag/segment_spill.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::app {

/// Interns stacks within a bound of memory.
///
/// When the builder has no room left, its DAG becomes a segment on disk and the builder begins
/// anew; in the end the segments are merged. What comes out is the same as without a limit.
class StackInterner {
 public:
  StackInterner(std::string scratch_directory, const dag::Builder::Options& options);

  /// Where these stacks end, in their order, into `nodes` (replaced). They are good to the end,
  /// whatever the builder does in between.
  Status intern(std::span<const dag::Builder::Arrival> stacks, std::vector<NodeRef>& nodes);

  /// Fills in the builder's figures; before pack().
  void report(Statistics& statistics) const;

  /// Parts so far: those on disk, and that of the builder.
  [[nodiscard]] std::uint64_t segments() const { return segments_.segments().size() + 1; }

  /// All stacks. Once, after the last one; the builder is gone then. This must outlive the result.
  Result<std::unique_ptr<PackedStacks>> pack(const MemoryPlan& plan);

 private:
  Status close_segment();

  std::string scratch_directory_;
  std::unique_ptr<dag::Builder> builder_;
  std::vector<dag::NodeIndex> nodes_;
  std::uint64_t map_bytes_ = 0;  // the most that a builder's map had
  dag::SegmentSpill segments_;
};

}  // namespace stackpack::app
