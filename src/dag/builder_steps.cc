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
#include <algorithm>
#include <array>
#include <cassert>
#include <span>

#include "dag/builder_impl.h"

namespace stackpack::dag {
namespace {

// Callstacks of which the hash is known, and the kept addresses fetched, ahead of their turn.
constexpr std::size_t kBegun = 16;
constexpr std::size_t kFetched = 6;
constexpr std::size_t kArriving = 32;

// Another thread may have written them, so that they are in its cache and not in ours.
void prefetch_addresses(const capture::StackView& stack) {
  constexpr std::size_t kLine = 64 / sizeof(std::uint64_t);
  const std::uint64_t* const addresses = stack.addresses.data();
  for (std::size_t i = 0; i < stack.depth(); i += kLine) {
    __builtin_prefetch(addresses + i);
  }
}

}  // namespace

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
  bool all_known = store.size() == searched && !stack.given_up;  // nothing to follow
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
  last.take(stack.words, stack.hashes, stack.nodes, stack.depth, stack.unshared());
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

}  // namespace stackpack::dag
