// The map from (path) to node, without keys.
//
// A slot is 32 bits: the low bits are a node index, the spare high bits a tag taken from the node's
// hash. 0 is an empty slot, since the root is never in the map. Keys are in the node store already:
// the caller verifies a candidate there, exactly, and the tag only spares most of the
// verifications that would fail. A hash alone is never trusted.
//
// The hash of a node is a hash of its whole path from the root (parent's hash, frame), not of its
// parent's index. So all slots of a callstack are known before the first look-up, they can be
// prefetched, and a leaf can be looked up before its ancestors. It has 32 bits: position and tag
// together use no more, and the scratch of a rebuild stays at 4 bytes a node.
//
//     position = hash * capacity / 2^32      (high bits decide)
//     tag      = low bits of the hash, as many as the node index leaves free
//
// Position by multiplication lets the capacity be any number. Growing throws the slots away and
// refills them in one pass over the store: parents precede children, so that every parent's hash is
// known in time. A pass costs about 13 ns a node, so the step is a compromise: 2 while the map is
// small, then 1.5 - at most 8 bytes a node -, and 1.25 where a memory limit leaves no more room.
// Nothing is ever erased. Linear probing.
#pragma once

#include <cassert>
#include <cstdint>

#include "dag/node_store.h"
#include "io/growable_block.h"

namespace stackpack::dag {

using PathHash = std::uint32_t;

inline constexpr PathHash kRootHash = 0x5b1ce3a7;

/// The hash of the path that extends a path of hash `parent` by one frame. The first multiplication
/// does not depend on `parent`, so a chain of frames costs one multiplication of latency each.
inline PathHash extend_path(PathHash parent, FrameWord word) {
  const std::uint64_t spread = word * 0x9e3779b97f4a7c15ULL;
  const auto folded = static_cast<std::uint32_t>(spread ^ (spread >> 32));
  return static_cast<PathHash>(((parent ^ folded) * 0xd6e8feb86659fd93ULL) >> 32);
}

class NodeMap {
 public:
  /// Slots are filled up to 3/4.
  static constexpr std::uint64_t node_limit_of(std::uint64_t capacity) { return capacity / 4 * 3; }

  enum class Growth : std::uint8_t { kUsual, kTight };

  /// The capacity that follows `present` in the growth series and takes `nodes` nodes.
  static std::uint64_t next_capacity(std::uint64_t present, std::uint64_t nodes, Growth growth);

  static constexpr std::uint64_t bytes_of(std::uint64_t capacity) {
    return capacity * sizeof(std::uint32_t);
  }
  /// Bytes needed besides the slots while they are refilled.
  static constexpr std::uint64_t rebuild_scratch_bytes(std::uint64_t nodes) {
    return nodes * sizeof(PathHash);
  }

  /// Replaces the slots by `capacity` ones and enters every node of the store but the root.
  /// Result: false when the system has no memory left; the map is as it was then.
  [[nodiscard]] bool rebuild(std::uint64_t capacity, const NodeStore& store);

  void prefetch(PathHash hash) const { __builtin_prefetch(slots_ + home(hash)); }

  /// Where a look-up stands.
  struct Probe {
    std::uint64_t slot = 0;
    std::uint32_t tag = 0;
  };
  [[nodiscard]] Probe probe(PathHash hash) const { return {home(hash), tag_of(hash)}; }

  /// The next node whose hash may be the one that is looked up, or 0 when there is no other. The
  /// map must not have changed since probe(). `slots_read` is raised by the number of slots read.
  [[nodiscard]] std::uint32_t next_candidate(Probe& probe, std::uint64_t& slots_read) const {
    while (true) {
      const std::uint32_t value = slots_[probe.slot];
      ++slots_read;
      if (value == 0) {
        return 0;
      }
      probe.slot = probe.slot + 1 == capacity_ ? 0 : probe.slot + 1;
      if (((value ^ probe.tag) & tag_mask_) == 0) {
        return value & ~tag_mask_;
      }
    }
  }

  /// The node whose hash is `hash` and that verify(node) accepts, or 0.
  template <typename Verify>
  [[nodiscard]] std::uint32_t find(PathHash hash, std::uint64_t& slots_read,
                                   const Verify& verify) const {
    Probe look_up = probe(hash);
    std::uint32_t node = next_candidate(look_up, slots_read);
    while (node != 0 && !verify(node)) {
      node = next_candidate(look_up, slots_read);
    }
    return node;
  }

  /// Enters a node that is not in the map. The caller keeps to node_limit_of(capacity()).
  void insert(PathHash hash, std::uint32_t node) {
    assert(node != 0 && node <= node_limit_);
    std::uint64_t slot = home(hash);
    while (slots_[slot] != 0) {
      slot = slot + 1 == capacity_ ? 0 : slot + 1;
    }
    slots_[slot] = tag_of(hash) | node;
  }

  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  [[nodiscard]] std::uint64_t memory_bytes() const { return bytes_of(capacity_); }

 private:
  static constexpr unsigned kUnitShift = 4;  // capacities are multiples of a line of 16 slots

  [[nodiscard]] std::uint64_t home(PathHash hash) const {
    return (hash * (capacity_ >> kUnitShift)) >> (32 - kUnitShift);  // fits: capacity < 2^36
  }
  [[nodiscard]] std::uint32_t tag_of(PathHash hash) const {
    return static_cast<std::uint32_t>(std::uint64_t{hash} << index_bits_);
  }

  std::uint32_t* slots_ = nullptr;
  std::uint64_t capacity_ = 0;
  std::uint64_t node_limit_ = 0;
  std::uint32_t tag_mask_ = 0;
  unsigned index_bits_ = 0;
  io::GrowableArray<std::uint32_t> memory_;
};

}  // namespace stackpack::dag
