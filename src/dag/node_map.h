// The map from (path) to node, without keys.
//
// A slot is 32 bits: the low bits are a node index, the others a tag taken from the node's hash. 0
// is an empty slot, since the root is never in the map. Keys are in the node store already: the
// caller verifies a candidate there, exactly, and the tag only spares most of the verifications
// that would fail. A hash alone is never trusted.
//
// The hash of a node is a hash of its whole path from the root (parent's hash, frame), not of its
// parent's index. So all slots of a callstack are known before the first look-up, they can be
// prefetched, and a leaf can be looked up before its ancestors.
//
// Slots stand in buckets of a cache line, which are compared at once, and are filled in order. What
// finds its bucket full goes to the next one that is not; two bits say how far from home:
//
//     position = (hash >> 7) * buckets           25 bits of the hash count
//     bucket   = position / 2^25
//     tag      = the high bits of the rest, as many as make it reversible
//
// Bucket and tag together give these 25 bits back. So growing needs no hashes: it is one pass over
// the old slots, in order, to new ones in the same order. Small steps are affordable so, and with
// buckets filled up to 29/32 on average a large map takes 4.4 to 5.5 bytes a node. Only the few
// that are three buckets or more from home may have their paths hashed again. Steps are 2 and 1.5
// while the map is small, then 1.24, and 1.06 where a memory limit leaves no more room.
//
// The price of the short hash is a false candidate in each look-up among 34 million nodes, one in
// 30 among a million. Nothing is ever erased.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>

#include "dag/node_store.h"
#include "dag/slot_bucket.h"
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
  static constexpr unsigned kHashBits = 25;
  static constexpr std::uint64_t kMostBuckets = std::uint64_t{1} << kHashBits;
  static constexpr std::uint64_t kLeastBuckets = 64;
  static constexpr std::uint32_t kFarthest = 3;  // "so far or farther"

 public:
  static constexpr std::uint64_t kMostNodes = kMostBuckets * 29 / 2;

  /// Slots are filled up to 29/32.
  static constexpr std::uint64_t node_limit_of(std::uint64_t capacity) {
    return capacity / kBucketSlots * 29 / 2;
  }

  enum class Growth : std::uint8_t { kUsual, kTight };

  /// The capacity that follows `present` in the growth series and takes `nodes` nodes, at most
  /// kMostNodes.
  static std::uint64_t next_capacity(std::uint64_t present, std::uint64_t nodes, Growth growth);

  static constexpr std::uint64_t bytes_of(std::uint64_t capacity) {
    return capacity * sizeof(std::uint32_t);
  }
  /// Bytes needed besides the new slots while a map of `capacity` grows: the old ones.
  static constexpr std::uint64_t rebuild_scratch_bytes(std::uint64_t capacity) {
    return bytes_of(capacity);
  }

  /// Replaces the slots by `capacity` ones, no fewer, and enters every node of the store but the
  /// root. Those that the map has must be the first of the store.
  /// Result: false when the system has no memory left; the map is as it was then.
  [[nodiscard]] bool rebuild(std::uint64_t capacity, const NodeStore& store);

  void prefetch(PathHash hash) const { __builtin_prefetch(bucket(home(hash).bucket)); }

  /// Where a look-up stands.
  struct Probe {
    std::uint64_t bucket = 0;
    std::uint32_t wanted = 0;
    std::uint32_t equal = 0;  // slots of the bucket that have the tag and were not given yet
  };
  [[nodiscard]] Probe probe(PathHash hash) const {
    const Home at = home(hash);
    return {at.bucket, at.tag, equal_slots(bucket(at.bucket), at.tag, layout_.tag_mask)};
  }

  /// The next node whose hash may be the one that is looked up, or 0 when there is no other. The
  /// map must not have changed since probe(). `looks` is raised by the number of candidates, and
  /// of buckets that have no other.
  [[nodiscard]] std::uint32_t next_candidate(Probe& probe, std::uint64_t& looks) const {
    while (true) {
      const std::uint32_t* const slots = bucket(probe.bucket);
      if (probe.equal != 0) {
        const auto at = static_cast<unsigned>(std::countr_zero(probe.equal));
        probe.equal &= probe.equal - 1;
        if (const std::uint32_t node = slots[at] & ~layout_.tag_mask; node != 0) {
          ++looks;
          return node;
        }
        probe.equal = 0;  // an empty slot has tag 0, and so have those after it
      }
      ++looks;
      if (slots[kBucketSlots - 1] == 0) {
        return 0;
      }
      probe.bucket = layout_.after(probe.bucket);
      probe.wanted = layout_.farther(probe.wanted);
      probe.equal = equal_slots(bucket(probe.bucket), probe.wanted, layout_.tag_mask);
    }
  }

  /// The node whose hash is `hash` and that verify(node) accepts, or 0.
  template <typename Verify>
  [[nodiscard]] std::uint32_t find(PathHash hash, std::uint64_t& looks,
                                   const Verify& verify) const {
    Probe look_up = probe(hash);
    std::uint32_t node = next_candidate(look_up, looks);
    while (node != 0 && !verify(node)) {
      node = next_candidate(look_up, looks);
    }
    return node;
  }

  /// Enters a node that is not in the map. The caller keeps to node_limit_of(capacity()).
  void insert(PathHash hash, std::uint32_t node) {
    assert(node != 0 && node <= layout_.node_limit);
    Home to = home(hash);
    std::uint32_t empty = equal_slots(bucket(to.bucket), 0, ~std::uint32_t{0});
    while (empty == 0) {
      to = {layout_.after(to.bucket), layout_.farther(to.tag)};
      empty = equal_slots(bucket(to.bucket), 0, ~std::uint32_t{0});
    }
    const auto at = static_cast<unsigned>(std::countr_zero(empty));
    slots_[to.bucket * kBucketSlots + at] = to.tag | node;
  }

  [[nodiscard]] std::uint64_t capacity() const {
    return slots_ == nullptr ? 0 : layout_.buckets * kBucketSlots;
  }
  [[nodiscard]] std::uint64_t memory_bytes() const { return bytes_of(capacity()); }

 private:
  struct Home {
    std::uint64_t bucket;
    std::uint32_t tag;
  };

  /// What follows from the number of buckets: how a slot is divided, and what stands where.
  struct Layout {
    explicit Layout(std::uint64_t bucket_count);

    [[nodiscard]] Home home_of(std::uint64_t hash_bits) const {
      const std::uint64_t position = hash_bits * buckets;
      const std::uint64_t rest = position & (kMostBuckets - 1);
      return {position >> kHashBits, static_cast<std::uint32_t>((rest >> rest_shift) << tag_shift)};
    }
    /// The bits that home_of() made a home of.
    [[nodiscard]] std::uint64_t bits_of(const Home& home) const {
      const std::uint64_t least =
          (home.bucket << kHashBits) + (std::uint64_t{home.tag} >> tag_shift << rest_shift);
      __extension__ using Wide = unsigned __int128;
      const auto quotient = static_cast<std::uint64_t>((Wide{least} * inverse) >> 64);
      return quotient + (quotient * buckets < least ? 1 : 0);
    }
    [[nodiscard]] std::uint64_t after(std::uint64_t bucket) const {
      return bucket + 1 == buckets ? 0 : bucket + 1;
    }
    [[nodiscard]] std::uint64_t before(std::uint64_t bucket, std::uint32_t distance) const {
      return bucket < distance ? bucket + buckets - distance : bucket - distance;
    }
    /// The tag of the same hash one bucket farther from home.
    [[nodiscard]] std::uint32_t farther(std::uint32_t tag) const {
      return (tag & distance_mask) == distance_mask ? tag : tag + distance_one;
    }

    std::uint64_t buckets;
    std::uint64_t inverse;  // 2^64 / buckets, rounded up
    std::uint64_t node_limit;
    unsigned index_bits;
    unsigned tag_shift;
    unsigned rest_shift;
    std::uint32_t tag_mask;      // all bits above the node index
    std::uint32_t distance_one;  // the two lowest of them are the distance from home
    std::uint32_t distance_mask;
  };

  [[nodiscard]] bool spread_from(const NodeMap& old, const NodeStore& store);
  void enter_all(const NodeStore& store, io::GrowableArray<PathHash>& hashes);

  [[nodiscard]] const std::uint32_t* bucket(std::uint64_t number) const {
    return slots_ + number * kBucketSlots;
  }
  static constexpr std::uint64_t bits_of(PathHash hash) { return hash >> (32 - kHashBits); }
  [[nodiscard]] Home home(PathHash hash) const { return layout_.home_of(bits_of(hash)); }

  std::uint32_t* slots_ = nullptr;
  Layout layout_{kLeastBuckets};
  io::GrowableArray<std::uint32_t> memory_;
};

}  // namespace stackpack::dag
