#include "app/convert/stack_interner.h"

#include <algorithm>
#include <utility>

namespace stackpack::app {

namespace {

constexpr std::uint32_t kMostSegments = 1U << 16;  // as NodeRef can tell apart

// What the builder has no room for may fit once its DAG is on disk.
bool may_fit_next_segment(const Error& error) {
  return error.code == ErrorCode::kLimit || error.code == ErrorCode::kResource;
}

}  // namespace

StackInterner::StackInterner(std::string scratch_directory, const dag::Builder::Options& options)
    : scratch_directory_(std::move(scratch_directory)),
      builder_(std::make_unique<dag::Builder>(options)),
      segments_(scratch_directory_) {}

Status StackInterner::intern(std::span<const dag::Builder::Arrival> stacks,
                             std::vector<NodeRef>& nodes) {
  nodes.clear();
  nodes_.resize(stacks.size());
  bool again = false;
  while (!stacks.empty()) {
    const Result<std::size_t> done =
        builder_->intern_some(stacks, std::span(nodes_).first(stacks.size()));
    if (!done) {
      if (again || !may_fit_next_segment(done.error()) || builder_->node_count() <= 1) {
        return done.error();
      }
      if (const Status closed = close_segment(); !closed) {
        return closed;
      }
      again = true;
      continue;
    }
    again = false;
    for (std::size_t i = 0; i < *done; ++i) {
      nodes.push_back({static_cast<std::uint16_t>(segments_.segments().size()),
                       static_cast<std::uint16_t>(stacks[i].stack.depth()),
                       static_cast<std::uint32_t>(nodes_[i])});
    }
    stacks = stacks.subspan(*done);
  }
  return {};
}

// The builder's DAG goes to disk; the builder is empty after.
Status StackInterner::close_segment() {
  if (segments_.segments().size() + 1 == kMostSegments) {
    return Error{ErrorCode::kLimit, kNoOffset, "too many callstacks for this memory limit"};
  }
  map_bytes_ = std::max(map_bytes_, builder_->map_bytes());
  return segments_.add(builder_->freeze());
}

void StackInterner::report(Statistics& statistics) const {
  const dag::BuilderCounters& counters = builder_->counters();
  statistics.builder.lookups = counters.lookups;
  statistics.builder.probes = counters.probes;
  statistics.builder.frames = counters.frames;
  statistics.builder.prefix_frames = counters.prefix_frames;
  statistics.builder.map_bytes = std::max(map_bytes_, builder_->map_bytes());
  statistics.builder.segments = segments();
}

Result<std::unique_ptr<PackedStacks>> StackInterner::pack(const MemoryPlan& plan) {
  // In memory, the DAG shares the limit with what the writer needs besides.
  const bool in_memory = segments_.segments().empty() &&
                         (plan.limit == 0 || builder_->memory_bytes() <= plan.limit / 2);
  if (in_memory) {
    std::unique_ptr<PackedStacks> stacks = PackedStacks::of_builder(builder_->freeze());
    builder_.reset();
    return stacks;
  }
  if (const Status closed = close_segment(); !closed) {
    return closed.error();
  }
  builder_.reset();
  return PackedStacks::of_segments(segments_, scratch_directory_, plan);
}

}  // namespace stackpack::app
