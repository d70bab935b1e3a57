#include "app/convert/packed_stacks.h"

#include <algorithm>
#include <utility>

namespace stackpack::app {

namespace {

constexpr std::size_t kBlockNodes = 4096;

}  // namespace

std::unique_ptr<PackedStacks> PackedStacks::of_builder(dag::Builder::Frozen frozen) {
  std::unique_ptr<PackedStacks> stacks(new PackedStacks);
  stacks->frozen_ = std::move(frozen);
  return stacks;
}

Result<std::unique_ptr<PackedStacks>> PackedStacks::of_segments(
    const dag::SegmentSpill& spill, const std::string& scratch_directory, const MemoryPlan& plan) {
  constexpr std::uint64_t kMostMergeBytes = std::uint64_t{4} << 20;
  std::unique_ptr<PackedStacks> stacks(new PackedStacks);
  dag::SegmentMerge::Options options;
  options.directory = scratch_directory;
  options.buffer_bytes = std::min(kMostMergeBytes, plan.id_bytes);
  if (plan.table_bytes != 0) {
    options.index_bytes = plan.table_bytes;
  }
  stacks->merge_ = std::make_unique<dag::SegmentMerge>(spill, options);
  if (const Status merged = stacks->merge_->run(); !merged) {
    return merged.error();
  }
  stacks->ids_.emplace(stacks->merge_->id_file(), plan.id_bytes);
  return stacks;
}

Status PackedStacks::for_each_frame_block(
    const std::function<Status(std::span<const Frame>)>& visit) const {
  return merge_ != nullptr ? merge_->for_each_frame_block(visit) : visit(frozen_.dag.dictionary);
}

Status PackedStacks::for_each_block(
    const std::function<Status(std::span<const spk::DagNode>)>& visit) const {
  std::vector<spk::DagNode> block;
  if (merge_ != nullptr) {
    return merge_->for_each_block([&](std::span<const dag::MergedNode> nodes) {
      block.clear();
      for (const dag::MergedNode& node : nodes) {
        block.push_back({node.frame, node.depth, node.ends_stack});
      }
      return visit(block);
    });
  }
  const dag::FrozenDag& dag = frozen_.dag;
  for (std::size_t begin = 0; begin < dag.node_count(); begin += kBlockNodes) {
    block.clear();
    for (std::size_t i = begin; i < std::min(begin + kBlockNodes, dag.node_count()); ++i) {
      block.push_back({dag.frame[i], dag.depth[i], dag.ends(i)});
    }
    if (const Status visited = visit(block); !visited) {
      return visited;
    }
  }
  return {};
}

template <typename Writer>
Status PackedStacks::write_to(Writer& writer) const {
  if (const Status begun = writer.begin_dag(); !begun) {
    return begun;
  }
  const auto add_frames = [&](std::span<const Frame> frames) { return writer.add_frames(frames); };
  if (const Status added = for_each_frame_block(add_frames); !added) {
    return added;
  }
  if (const Status surveyed = for_each_block(
          [&](std::span<const spk::DagNode> nodes) { return writer.survey_nodes(nodes); });
      !surveyed) {
    return surveyed;
  }
  if (const Status begun = writer.begin_pages(); !begun) {
    return begun;
  }
  if (const Status added = for_each_block(
          [&](std::span<const spk::DagNode> nodes) { return writer.add_nodes(nodes); });
      !added) {
    return added;
  }
  return writer.end_dag();
}

template Status PackedStacks::write_to(spk::Writer& writer) const;
template Status PackedStacks::write_to(spk::BranchStackWriter& writer) const;

}  // namespace stackpack::app
