#include "app/arrow/callstack_walk.h"

#include <algorithm>

#include "core/index_table.h"

namespace stackpack::app {

namespace {

// Callstacks that are asked for at once: those of a page come together.
constexpr std::uint32_t kStacksAtOnce = 4'096;

}  // namespace

std::uint64_t CallstackWalk::PlacedFrameHash::operator()(const query::PlacedFrame& placed) const {
  return core::mix_bits(placed.frame.address * 16 +
                        std::uint64_t{static_cast<std::uint8_t>(placed.frame.mode)} * 2 +
                        static_cast<std::uint64_t>(placed.use));
}

void CallstackWalk::enter_place(std::uint32_t place) {
  if (place == place_) {
    return;
  }
  place_ = place;
  walk_.clear();
  known_.clear();
  ranges_.clear();
  lists_.clear();
}

std::span<const std::uint32_t> CallstackWalk::numbers_of(const query::PlacedFrame& placed) {
  const std::uint32_t number = known_.number(placed);
  if (number == ranges_.size()) {
    Range range{lists_.size(), 0};
    if (frame_numbers_(stacks_.places().all()[place_], placed.frame, placed.use, lists_)) {
      range.count = lists_.size() - range.first;
    }
    ranges_.push_back(range);
  }
  return std::span(lists_).subspan(ranges_[number].first, ranges_[number].count);
}

// Nodes of a frame below `step`: the function that has the code first, what was inlined into it
// after that. `stack`: the callstack that ends here.
std::optional<CallstackWalk::Step> CallstackWalk::add_nodes(const query::PlacedFrame& placed,
                                                            Step step, StackId stack) {
  const std::span<const std::uint32_t> numbers = numbers_of(placed);
  for (std::size_t i = numbers.size(); i-- > 0;) {
    const bool ends = stack != kNoStack && i == 0;
    if (!ends && next_node_ >= CallstackNode::kNone) {
      return std::nullopt;
    }
    const std::uint32_t id = ends ? next_ : static_cast<std::uint32_t>(next_node_++);
    ++step.depth;
    nodes_.push_back({id, step.node, numbers[i], step.depth, ends ? stack : kNoStack});
    step.node = id;
  }
  return numbers.empty() ? std::nullopt : std::optional(step);
}

bool CallstackWalk::add_stack(std::span<const Frame> leaf_first, StackId stack) {
  nodes_.clear();
  const std::size_t depth = leaf_first.size();
  const symbols::MappingContext& place = stacks_.places().all()[place_];
  const auto use_of = [&](std::size_t index) {
    return stacks_.places().symbols().use_of(leaf_first, index, place.pid, place.time_ns);
  };
  const auto look_up = [&](const query::PlacedFrame& placed, std::size_t level,
                           const Step* caller) {
    return add_nodes(placed, caller == nullptr ? Step{} : *caller,
                     level + 1 == depth ? stack : kNoStack);
  };
  // The leaf is always new: no two callstacks end in one node, nor does one go on below it.
  const std::size_t last_depth = walk_.path().size();
  const std::size_t may_share = std::min(depth, last_depth);
  return walk_.go_on(leaf_first, use_of, look_up, may_share == 0 ? 0 : may_share - 1) && depth != 0;
}

Status CallstackWalk::advance(const Visit& visit) {
  std::vector<StackId> ids;
  Status status;
  bool go_on = true;
  while (status && go_on && !done()) {
    const std::uint32_t place = stacks_[next_].place;
    enter_place(place);
    ids.clear();
    for (std::uint32_t at = next_;
         at < stacks_.size() && ids.size() < kStacksAtOnce && stacks_[at].place == place; ++at) {
      ids.push_back(stacks_[at].stack);
    }
    bool added = true;
    status = reader_.callstacks(ids, [&](std::size_t at, std::span<const Frame> frames) {
      added = add_stack(frames, ids[at]);
      if (added) {
        ++next_;
        go_on = visit(nodes_);
      }
      return added && go_on;
    });
    if (status && !added) {
      status = next_node_ >= CallstackNode::kNone
                   ? Error{ErrorCode::kLimit, kNoOffset, "more than 2^32 - 1 nodes of callstacks"}
                   : Error{ErrorCode::kCorrupt, kNoOffset, "spk: callstacks changed while read"};
    }
  }
  return status;
}

}  // namespace stackpack::app
