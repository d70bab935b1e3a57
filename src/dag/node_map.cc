#include "dag/node_map.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace stackpack::dag {
namespace {

constexpr std::uint64_t kFirstCapacity = 1024;
constexpr std::uint64_t kDoubleUpTo = std::uint64_t{1} << 20;

}  // namespace

std::uint64_t NodeMap::next_capacity(std::uint64_t present, std::uint64_t nodes, Growth growth) {
  std::uint64_t capacity = std::max(present, kFirstCapacity);
  while (node_limit_of(capacity) < nodes) {
    const std::uint64_t step = growth == Growth::kTight ? capacity / 4
                               : capacity < kDoubleUpTo ? capacity
                                                        : capacity / 2;
    constexpr std::uint64_t kUnit = std::uint64_t{1} << kUnitShift;
    capacity = (capacity + step + kUnit - 1) / kUnit * kUnit;
  }
  return capacity;
}

bool NodeMap::rebuild(std::uint64_t capacity, const NodeStore& store) {
  assert(store.size() <= node_limit_of(capacity) + 1);
  io::GrowableArray<std::uint32_t> fresh;
  io::GrowableArray<PathHash> hashes;
  const std::uint32_t count = store.size();
  if (!fresh.reserve(capacity) || !hashes.reserve(count)) {
    return false;
  }
  memory_ = std::move(fresh);  // the old slots go before the new ones are touched
  slots_ = memory_.data();
  capacity_ = capacity;
  node_limit_ = std::min(node_limit_of(capacity), std::uint64_t{0xffff'ffff});
  index_bits_ = static_cast<unsigned>(std::bit_width(node_limit_));
  tag_mask_ = static_cast<std::uint32_t>(~std::uint64_t{0} << index_bits_);

  // Hashes run ahead of the insertions, so that the slots arrive in the cache in time.
  constexpr std::uint32_t kAhead = 64;
  hashes[0] = kRootHash;
  std::uint32_t hashed = 1;
  for (std::uint32_t node = 1; node < count; ++node) {
    for (; hashed < count && hashed - node < kAhead; ++hashed) {
      hashes[hashed] = extend_path(hashes[store.parent(hashed)], store.word(hashed));
      __builtin_prefetch(slots_ + home(hashes[hashed]), 1);
    }
    insert(hashes[node], node);
  }
  return true;
}

}  // namespace stackpack::dag
