#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/convert/memory_plan.h"
#include "app/convert/pending_table.h"
#include "dag/builder.h"
#include "dag/segment_merge.h"
#include "dag/segment_spill.h"
#include "scratch/spill_pages.h"
#include "spk/write/branch_writer.h"
#include "spk/write/dag_node.h"
#include "spk/write/writer.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// All callstacks of a capture in canonical order, once nothing is added any more: either the DAG
/// of one builder, in memory, or the merged segments of several, in scratch files.
class PackedStacks {
 public:
  /// Takes over the only DAG there is.
  static std::unique_ptr<PackedStacks> of_builder(dag::Builder::Frozen frozen);

  /// Merges the segments of `spill`, which must outlive this.
  /// Memory: plan.id_bytes for the buffers of the merge and afterwards for the ids of nodes;
  ///         plan.table_bytes for the frame indices of SegmentMerge::run().
  /// Errors: those of SegmentMerge::run().
  static Result<std::unique_ptr<PackedStacks>> of_segments(const dag::SegmentSpill& spill,
                                                           const std::string& scratch_directory,
                                                           const MemoryPlan& plan);

  /// Writes the callstacks of a file.
  Status write(spk::Writer& writer) const { return write_to(writer); }
  /// The same as branch stacks, whose entries were added before.
  Status write(spk::BranchStackWriter& writer) const { return write_to(writer); }

  /// The id of the callstack that ends at a node where one does. Errors: kIo.
  Result<StackId> id_of(const NodeRef& stack) {
    if (ids_.has_value()) {
      return ids_->get<StackId>(merge_->stack_of_node_offset(stack.segment) +
                                std::uint64_t{stack.node} * sizeof(StackId));
    }
    return frozen_.stack_of_node[stack.node];
  }

  /// Fetches what id_of() will look at; changes nothing.
  void prefetch_id_of(const NodeRef& stack) const {
    if (stack.node < frozen_.stack_of_node.size()) {
      __builtin_prefetch(frozen_.stack_of_node.data() + stack.node);
    }
  }

  /// Visits every distinct frame once, ascending, in blocks. The span is valid during the visit.
  /// Errors: kIo, and whatever `visit` returns.
  Status for_each_frame_block(const std::function<Status(std::span<const Frame>)>& visit) const;

  /// Visits all nodes in canonical order, in blocks. The span is valid during the visit.
  /// Errors: kIo, and whatever `visit` returns.
  Status for_each_block(const std::function<Status(std::span<const spk::DagNode>)>& visit) const;

 private:
  PackedStacks() = default;
  template <typename Writer>
  Status write_to(Writer& writer) const;

  dag::Builder::Frozen frozen_;
  std::unique_ptr<dag::SegmentMerge> merge_;  // null: frozen_ is all
  std::optional<scratch::SpillPages> ids_;    // of merge_
};

}  // namespace stackpack::app
