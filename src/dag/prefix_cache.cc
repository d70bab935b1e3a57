#include "dag/prefix_cache.h"

#include <algorithm>
#include <cassert>

#include "dag/frozen_dag.h"

namespace stackpack::dag {
namespace {

// A vector of `size` whose last elements are those of `old`.
template <typename T>
void grow_at_front(std::vector<T>& values, std::size_t size) {
  std::vector<T> larger(size);
  std::copy(values.begin(), values.end(),
            larger.end() - static_cast<std::ptrdiff_t>(values.size()));
  values = std::move(larger);
}

}  // namespace

PrefixCache::PrefixCache(std::uint64_t budget)
    : budget_frames_(std::max<std::uint64_t>(budget / kFrameBytes, kDeepest + LastStack::kSpare)),
      threads_(std::size_t{kSets} * kWays),
      used_(std::size_t{kSets} * kWays),
      stacks_(std::size_t{kSets} * kWays) {}

std::size_t PrefixCache::first_way(std::uint64_t thread) {
  const std::uint64_t mixed = thread * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::size_t>(mixed >> 32) % kSets * kWays;
}

const LastStack* PrefixCache::find(std::uint64_t thread, std::uint32_t depth) const {
  if (depth > kDeepest) {
    return &deep_;
  }
  const std::size_t first = first_way(thread);
  for (std::size_t way = first; way < first + kWays; ++way) {
    if (threads_[way] == thread && used_[way] != 0) {
      return &stacks_[way];
    }
  }
  return nullptr;
}

LastStack& PrefixCache::entry(std::uint64_t thread, std::uint32_t depth) {
  if (depth > kDeepest) {
    return grow(deep_, depth);
  }
  const std::size_t first = first_way(thread);
  ++clock_;
  std::size_t oldest = first;
  for (std::size_t way = first; way < first + kWays; ++way) {
    if (threads_[way] == thread && used_[way] != 0) {
      used_[way] = clock_;
      return grow(stacks_[way], depth);
    }
    if (used_[way] < used_[oldest]) {
      oldest = way;
    }
  }
  threads_[oldest] = thread;
  used_[oldest] = clock_;
  stacks_[oldest].depth = 0;
  return grow(stacks_[oldest], depth);
}

LastStack& PrefixCache::grow(LastStack& stack, std::uint32_t depth) {
  const std::size_t needed = depth + LastStack::kSpare;
  if (needed <= stack.words.size()) {
    return stack;
  }
  const bool deep = &stack == &deep_;
  const std::size_t least = deep ? 2 * std::size_t{kDeepest} : 64;
  const std::size_t most = (deep ? kMaxDepth : kDeepest) + LastStack::kSpare;
  assert(needed <= most);
  const std::size_t size = std::min(most, std::max({needed, 2 * stack.words.size(), least}));
  if (!deep && frames_ - deep_.words.size() + size - stack.words.size() > budget_frames_) {
    clear();
  }
  frames_ += size - stack.words.size();
  grow_at_front(stack.words, size);
  grow_at_front(stack.nodes, size);
  grow_at_front(stack.hashes, size);
  return stack;
}

void PrefixCache::clear() {
  for (LastStack& stack : stacks_) {
    stack = LastStack{};
  }
  frames_ = deep_.words.size();
}

std::uint64_t PrefixCache::most_bytes() const {
  return kTableBytes + (budget_frames_ + kMaxDepth + LastStack::kSpare) * kFrameBytes;
}

}  // namespace stackpack::dag
