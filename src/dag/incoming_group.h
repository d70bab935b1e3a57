// Callstacks on their way into the builder, some at a time.
//
// Their frames stand one callstack after the other in three arrays, leaf first, with a row of root
// words after each: to a walk up the store, which stays at the root once it is there, a path ends
// in as many roots as one likes. A group is full when it has kMost callstacks or its usual room is
// used up; the first one has whatever room it needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dag/frozen_dag.h"
#include "dag/node_map.h"
#include "dag/prefix_cache.h"
#include "dag/recent_stacks.h"

namespace stackpack::dag {

/// A callstack on its way, and what is known of it so far. Frame k counted from the root (k = 0) is
/// at index slot(k) of its arrays. All words are there; hashes and nodes begin with frame `shared`,
/// as what is in front of it stands with the thread's callstack before.
struct IncomingStack {
  FrameWord* words = nullptr;
  std::uint32_t* nodes = nullptr;
  PathHash* hashes = nullptr;
  std::uint32_t depth = 0;  ///< not 0
  std::size_t arrival = 0;  ///< which one of those that were offered
  std::uint64_t thread = 0;
  RecentStacks::Place place;

  /// The callstack before with the same entry of the prefix cache: one of the group, or else the
  /// one that is there now; null both: none.
  const IncomingStack* before = nullptr;
  const LastStack* last = nullptr;
  std::uint32_t shared = 0;  ///< frames from the root on that are equal to those of that callstack
  std::uint32_t known = 0;   ///< frames from the root on that have nodes; not below `shared`
  bool given_up = false;     ///< more may have nodes: it took too long to see

  [[nodiscard]] std::size_t slot(std::size_t k) const { return depth - 1 - k; }
  [[nodiscard]] std::uint32_t unshared() const { return depth - shared; }
  /// What the node of frame k hangs on: that of the frame in front of it, or the root.
  [[nodiscard]] std::uint32_t node_above(std::size_t k) const { return nodes[depth - k]; }
};

class IncomingGroup {
 public:
  static constexpr std::size_t kMost = 64;  ///< callstacks
  static constexpr std::size_t kRoots = 8;  ///< after each callstack
  static constexpr std::size_t kUsualFrames = 8'192;

  IncomingGroup();

  void clear();

  /// Room for a callstack, without its words. Null: the group is full, which it never is at first.
  /// What was given stays where it is until clear().
  IncomingStack* add(std::uint32_t depth);

  /// Takes back the callstack that was added last.
  void drop_last() { --count_; }

  /// Once the words and the thread of the callstack that was added last are there: finds the one
  /// before it and hashes the paths of the frames that differ.
  void compare_last(const PrefixCache& cache);

  [[nodiscard]] std::span<IncomingStack> stacks() { return std::span(stacks_).first(count_); }

  /// Bytes of the arrays now, and at most.
  [[nodiscard]] std::uint64_t memory_bytes() const {
    return words_.size() * PrefixCache::kFrameBytes;
  }
  [[nodiscard]] static constexpr std::uint64_t most_bytes() {
    return (kMaxDepth + kEnds) * PrefixCache::kFrameBytes;
  }

 private:
  static constexpr std::size_t kEnds = LastStack::kSpare + kRoots;
  static constexpr std::uint8_t kNone = 0xff;

  void resize(std::size_t frames);

  std::array<IncomingStack, kMost> stacks_;
  std::array<std::uint8_t, kMost> earlier_{};  // the one before in the same bucket
  std::array<std::uint8_t, kMost> buckets_{};  // by thread: the last one in it
  std::size_t count_ = 0;
  std::vector<FrameWord> words_;
  std::vector<std::uint32_t> nodes_;
  std::vector<PathHash> hashes_;
  std::size_t used_ = 0;  // elements of each
};

/// Combines addresses of one mode with its key. Result: nonzero when some need an escape.
std::uint64_t make_words(std::span<const std::uint64_t> addresses, FrameWord key, FrameWord* words);

/// Hashes the paths of the frames from `shared` on.
void hash_paths(IncomingStack& stack);

}  // namespace stackpack::dag
