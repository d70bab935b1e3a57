#include "dag/node_map.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>
#include <vector>

namespace stackpack::dag {
namespace {

constexpr std::uint64_t kFirstCapacity = 1024;
constexpr std::uint64_t kDoubleUpTo = std::uint64_t{1} << 18;
constexpr std::uint64_t kHalfUpTo = std::uint64_t{1} << 20;

// Where more than one node in so many is far from home, all are hashed again.
constexpr std::size_t kLeastShareFar = 16;

// Hashes the paths of some nodes, side by side so that their waits for memory overlap.
class PathHasher {
 public:
  PathHasher(const NodeStore& store, std::uint64_t most_steps)
      : store_(store), steps_left_(most_steps), words_(kLanes * kRoom) {}

  /// Visits (node, hash) for each of `nodes`. False: that takes more steps than there are left, or
  /// a path is too long for this.
  template <typename Visit>
  bool run(std::span<const std::uint32_t> nodes, const Visit& visit) {
    for (std::size_t first = 0; first < nodes.size(); first += kLanes) {
      const auto some = nodes.subspan(first, std::min(kLanes, nodes.size() - first));
      if (!walk_up(some)) {
        return false;
      }
      for (std::size_t lane = 0; lane < some.size(); ++lane) {
        const FrameWord* const words = &words_[lane * kRoom];
        PathHash hash = kRootHash;
        for (std::size_t i = depths_[lane]; i > 0; --i) {
          hash = extend_path(hash, words[i - 1]);
        }
        visit(some[lane], hash);
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t kLanes = 16;
  static constexpr std::size_t kRoom = 512;

  bool walk_up(std::span<const std::uint32_t> nodes) {
    std::array<std::uint32_t, kLanes> at{};
    std::copy(nodes.begin(), nodes.end(), at.begin());
    depths_.fill(0);
    for (std::size_t depth = 0, walking = nodes.size(); walking > 0; ++depth) {
      if (depth == kRoom || steps_left_ < walking) {
        return false;
      }
      steps_left_ -= walking;
      walking = 0;
      for (std::size_t lane = 0; lane < nodes.size(); ++lane) {
        if (at[lane] != 0) {
          words_[lane * kRoom + depth] = store_.word(at[lane]);
          depths_[lane] = depth + 1;
          at[lane] = store_.parent(at[lane]);
          store_.prefetch(at[lane]);
          ++walking;
        }
      }
    }
    return true;
  }

  const NodeStore& store_;
  std::uint64_t steps_left_;
  std::vector<FrameWord> words_;
  std::array<std::size_t, kLanes> depths_{};
};

}  // namespace

std::uint64_t NodeMap::next_capacity(std::uint64_t present, std::uint64_t nodes, Growth growth) {
  assert(nodes <= kMostNodes);
  std::uint64_t capacity = std::max(present, kFirstCapacity);
  while (node_limit_of(capacity) < nodes) {
    const std::uint64_t step = growth == Growth::kTight ? capacity / 16
                               : capacity < kDoubleUpTo ? capacity
                               : capacity < kHalfUpTo   ? capacity / 2
                                                        : capacity / 50 * 12;
    capacity = (capacity + step + kBucketSlots - 1) / kBucketSlots * kBucketSlots;
    capacity = std::min(capacity, kMostBuckets * kBucketSlots);
  }
  return capacity;
}

NodeMap::Layout::Layout(std::uint64_t bucket_count)
    : buckets(bucket_count),
      inverse(~std::uint64_t{0} / bucket_count + 1),
      node_limit(node_limit_of(bucket_count * kBucketSlots)),
      index_bits(static_cast<unsigned>(std::bit_width(node_limit))),
      tag_shift(index_bits + static_cast<unsigned>(std::bit_width(kFarthest))),
      // Positions of different hashes are `buckets` apart, so that lower bits may go.
      rest_shift(static_cast<unsigned>(std::bit_width(bucket_count)) - 1),
      tag_mask(~((std::uint32_t{1} << index_bits) - 1)),
      distance_one(std::uint32_t{1} << index_bits),
      distance_mask(kFarthest << index_bits) {
  assert(tag_shift + kHashBits - rest_shift <= 32);
}

// Enters what another map has. False: too much of it is far from home.
bool NodeMap::spread_from(const NodeMap& old, const NodeStore& store) {
  std::vector<std::uint8_t> used(layout_.buckets);
  const Layout from = old.layout_;  // copies: no store to a slot can change them
  const auto put = [slots = slots_, used = used.data(), to = layout_](std::uint64_t hash_bits,
                                                                      std::uint32_t node) {
    Home home = to.home_of(hash_bits);
    while (used[home.bucket] == kBucketSlots) {
      home = {to.after(home.bucket), to.farther(home.tag)};
    }
    slots[home.bucket * kBucketSlots + used[home.bucket]++] = home.tag | node;
  };
  std::vector<std::uint32_t> far;  // their homes are not known
  const std::size_t most_far = store.size() / kLeastShareFar;
  for (std::uint64_t number = 0; number < from.buckets; ++number) {
    const std::uint32_t* const slots = old.bucket(number);
    const auto count = static_cast<unsigned>(
        std::countr_zero(equal_slots(slots, 0, ~std::uint32_t{0}) | 1U << kBucketSlots));
    // What is far is as far as that and no farther if a bucket in between has room.
    const bool certain = old.bucket(from.before(number, kFarthest + 1))[kBucketSlots - 1] == 0;
    for (unsigned i = 0; i < count; ++i) {
      const std::uint32_t node = slots[i] & ~from.tag_mask;
      const std::uint32_t tag = slots[i] & from.tag_mask;
      const std::uint32_t distance = (tag & from.distance_mask) >> from.index_bits;
      if (distance == 0) {
        put(from.bits_of({number, tag}), node);
      } else if (distance < kFarthest || certain) {
        put(from.bits_of({from.before(number, distance), tag}), node);
      } else {
        if (far.size() == most_far) {
          return false;
        }
        far.push_back(node);
      }
    }
  }
  PathHasher hasher(store, 4 * std::uint64_t{store.size()});
  return hasher.run(far, [&](std::uint32_t node, PathHash hash) { put(bits_of(hash), node); });
}

// Enters all nodes of the store; the slots are empty.
void NodeMap::enter_all(const NodeStore& store, io::GrowableArray<PathHash>& hashes) {
  // Hashes run ahead of the insertions, so that the slots arrive in the cache in time.
  constexpr std::uint32_t kAhead = 64;
  const std::uint32_t count = store.size();
  hashes[0] = kRootHash;
  std::uint32_t hashed = 1;
  for (std::uint32_t node = 1; node < count; ++node) {
    for (; hashed < count && hashed - node < kAhead; ++hashed) {
      hashes[hashed] = extend_path(hashes[store.parent(hashed)], store.word(hashed));
      prefetch(hashes[hashed]);
    }
    insert(hashes[node], node);
  }
}

bool NodeMap::rebuild(std::uint64_t capacity, const NodeStore& store) {
  assert(store.size() <= node_limit_of(capacity) + 1);
  NodeMap fresh;
  if (!fresh.memory_.reserve(capacity)) {
    return false;
  }
  fresh.slots_ = fresh.memory_.data();
  fresh.layout_ = Layout(capacity / kBucketSlots);
  if (slots_ == nullptr || !fresh.spread_from(*this, store)) {
    io::GrowableArray<PathHash> hashes;
    if (!hashes.reserve(store.size())) {
      return false;
    }
    memory_.release();  // they are no less than the hashes
    std::fill_n(fresh.slots_, capacity, 0U);
    fresh.enter_all(store, hashes);
  }
  *this = std::move(fresh);
  return true;
}

}  // namespace stackpack::dag
