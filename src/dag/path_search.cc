#include "dag/path_search.h"

#include <algorithm>

namespace stackpack::dag {
namespace {

// Look-ups whose slots are fetched ahead. Most callstacks need one to three.
constexpr std::uint32_t kLookUpsAhead = 8;

// Steps of all walks between looks at how they went.
constexpr std::uint32_t kSteps = 8;
static_assert(kSteps <= IncomingGroup::kRoots);

// Steps in vain after which a callstack is given up: what following it from the root may take.
constexpr std::uint32_t most_in_vain(std::uint32_t frames) {
  return 1024 + 4 * frames;
}

}  // namespace

void prefetch_slots(const NodeMap& map, const IncomingStack& stack) {
  const std::uint32_t count = std::min(stack.unshared(), kLookUpsAhead);
  for (std::uint32_t at = 0; at < count; ++at) {
    map.prefetch(stack.hashes[at]);
  }
}

void PathSearch::run(const NodeMap& map, const NodeStore& store, std::span<IncomingStack> stacks,
                     BuilderCounters& counters) {
  map_ = &map;
  store_ = &store;
  counters_ = &counters;
  waiting_ = stacks;
  count_ = 0;
  while (count_ < kWalks && start(count_)) {
    ++count_;
  }
  while (count_ > 1) {
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
  while (count_ == 1 && (walk_alone() || start(0))) {
  }
}

// Starts a walk for one of the callstacks that wait. False: none of them has a candidate.
bool PathSearch::start(std::size_t i) {
  while (!waiting_.empty()) {
    IncomingStack& stack = waiting_.front();
    waiting_ = waiting_.subspan(1);
    stack.known = stack.depth;
    if (stack.unshared() > 0) {
      look_ups_[i].stack = &stack;
      look_ups_[i].in_vain = 0;
      begin_look_up(look_ups_[i]);
      if (find_candidate(i)) {
        return true;
      }
    }
  }
  return false;
}

void PathSearch::begin_look_up(LookUp& look_up) {
  const IncomingStack& stack = *look_up.stack;
  ++counters_->lookups;
  look_up.probe = map_->probe(stack.hashes[stack.slot(stack.known - 1)]);
  if (stack.known > stack.shared + kLookUpsAhead) {
    map_->prefetch(stack.hashes[stack.slot(stack.known - 1 - kLookUpsAhead)]);
  }
}

// The next candidate for the longest path that has one. False: there is none.
bool PathSearch::find_candidate(std::size_t i) {
  LookUp& look_up = look_ups_[i];
  IncomingStack& stack = *look_up.stack;
  while (true) {
    const std::uint32_t node = map_->next_candidate(look_up.probe, counters_->probes);
    if (node != 0) {
      store_->prefetch(node);
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

// After a walk that failed at one of its last `steps` steps.
bool PathSearch::find_another(std::size_t i, std::uint32_t steps) {
  LookUp& look_up = look_ups_[i];
  IncomingStack& stack = *look_up.stack;
  look_up.in_vain += stack.known - stack.shared + 1 - look_up.left + steps;
  if (look_up.in_vain <= most_in_vain(stack.unshared())) {
    return find_candidate(i);
  }
  stack.known = stack.shared;
  stack.given_up = true;
  return false;
}

bool PathSearch::goes_on(std::size_t i) {
  LookUp& look_up = look_ups_[i];
  counters_->node_reads += std::min(look_up.left, kSteps);
  if (walks_[i].different != 0) {
    return find_another(i, kSteps);
  }
  if (look_up.left <= kSteps) {
    return false;
  }
  look_up.left -= kSteps;
  return true;
}

// The rest of the only walk. There is nothing to do meanwhile, so each step looks how it went.
bool PathSearch::walk_alone() {
  Walk& walk = walks_.front();
  const std::uint32_t left = look_ups_.front().left;
  std::uint32_t node = walk.node;
  for (std::uint32_t at = 0; at < left; ++at) {
    if (store_->word(node) != walk.word[at]) {
      counters_->node_reads += at + 1;
      return find_another(0, at + 1);
    }
    walk.noted[at] = node;
    node = store_->parent(node);
  }
  counters_->node_reads += left;
  return false;
}

}  // namespace stackpack::dag
