// How a callstack is interned.
//
// 0. It may be among the callstacks that came lately, as a whole: done.
// 1. Turn its frames into words and compare them with those of the thread's last callstack, from
//    the root on. Equal: done.
// 2. Hash the paths of the other frames; prefetch all their slots.
// 3. Look the leaf up. Most callstacks exist already, and then its path is verified frame by frame
//    up to the shared part, which is the only proof that counts.
// 4. Not there: look up its ancestors, one after the other towards the root, until one is found.
//    What is below it is new (a node is never in the map without its ancestors), and each look-up
//    that failed has read the very slots which the insertion needs.
#include "dag/builder.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "dag/distinct_estimate.h"
#include "dag/frame_word.h"
#include "dag/freeze.h"
#include "dag/node_map.h"
#include "dag/node_store.h"
#include "dag/prefix_cache.h"
#include "dag/recent_stacks.h"

namespace stackpack::dag {
namespace {

constexpr std::size_t kUsualDepth = 1024;
constexpr std::uint64_t kMaxNodes = 0xffff'ffff;
constexpr std::uint64_t kCacheBudget = std::uint64_t{16} << 20;

// Whole callstacks are kept where they take no more than a quarter of the limit: wherever a
// conversion may have one, so that what the builder counts depends on the limit as little as can
// be.
bool keeps_recent(std::uint64_t limit) {
  return limit == 0 || limit / 4 >= RecentStacks::bytes_of(true);
}

// Nodes for which the memory limit is checked in one go.
constexpr std::uint64_t kGrant = 4096;

// Words of callstacks are compared kBlock at a time; arrays of words have kBlock spare ones in
// front (below the leaf), so that a block may reach beyond the last frame.
constexpr std::size_t kBlock = LastStack::kSpare;

// Two words at a time, in the vector registers that every x86-64 has.
using Pair = std::uint64_t __attribute__((vector_size(16)));

Pair load_pair(const std::uint64_t* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof pair);
  return pair;
}

// Combines addresses of one mode with its key. Result: nonzero when some need an escape.
std::uint64_t make_words(std::span<const std::uint64_t> addresses, FrameWord key,
                         FrameWord* words) {
  std::uint64_t escapes = 0;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    words[i] = addresses[i] ^ key;
    escapes |= escape_bits(addresses[i]);
  }
  return escapes;
}

// How many of `count` words are equal, from the end (the root) on.
std::size_t equal_from_end(const FrameWord* a_end, const FrameWord* b_end, std::size_t count) {
  for (std::size_t equal = 0; equal < count; equal += kBlock) {
    const FrameWord* const a = a_end - equal - kBlock;
    const FrameWord* const b = b_end - equal - kBlock;
    Pair different = {0, 0};
    for (std::size_t i = 0; i < kBlock; i += 2) {
      different |= load_pair(a + i) ^ load_pair(b + i);
    }
    if ((different[0] | different[1]) != 0) {
      unsigned mask = 0;  // of different words; the one nearest to the root is the highest bit
      for (std::size_t i = 0; i < kBlock; ++i) {
        mask |= (a[i] != b[i] ? 1U : 0U) << i;
      }
      const auto below = static_cast<std::size_t>(std::countl_zero(mask << (32 - kBlock)));
      return std::min(count, equal + below);
    }
  }
  return count;
}

Error full_error() {
  return {ErrorCode::kLimit, kNoOffset, "the memory limit for callstacks is reached"};
}

}  // namespace

struct Builder::Impl {
  explicit Impl(const Options& options)
      : limit(options.memory_limit),
        recent(keeps_recent(limit)),
        cache(limit == 0 ? kCacheBudget : std::min(kCacheBudget, limit / 16)) {
    incoming.resize(kUsualDepth + kBlock);
    if (!store.reserve(1)) {
      throw std::bad_alloc();
    }
    store.append(kRootWord, 0);
    if (!map.rebuild(NodeMap::next_capacity(0, 1, NodeMap::Growth::kUsual), store)) {
      throw std::bad_alloc();
    }
  }

  Status make_stack(const capture::StackView& stack);
  Status make_escape(const Frame& frame, FrameWord& word);
  void hash_rest(std::uint32_t depth, std::uint32_t shared, LastStack& last);
  bool verify(std::uint32_t candidate, std::uint32_t frame, std::uint32_t shared, LastStack& last);
  std::uint32_t find_known(std::uint32_t depth, std::uint32_t shared, LastStack& last);
  Status add_nodes(std::uint32_t depth, std::uint32_t known, LastStack& last);

  Status make_room(std::uint64_t more);
  Status make_room_for_escape();
  bool fits(std::uint64_t nodes, std::uint64_t map_capacity, std::uint64_t escape_bytes) const;
  std::uint64_t memory_bytes() const;

  std::uint64_t limit;
  std::uint64_t granted = 0;  // node count up to which there is room
  NodeStore store;
  NodeMap map;
  RecentStacks recent;
  PrefixCache cache;
  EscapeTable escapes;
  std::vector<FrameWord> incoming;  // the stack at hand: its words, the root at the end
  DistinctEstimate distinct;
  BuilderCounters counters;
};

// Puts the words of the stack at the end of `incoming`.
Status Builder::Impl::make_stack(const capture::StackView& stack) {
  if (incoming.size() < stack.depth() + kBlock) {
    incoming.resize(kMaxDepth + kBlock);
  }
  std::size_t done = 0;
  for (const capture::ModeRun& run : stack.runs) {
    const auto addresses = stack.addresses.subspan(done, run.count);
    FrameWord* const words = incoming.data() + incoming.size() - stack.depth() + done;
    if (make_words(addresses, mode_key(run.mode), words) != 0) {
      for (std::size_t i = 0; i < addresses.size(); ++i) {
        if (escape_bits(addresses[i]) != 0) {
          if (const Status made = make_escape({run.mode, addresses[i]}, words[i]); !made) {
            return made.error();
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

// Takes over the words of the frames from `shared` on and hashes their paths.
void Builder::Impl::hash_rest(std::uint32_t depth, std::uint32_t shared, LastStack& last) {
  const FrameWord* const from = incoming.data() + incoming.size() - 1;
  FrameWord* const words = last.words.data() + last.words.size() - 1;
  PathHash* const hashes = last.hashes.data() + last.hashes.size() - 1;
  PathHash hash = shared == 0 ? kRootHash : *(hashes - (shared - 1));
  for (std::size_t k = shared; k < depth; ++k) {
    const FrameWord word = *(from - k);
    hash = extend_path(hash, word);
    map.prefetch(hash);
    *(words - k) = word;
    *(hashes - k) = hash;
  }
  last.depth = shared;  // what follows is not interned yet
}

// Whether the path of `candidate` is the path of frame `frame`, up to the shared frames. Notes the
// nodes on the way.
bool Builder::Impl::verify(std::uint32_t candidate, std::uint32_t frame, std::uint32_t shared,
                           LastStack& last) {
  const std::uint32_t base = shared == 0 ? 0 : last.nodes[last.slot(shared - 1)];
  const std::size_t size = last.words.size();
  std::uint32_t node = candidate;
  for (std::size_t at = size - 1 - frame; at < size - shared; ++at) {
    ++counters.node_reads;
    if (store.word(node) != last.words[at]) {
      return false;
    }
    last.nodes[at] = node;
    node = store.parent(node);
  }
  return node == base;
}

// How many frames of the stack have nodes already; their nodes are noted in `last`.
std::uint32_t Builder::Impl::find_known(std::uint32_t depth, std::uint32_t shared,
                                        LastStack& last) {
  for (std::uint32_t known = depth; known > shared; --known) {
    const std::uint32_t frame = known - 1;
    ++counters.lookups;
    const std::uint32_t node =
        map.find(last.hashes[last.slot(frame)], counters.probes,
                 [&](std::uint32_t candidate) { return verify(candidate, frame, shared, last); });
    if (node != 0) {
      return known;
    }
  }
  return shared;
}

Status Builder::Impl::add_nodes(std::uint32_t depth, std::uint32_t known, LastStack& last) {
  if (store.size() + std::uint64_t{depth - known} > granted) {
    if (const Status room = make_room(depth - known); !room) {
      return room.error();
    }
  }
  std::uint32_t node = known == 0 ? 0 : last.nodes[last.slot(known - 1)];
  for (std::uint32_t frame = known; frame < depth; ++frame) {
    const std::size_t at = last.slot(frame);
    node = store.append(last.words[at], node);
    map.insert(last.hashes[at], node);
    last.nodes[at] = node;
    if (limit != 0) {
      distinct.add(last.words[at]);
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
      map_capacity == map.capacity() ? 0 : NodeMap::rebuild_scratch_bytes(nodes);
  const std::uint64_t building = NodeStore::bytes_for(nodes) + NodeMap::bytes_of(map_capacity) +
                                 scratch + cache.most_bytes() + recent.memory_bytes() +
                                 escape_bytes + sizeof(Impl) +
                                 (kMaxDepth + kBlock) * sizeof(FrameWord);
  const std::uint64_t more = nodes - store.size();
  const std::uint64_t frames = std::min(nodes, distinct.estimate(store.size()) + more);
  const std::uint64_t freezing = freeze_peak_bytes(nodes, frames) + escape_bytes;
  return std::max(building, freezing) <= limit;
}

// Grants room for `more` nodes and, if there is, for some to come.
Status Builder::Impl::make_room(std::uint64_t more) {
  const std::uint64_t least = store.size() + more;
  if (least > kMaxNodes) {
    return Error{ErrorCode::kLimit, kNoOffset, "more than 2^32 - 1 distinct callstack nodes"};
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
    return full_error();
  }
  if (capacity != map.capacity()) {
    if (!map.rebuild(capacity, store)) {
      return full_error();
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
         recent.memory_bytes() + escapes.memory_bytes() + incoming.size() * sizeof(FrameWord) +
         sizeof(Impl);
}

Builder::Builder(const Options& options) : impl_(std::make_unique<Impl>(options)) {}
Builder::~Builder() = default;

Result<NodeIndex> Builder::intern(const capture::StackView& stack, std::uint64_t thread) {
  if (stack.depth() > kMaxDepth) {
    return Error{ErrorCode::kUnsupported, kNoOffset, "callstack deeper than 65,535 frames"};
  }
  Impl& impl = *impl_;
  const auto depth = static_cast<std::uint32_t>(stack.depth());
  if (depth == 0) {
    ++impl.counters.stacks;
    return kRoot;
  }
  if (const std::uint32_t node = impl.recent.find(stack); node != 0) {
    ++impl.counters.stacks;
    impl.counters.frames += depth;
    impl.counters.prefix_frames += depth;
    return static_cast<NodeIndex>(node);
  }
  if (const Status made = impl.make_stack(stack); !made) {
    return made.error();
  }
  LastStack& last = impl.cache.entry(thread, depth);
  const auto shared = static_cast<std::uint32_t>(
      equal_from_end(impl.incoming.data() + impl.incoming.size(),
                     last.words.data() + last.words.size(), std::min(depth, last.depth)));
  if (shared < depth) {
    impl.hash_rest(depth, shared, last);
    const std::uint32_t known = impl.find_known(depth, shared, last);
    if (known < depth) {
      if (const Status added = impl.add_nodes(depth, known, last); !added) {
        return added.error();
      }
    }
    last.depth = depth;
  }
  const std::uint32_t leaf = last.nodes[last.slot(depth - 1)];
  impl.store.mark_end(leaf);
  impl.recent.keep(stack, leaf);
  ++impl.counters.stacks;
  impl.counters.frames += depth;
  impl.counters.prefix_frames += shared;
  return static_cast<NodeIndex>(leaf);
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
  impl_ = std::make_unique<Impl>(Options{impl_->limit});
  impl_->counters = counters;
  Frozen frozen;
  freeze_nodes(std::move(nodes), escapes, frozen.dag, frozen.stack_of_node);
  return frozen;
}

}  // namespace stackpack::dag
