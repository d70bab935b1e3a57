#include "dag/path_search.h"

#include <algorithm>
#include <array>

namespace stackpack::dag {
namespace {

// Look-ups whose slots are fetched ahead. Most callstacks need one to three.
constexpr std::uint32_t kAhead = 8;

// Walks side by side, and their steps between looks at how they went.
constexpr std::size_t kWalks = 16;
constexpr std::uint32_t kSteps = 8;
static_assert(kSteps <= IncomingGroup::kRoots);

// A walk up from a candidate: what every step needs.
struct Walk {
  std::uint32_t node = 0;
  const FrameWord* word = nullptr;  // of the frame that is next
  std::uint32_t* noted = nullptr;   // its place for the node
  FrameWord different = 0;          // bits in which words differed
};

// The rest of it.
struct LookUp {
  IncomingStack* stack = nullptr;
  NodeMap::Probe probe;
  std::uint32_t left = 0;  // nodes, that above the frames included
};

class Search {
 public:
  Search(const NodeMap& map, const NodeStore& store, std::span<IncomingStack> stacks,
         BuilderCounters& counters)
      : map_(map), store_(store), waiting_(stacks), counters_(counters) {}

  void run() {
    while (count_ < kWalks && start(count_)) {
      ++count_;
    }
    while (count_ > 0) {
      for (std::uint32_t step = 0; step < kSteps; ++step) {
        for (std::size_t i = 0; i < count_; ++i) {
          go_up(walks_[i]);
        }
      }
      for (std::size_t i = 0; i < count_;) {
        if (goes_on(i) || start(i)) {
          ++i;
        } else {
          --count_;
          walks_[i] = walks_[count_];
          look_ups_[i] = look_ups_[count_];
        }
      }
    }
  }

 private:
  // Starts a walk for one of the callstacks that wait. False: none of them has a candidate.
  bool start(std::size_t i) {
    while (!waiting_.empty()) {
      IncomingStack& stack = waiting_.front();
      waiting_ = waiting_.subspan(1);
      stack.known = stack.depth;
      if (stack.unshared() > 0) {
        look_ups_[i].stack = &stack;
        begin_look_up(look_ups_[i]);
        if (find_candidate(i)) {
          return true;
        }
      }
    }
    return false;
  }

  void begin_look_up(LookUp& look_up) {
    const IncomingStack& stack = *look_up.stack;
    ++counters_.lookups;
    look_up.probe = map_.probe(stack.hashes[stack.slot(stack.known - 1)]);
    if (stack.known > stack.shared + kAhead) {
      map_.prefetch(stack.hashes[stack.slot(stack.known - 1 - kAhead)]);
    }
  }

  // The next candidate for the longest path that has one. False: there is none.
  bool find_candidate(std::size_t i) {
    LookUp& look_up = look_ups_[i];
    IncomingStack& stack = *look_up.stack;
    while (true) {
      const std::uint32_t node = map_.next_candidate(look_up.probe, counters_.probes);
      if (node != 0) {
        store_.prefetch(node);
        const std::size_t at = stack.slot(stack.known - 1);
        walks_[i] = {node, stack.words + at, stack.nodes + at, 0};
        look_up.left = stack.known - stack.shared + 1;
        return true;
      }
      if (--stack.known == stack.shared) {
        return false;
      }
      begin_look_up(look_up);
    }
  }

  void go_up(Walk& walk) const {
    const std::uint32_t node = walk.node;
    walk.node = store_.parent(node);
    store_.prefetch(walk.node);
    walk.different |= store_.word(node) ^ *walk.word++;
    *walk.noted++ = node;
  }

  bool goes_on(std::size_t i) {
    LookUp& look_up = look_ups_[i];
    counters_.node_reads += std::min(look_up.left, kSteps);
    if (walks_[i].different != 0) {
      return find_candidate(i);
    }
    if (look_up.left <= kSteps) {
      return false;
    }
    look_up.left -= kSteps;
    return true;
  }

  const NodeMap& map_;
  const NodeStore& store_;
  std::span<IncomingStack> waiting_;
  BuilderCounters& counters_;
  std::array<Walk, kWalks> walks_;
  std::array<LookUp, kWalks> look_ups_;
  std::size_t count_ = 0;
};

}  // namespace

void prefetch_slots(const NodeMap& map, const IncomingStack& stack) {
  const std::uint32_t count = std::min(stack.unshared(), kAhead);
  for (std::uint32_t at = 0; at < count; ++at) {
    map.prefetch(stack.hashes[at]);
  }
}

void find_known_paths(const NodeMap& map, const NodeStore& store, std::span<IncomingStack> stacks,
                      BuilderCounters& counters) {
  Search(map, store, stacks, counters).run();
}

}  // namespace stackpack::dag
