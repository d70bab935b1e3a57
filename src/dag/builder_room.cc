// How a builder keeps to its memory limit: what it starts with, and room for nodes before they are
// added.
#include <algorithm>
#include <new>

#include "dag/builder_impl.h"
#include "dag/freeze.h"

namespace stackpack::dag {
namespace {

constexpr std::uint64_t kMaxNodes = NodeMap::kMostNodes;
constexpr std::uint64_t kCacheBudget = std::uint64_t{16} << 20;

// Whole callstacks are kept where they take no more than a quarter of the limit: wherever a
// conversion may have one, so that what the builder counts depends on the limit as little as can
// be.
std::uint32_t recent_slots(const Builder::Options& options) {
  std::uint32_t slots = RecentStacks::kMostSlots;
  if (options.memory_limit != 0 && options.cache_bytes == 0) {
    while (slots > 0 && RecentStacks::bytes_of(slots) > options.memory_limit / 4) {
      slots = slots > RecentStacks::kLeastSlots ? slots / 2 : 0;
    }
  }
  return slots;
}

std::uint64_t cache_budget(const Builder::Options& options) {
  if (options.cache_bytes != 0) {
    return options.cache_bytes;
  }
  return options.memory_limit == 0 ? kCacheBudget
                                   : std::min(kCacheBudget, options.memory_limit / 16);
}

// Nodes for which the memory limit is checked in one go.
constexpr std::uint64_t kGrant = 4096;

Error full_error() {
  return {ErrorCode::kLimit, kNoOffset, "the memory limit for callstacks is reached"};
}

Error memory_error() {
  return {ErrorCode::kResource, kNoOffset, "out of memory"};
}

}  // namespace

Builder::Impl::Impl(const Options& options)
    : limit(options.memory_limit),
      recent(recent_slots(options)),
      cache_bytes(options.cache_bytes),
      cache(cache_budget(options)) {
  if (!store.reserve(1)) {
    throw std::bad_alloc();
  }
  store.append(kRootWord, 0);
  if (!map.rebuild(NodeMap::next_capacity(0, 1, NodeMap::Growth::kUsual), store)) {
    throw std::bad_alloc();
  }
}

bool Builder::Impl::fits(std::uint64_t nodes, std::uint64_t map_capacity,
                         std::uint64_t escape_bytes) const {
  if (limit == 0) {
    return true;
  }
  const std::uint64_t scratch =
      map_capacity == map.capacity() ? 0 : NodeMap::rebuild_scratch_bytes(map.capacity());
  const std::uint64_t building = NodeStore::bytes_for(nodes) + NodeMap::bytes_of(map_capacity) +
                                 scratch + cache.most_bytes() + recent.memory_bytes() +
                                 escape_bytes + sizeof(Impl) + IncomingGroup::most_bytes();
  const std::uint64_t more = nodes - store.size();
  const std::uint64_t frames = std::min(nodes, distinct.estimate(store.size()) + more);
  const std::uint64_t freezing = freeze_peak_bytes(nodes, frames) + escape_bytes;
  return std::max(building, freezing) <= limit;
}

// Grants room for `more` nodes and, if there is, for some to come.
Status Builder::Impl::make_room(std::uint64_t more) {
  const std::uint64_t least = store.size() + more;
  if (least > kMaxNodes) {
    return Error{ErrorCode::kLimit, kNoOffset, "too many distinct callstack nodes"};
  }
  const std::uint64_t escape_bytes = escapes.memory_bytes();
  std::uint64_t capacity = NodeMap::next_capacity(map.capacity(), least, NodeMap::Growth::kUsual);
  if (!fits(least, capacity, escape_bytes)) {
    capacity = NodeMap::next_capacity(map.capacity(), least, NodeMap::Growth::kTight);
    if (!fits(least, capacity, escape_bytes)) {
      return full_error();
    }
  }
  std::uint64_t target = std::min(NodeMap::node_limit_of(capacity), kMaxNodes);
  if (limit != 0) {
    target = std::min(target, least + kGrant);
    target = fits(target, capacity, escape_bytes) ? target : least;
  }
  if (!store.reserve(target)) {
    return memory_error();
  }
  if (capacity != map.capacity()) {
    if (!map.rebuild(capacity, store)) {
      return memory_error();
    }
    if (store.size() > 1) {
      ++counters.rehashes;
    }
  }
  granted = target;
  return {};
}

Status Builder::Impl::make_room_for_escape() {
  if (!escapes.full()) {
    return {};
  }
  if (!fits(store.size(), map.capacity(), escapes.growth_peak_bytes())) {
    return full_error();
  }
  escapes.grow();
  granted = 0;  // granted with the smaller table in mind
  return {};
}

std::uint64_t Builder::Impl::memory_bytes() const {
  return NodeStore::bytes_for(store.size()) + map.memory_bytes() + cache.memory_bytes() +
         recent.memory_bytes() + escapes.memory_bytes() + sizeof(Impl) + group.memory_bytes();
}

}  // namespace stackpack::dag
