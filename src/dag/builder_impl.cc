#include "dag/builder_impl.h"

#include <cassert>
#include <memory>
#include <span>
#include <utility>

#include "dag/builder.h"
#include "dag/freeze.h"

namespace stackpack::dag {
namespace {

// Nodes from which on a second thread pays for itself when they are frozen.
constexpr std::uint32_t kManyNodes = 65'536;

// What freezing takes with a second thread, if no two frames are the same. Within twice as much it
// can also sort the children of one node by keys, even if these are all nodes.
std::uint64_t side_by_side_bytes(std::uint64_t nodes) {
  return freeze_peak_bytes(nodes, nodes) + 8 * nodes;
}

}  // namespace

Builder::Builder(const Options& options) : impl_(std::make_unique<Impl>(options)) {}
Builder::~Builder() = default;

Result<std::size_t> Builder::intern_some(std::span<const Arrival> arrivals,
                                         std::span<NodeIndex> nodes) {
  Impl& impl = *impl_;
  Result<std::size_t> count = impl.take_in(arrivals, nodes);
  if (!count) {
    return count;
  }
  const std::span<IncomingStack> group = impl.group.stacks();
  impl.search.run(impl.map, impl.store, group, impl.counters);
  impl.searched = impl.store.size();
  std::uint64_t new_frames = 0;
  for (IncomingStack& stack : group) {
    const Result<std::uint32_t> leaf = impl.settle(stack);
    if (!leaf) {
      if (stack.arrival == 0) {
        return leaf.error();
      }
      count = stack.arrival;
      break;
    }
    impl.store.mark_end(*leaf);
    impl.recent.keep(arrivals[stack.arrival].stack, stack.place, *leaf);
    nodes[stack.arrival] = static_cast<NodeIndex>(*leaf);
    new_frames += stack.unshared();
  }
  std::uint64_t frames = 0;
  for (const Arrival& arrival : arrivals.first(*count)) {
    frames += arrival.stack.depth();
  }
  impl.counters.stacks += *count;
  impl.counters.frames += frames;
  impl.counters.prefix_frames += frames - new_frames;
  return count;
}

Result<NodeIndex> Builder::intern(const capture::StackView& stack, std::uint64_t thread) {
  const Arrival arrival{stack, thread};
  NodeIndex node = kRoot;
  const Result<std::size_t> done = intern_some({&arrival, 1}, {&node, 1});
  return done ? Result<NodeIndex>(node) : Result<NodeIndex>(done.error());
}

std::uint32_t Builder::node_count() const {
  return impl_->store.size();
}

NodeIndex Builder::parent(NodeIndex node) const {
  return static_cast<NodeIndex>(impl_->store.parent(static_cast<std::uint32_t>(node)));
}

Frame Builder::frame(NodeIndex node) const {
  assert(node != kRoot);
  return frame_of(impl_->escapes, impl_->store.word(static_cast<std::uint32_t>(node)));
}

const BuilderCounters& Builder::counters() const {
  return impl_->counters;
}
std::uint64_t Builder::memory_bytes() const {
  return impl_->memory_bytes();
}
std::uint64_t Builder::map_bytes() const {
  return impl_->map.memory_bytes();
}

Builder::Frozen Builder::freeze() {
  NodeStore::Arrays nodes = impl_->store.take();
  const EscapeTable escapes = std::move(impl_->escapes);
  const BuilderCounters counters = impl_->counters;
  impl_ = std::make_unique<Impl>(Options{impl_->limit, impl_->cache_bytes});
  impl_->counters = counters;
  Frozen frozen;
  const bool side_by_side =
      nodes.size >= kManyNodes &&
      (impl_->limit == 0 || side_by_side_bytes(nodes.size) <= impl_->limit / 2);
  freeze_nodes(std::move(nodes), escapes,
               side_by_side ? FreezeSteps::kSideBySide : FreezeSteps::kOneByOne, frozen.dag,
               frozen.stack_of_node);
  return frozen;
}

}  // namespace stackpack::dag
