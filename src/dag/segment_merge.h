// Several segments become one DAG.
//
// Each segment is a stream of nodes in canonical order. To merge them one need not know their
// paths: the depth and the frame of the node at the head of each stream decide.
//
//   Let P be the path of the node that was merged last. The parent of a head was merged before, so
//   it is not after P; the head itself is after P; and between a parent and its child stand only
//   paths that begin with the parent's. So every head's parent is a prefix of P. Of two heads the
//   deeper one therefore shares more with P and comes first, and of heads of equal depth, which
//   have the same parent, the one with the smaller frame; heads equal in both are the same node.
//
// So the memory is one buffer per segment, whatever the depth. The merged nodes, their frames
// replaced by indices in the merged dictionary, are written to scratch once and can then be read
// any number of times. Beside them: for every segment, what became of its stack ids and of the
// nodes of its builder.
//
// Frames are compared by their indices in the merged dictionary. The dictionaries are merged first,
// from sorted stream to sorted stream; what becomes of each index of each segment, which are
// ascending numbers, is kept as such (ascending_lists.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dag/segment_spill.h"
#include "io/spill_file.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::dag {

class AscendingLists;

/// A node of the merged DAG, in canonical order as in FrozenDag.
struct MergedNode {
  std::uint32_t frame = 0;  ///< index in the merged dictionary
  std::uint16_t depth = 0;  ///< 1 = child of the root
  bool ends_stack = false;

  friend bool operator==(const MergedNode&, const MergedNode&) = default;
};

class SegmentMerge {
 public:
  struct Options {
    std::string directory;  ///< for scratch
    /// For the buffers of all segments together; each gets at least 4 KiB.
    std::uint64_t buffer_bytes = std::uint64_t{4} << 20;
    /// For what becomes of the segments' frame indices, during run(): 4 bytes per distinct frame of
    /// every segment, a few bits where that is more than the budget, on disk beyond it.
    std::uint64_t index_bytes = std::uint64_t{64} << 20;
  };

  /// `spill` must outlive the merge and not change.
  SegmentMerge(const SegmentSpill& spill, const Options& options);

  /// Does the merging; once, before everything else.
  /// Memory: the buffers and 4 KiB more per segment; options.index_bytes; 8 bytes per 1,024
  ///         callstacks of all segments; 4 bytes per callstack of the largest one.
  /// Errors: kIo; kLimit when there are more callstacks or frames than 32 bits can number.
  Status run();

  [[nodiscard]] std::uint64_t frame_count() const { return dictionary_.count; }
  [[nodiscard]] std::uint64_t node_count() const { return node_count_; }
  [[nodiscard]] std::uint32_t stack_count() const { return stack_count_; }

  /// Visits the dictionary, every distinct frame once, ascending, in blocks. The span is valid
  /// during the visit. Errors: kIo, and whatever `visit` returns.
  Status for_each_frame_block(const std::function<Status(std::span<const Frame>)>& visit) const;

  /// Visits all nodes in canonical order, in blocks. The span is valid during the visit.
  /// Errors: kIo, and whatever `visit` returns.
  Status for_each_block(const std::function<Status(std::span<const MergedNode>)>& visit) const;

  /// The merged ids of the callstacks first .. first + into.size() - 1 of a segment. Errors: kIo.
  Status stack_ids(std::size_t segment, std::uint32_t first, std::span<StackId> into) const;

  /// The merged ids of the callstacks that end at the nodes first .. first + into.size() - 1 of a
  /// segment's builder; kNoStack where none ends. Errors: kIo.
  Status stack_of_node(std::size_t segment, std::uint32_t first, std::span<StackId> into) const;

  /// The same for looking at single nodes through pages: 4 bytes a node of the segment's
  /// builder, from this offset of id_file() on.
  [[nodiscard]] std::uint64_t stack_of_node_offset(std::size_t segment) const {
    return stack_of_node_at_[segment];
  }
  [[nodiscard]] io::SpillFile& id_file() { return id_file_; }

 private:
  class MergedNodes;
  class NodeStreams;

  [[nodiscard]] std::uint64_t buffer_share() const;
  Status merge_dictionaries(AscendingLists& indices);
  Status merge_nodes(AscendingLists& indices, MergedNodes& merged_nodes);
  Status write_maps(std::size_t segment, const MergedNodes& merged_nodes);

  const SegmentSpill& spill_;
  Options options_;
  io::SpillFile node_file_;
  io::SpillFile id_file_;
  io::SpillFile dictionary_file_;
  SpilledFrames dictionary_;
  std::uint64_t node_count_ = 0;
  std::uint32_t stack_count_ = 0;
  std::vector<std::uint64_t> stack_ids_at_;      // per segment, in id_file_
  std::vector<std::uint64_t> stack_of_node_at_;  // likewise
};

}  // namespace stackpack::dag
