// Which nodes the paths of some callstacks have already.
//
// A callstack is looked up from its leaf on: the leaf's path first, then the one of the frame above
// it, until the map names a candidate. A walk up the store then compares frame by frame whether
// that is the node of the path: a hash is never trusted. Most of the time goes into waiting for
// memory: the slot of the map, the candidate, the nodes above it, where each has to be read before
// the next one is known. So several callstacks are looked up side by side, a step of each in turn,
// and their waits overlap. When one is done, the next callstack takes its place.
//
// Each walk takes some steps between checks, so it may overshoot the last frame that is to be
// compared; that is harmless: it compares frames that are shared anyway, and stays at the root.
//
// A walk from another path of the same hash usually ends after a frame or two. But callstacks of
// few different frames, as deep recursion makes them, agree all the way up: then it would be the
// square of the depth. So the steps taken in vain are counted, and a callstack that took too many
// is left to be followed from the root on, a look-up for each frame.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dag/builder.h"
#include "dag/incoming_group.h"
#include "dag/node_map.h"
#include "dag/node_store.h"

namespace stackpack::dag {

/// Fetches the slots of the paths that are looked up first.
void prefetch_slots(const NodeMap& map, const IncomingStack& stack);

/// Looks callstacks up. Kept between look-ups, since making one takes as long as a short walk.
class PathSearch {
 public:
  /// Finds how many frames of each callstack have nodes: fills in `known`, the nodes of the frames
  /// from `shared` on, and the node that the first of these hangs on.
  ///
  /// Frames in front of `shared` have the nodes of the thread's callstack before. Where the last of
  /// these is not node_above(shared), what was found is another path of the same hash. A callstack
  /// that was `given_up` has `known` at `shared`, which says nothing of the frames above.
  /// Cost: a look-up for each frame, and a few steps for each of them.
  void run(const NodeMap& map, const NodeStore& store, std::span<IncomingStack> stacks,
           BuilderCounters& counters);

 private:
  static constexpr std::size_t kWalks = 16;  // side by side

  /// A walk up from a candidate: what every step needs.
  struct Walk {
    std::uint32_t node = 0;
    const FrameWord* word = nullptr;  // of the frame that is next
    std::uint32_t* noted = nullptr;   // its place for the node
    FrameWord different = 0;          // bits in which words differed
  };
  /// The rest of it.
  struct LookUp {
    IncomingStack* stack = nullptr;
    NodeMap::Probe probe;
    std::uint32_t left = 0;     // nodes, that above the frames included
    std::uint32_t in_vain = 0;  // nodes of walks that failed
  };

  bool start(std::size_t i);
  void begin_look_up(LookUp& look_up);
  bool find_candidate(std::size_t i);
  bool find_another(std::size_t i, std::uint32_t steps);
  bool goes_on(std::size_t i);
  bool walk_alone();
  void go_up(Walk& walk) const {
    const std::uint32_t node = walk.node;
    walk.node = store_->parent(node);
    store_->prefetch(walk.node);
    walk.different |= store_->word(node) ^ *walk.word++;
    *walk.noted++ = node;
  }

  const NodeMap* map_ = nullptr;
  const NodeStore* store_ = nullptr;
  BuilderCounters* counters_ = nullptr;
  std::span<IncomingStack> waiting_;
  std::array<Walk, kWalks> walks_;
  std::array<LookUp, kWalks> look_ups_;
  std::size_t count_ = 0;  // of walks
};

}  // namespace stackpack::dag
