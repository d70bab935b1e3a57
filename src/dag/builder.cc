// How callstacks are interned: some at a time, in three steps.
//
// 1. Take in, each in its turn: it may be among the callstacks that came lately, as a whole: done.
//    Else turn its frames into words, compare them with those of the thread's callstack before,
//    from the root on, hash the paths of the other frames and fetch their slots.
// 2. Search, all side by side (path_search.h): how much of each path has nodes. Most callstacks
//    exist already or are new near the leaf only.
// 3. Settle, each in its turn: follow what the ones before it have added since the search, add what
//    is new, and put it into the prefix cache.
//
// Only the last step changes store, map and prefix cache. A node is never in the map without its
// ancestors, so that one look-up shows whether anything was added to a path since the search.
#include "dag/builder.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "dag/distinct_estimate.h"
#include "dag/frame_word.h"
#include "dag/freeze.h"
#include "dag/incoming_group.h"
#include "dag/node_map.h"
#include "dag/node_store.h"
#include "dag/path_search.h"
#include "dag/prefix_cache.h"
#include "dag/recent_stacks.h"

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

// Nodes from which on a second thread pays for itself when they are frozen.
constexpr std::uint32_t kManyNodes = 65'536;

// Callstacks of which the hash is known, and the kept addresses fetched, ahead of their turn.
constexpr std::size_t kBegun = 16;
constexpr std::size_t kFetched = 6;
constexpr std::size_t kArriving = 32;

// Nodes for which the memory limit is checked in one go.
constexpr std::uint64_t kGrant = 4096;

// What freezing takes with a second thread, if no two frames are the same.
std::uint64_t side_by_side_bytes(std::uint64_t nodes) {
  return freeze_peak_bytes(nodes, nodes) + 8 * nodes;
}

// Another thread may have written them, so that they are in its cache and not in ours.
void prefetch_addresses(const capture::StackView& stack) {
  constexpr std::size_t kLine = 64 / sizeof(std::uint64_t);
  const std::uint64_t* const addresses = stack.addresses.data();
  for (std::size_t i = 0; i < stack.depth(); i += kLine) {
    __builtin_prefetch(addresses + i);
  }
}

Error full_error() {
  return {ErrorCode::kLimit, kNoOffset, "the memory limit for callstacks is reached"};
}

Error memory_error() {
  return {ErrorCode::kResource, kNoOffset, "out of memory"};
}

}  // namespace

struct Builder::Impl {
  explicit Impl(const Options& options)
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

  Result<std::size_t> take_in(std::span<const Arrival> arrivals, std::span<NodeIndex> nodes);
  Status make_path(const capture::StackView& stack, FrameWord* words);
  Status make_escape(const Frame& frame, FrameWord& word);

  Result<std::uint32_t> settle(IncomingStack& stack);
  std::uint32_t follow(IncomingStack& stack, std::uint32_t node);
  Status add_nodes(IncomingStack& stack, std::uint32_t node);

  Status make_room(std::uint64_t more);
  Status make_room_for_escape();
  bool fits(std::uint64_t nodes, std::uint64_t map_capacity, std::uint64_t escape_bytes) const;
  std::uint64_t memory_bytes() const;

  std::uint64_t limit;
  bool ran_short = false;
  std::uint64_t granted = 0;  // node count up to which there is room
  NodeStore store;
  NodeMap map;
  RecentStacks recent;
  std::uint64_t cache_bytes;  // as it was asked for
  PrefixCache cache;
  EscapeTable escapes;
  IncomingGroup group;
  PathSearch search;
  std::uint32_t searched = 0;  // nodes that there were at the last search
  DistinctEstimate distinct;
  BuilderCounters counters;
};

// Step 1. Result: how many arrivals; those that are not in the group have their nodes already.
// Errors: those of the first. What fails later is offered again, as the first.
Result<std::size_t> Builder::Impl::take_in(std::span<const Arrival> arrivals,
                                           std::span<NodeIndex> nodes) {
  group.clear();
  std::array<RecentStacks::Place, kBegun> places;
  std::size_t begun = 0;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    for (; begun < std::min(arrivals.size(), i + kBegun); ++begun) {
      if (begun + kArriving < arrivals.size()) {
        prefetch_addresses(arrivals[begun + kArriving].stack);
      }
      recent.begin(arrivals[begun].stack, places[begun % kBegun]);
    }
    if (i + kFetched < begun) {
      recent.fetch(places[(i + kFetched) % kBegun]);
    }
    const capture::StackView& view = arrivals[i].stack;
    if (view.depth() > kMaxDepth) {
      const Error error{ErrorCode::kUnsupported, kNoOffset, "callstack deeper than 65,535 frames"};
      return i == 0 ? Result<std::size_t>(error) : Result<std::size_t>(i);
    }
    nodes[i] = kRoot;
    if (view.empty()) {
      continue;
    }
    RecentStacks::Place& place = places[i % kBegun];
    nodes[i] = static_cast<NodeIndex>(recent.find(view, place));
    if (nodes[i] != kRoot) {
      continue;
    }
    IncomingStack* const stack = group.add(static_cast<std::uint32_t>(view.depth()));
    if (stack == nullptr) {
      return i;
    }
    if (const Status made = make_path(view, stack->words); !made) {
      group.drop_last();
      return i == 0 ? Result<std::size_t>(made.error()) : Result<std::size_t>(i);
    }
    stack->arrival = i;
    stack->thread = arrivals[i].thread;
    stack->place = place;
    group.compare_last(cache);
    prefetch_slots(map, *stack);
  }
  return arrivals.size();
}

// The words of the frames, leaf first.
Status Builder::Impl::make_path(const capture::StackView& stack, FrameWord* words) {
  std::size_t done = 0;
  for (const capture::ModeRun& run : stack.runs) {
    const auto addresses = stack.addresses.subspan(done, run.count);
    FrameWord* const made = words + done;
    if (make_words(addresses, mode_key(run.mode), made) != 0) {
      for (std::size_t i = 0; i < addresses.size(); ++i) {
        if (escape_bits(addresses[i]) != 0) {
          if (const Status room = make_escape({run.mode, addresses[i]}, made[i]); !room) {
            return room;
          }
        }
      }
    }
    done += run.count;
  }
  return {};
}

Status Builder::Impl::make_escape(const Frame& frame, FrameWord& word) {
  if (!find_word(escapes, frame, word)) {
    if (const Status room = make_room_for_escape(); !room) {
      return room.error();
    }
    word = make_word(escapes, frame);
  }
  return {};
}

// Step 3. Result: the node of the leaf.
Result<std::uint32_t> Builder::Impl::settle(IncomingStack& stack) {
  LastStack& last = cache.entry(stack.thread, stack.depth);
  bool all_known = store.size() == searched;  // nothing to follow
  if (last.depth < stack.shared) {
    // Another thread has taken its place since it was compared with.
    assert(last.depth == 0);
    stack.shared = 0;
    stack.known = 0;
    all_known = false;
    hash_paths(stack);
  }
  std::uint32_t node = stack.shared == 0 ? 0 : last.nodes[last.slot(stack.shared - 1)];
  if (stack.known > stack.shared) {
    if (stack.node_above(stack.shared) == node) {
      node = stack.node_above(stack.known);
    } else {
      stack.known = stack.shared;  // another path of the same hash
      all_known = false;
    }
  }
  if (stack.known < stack.depth) {
    node = all_known ? node : follow(stack, node);
    if (const Status added = add_nodes(stack, node); !added) {
      return added.error();
    }
  }
  const std::size_t from = last.slot(stack.depth - 1);
  std::copy_n(stack.words, stack.unshared(), last.words.data() + from);
  std::copy_n(stack.hashes, stack.unshared(), last.hashes.data() + from);
  std::copy_n(stack.nodes, stack.unshared(), last.nodes.data() + from);
  last.depth = stack.depth;
  return last.nodes[from];
}

// Goes on from `node`, the last known one of the path, as long as the map knows the next. Result:
// the last known one then.
std::uint32_t Builder::Impl::follow(IncomingStack& stack, std::uint32_t node) {
  for (; stack.known < stack.depth; ++stack.known) {
    const std::size_t at = stack.slot(stack.known);
    ++counters.lookups;
    const std::uint32_t next =
        map.find(stack.hashes[at], counters.probes, [&](std::uint32_t candidate) {
          ++counters.node_reads;
          return store.word(candidate) == stack.words[at] && store.parent(candidate) == node;
        });
    if (next == 0) {
      break;
    }
    stack.nodes[at] = next;
    node = next;
  }
  return node;
}

// Adds what the path lacks below `node`.
Status Builder::Impl::add_nodes(IncomingStack& stack, std::uint32_t node) {
  const std::uint32_t more = stack.depth - stack.known;
  if (store.size() + std::uint64_t{more} > granted) {
    if (const Status room = make_room(more); !room) {
      return room.error();
    }
  }
  for (std::size_t at = more; at > 0; --at) {
    const FrameWord word = stack.words[at - 1];
    node = store.append(word, node);
    map.insert(stack.hashes[at - 1], node);
    stack.nodes[at - 1] = node;
    if (limit != 0) {
      distinct.add(word);
    }
  }
  return {};
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
    ran_short = true;
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
    ran_short = true;
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
bool Builder::ran_short() const {
  return impl_->ran_short;
}

Builder::Frozen Builder::freeze() {
  NodeStore::Arrays nodes = impl_->store.take();
  const EscapeTable escapes = std::move(impl_->escapes);
  const BuilderCounters counters = impl_->counters;
  const bool ran_short = impl_->ran_short;
  impl_ = std::make_unique<Impl>(Options{impl_->limit, impl_->cache_bytes});
  impl_->counters = counters;
  impl_->ran_short = ran_short;
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
