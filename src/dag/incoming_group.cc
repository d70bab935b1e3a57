#include "dag/incoming_group.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace stackpack::dag {
namespace {

// Words of callstacks are compared kBlock at a time; the spare ones in front (below the leaf) are
// there so that a block may reach beyond the last frame.
constexpr std::size_t kBlock = LastStack::kSpare;

// Two words at a time, in the vector registers that every x86-64 has.
using Pair = std::uint64_t __attribute__((vector_size(16)));

Pair load_pair(const std::uint64_t* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof pair);
  return pair;
}

// How many of `count` words are equal, from the end (the root) on.
std::size_t equal_from_end(const FrameWord* a_end, const FrameWord* b_end, std::size_t count) {
  for (std::size_t equal = 0; equal < count; equal += kBlock) {
    const FrameWord* const a = a_end - equal - kBlock;
    const FrameWord* const b = b_end - equal - kBlock;
    Pair different = {0, 0};
    for (std::size_t i = 0; i < kBlock; i += 2) {
      different |= load_pair(a + i) ^ load_pair(b + i);
    }
    if ((different[0] | different[1]) != 0) {
      unsigned mask = 0;  // of different words; the one nearest to the root is the highest bit
      for (std::size_t i = 0; i < kBlock; ++i) {
        mask |= (a[i] != b[i] ? 1U : 0U) << i;
      }
      const auto below = static_cast<std::size_t>(std::countl_zero(mask << (32 - kBlock)));
      return std::min(count, equal + below);
    }
  }
  return count;
}

std::uint32_t shared_frames(const IncomingStack& stack, const FrameWord* end, std::uint32_t depth) {
  return static_cast<std::uint32_t>(
      equal_from_end(stack.words + stack.depth, end, std::min(stack.depth, depth)));
}

// Whether two callstacks have one entry of the prefix cache.
bool same_entry(const IncomingStack& a, const IncomingStack& b) {
  const bool deep = a.depth > PrefixCache::kDeepest;
  return deep == (b.depth > PrefixCache::kDeepest) && (deep || a.thread == b.thread);
}

std::size_t bucket_of(const IncomingStack& stack) {
  constexpr unsigned kShift = 64 - std::bit_width(IncomingGroup::kMost - 1);
  return stack.depth > PrefixCache::kDeepest ? 0 : stack.thread * 0x9e3779b97f4a7c15ULL >> kShift;
}

// The hash of the path of frame k of a callstack; k is below the depth.
PathHash hash_of(const IncomingStack* stack, std::uint32_t k) {
  while (k < stack->shared) {
    if (stack->before == nullptr) {
      return stack->last->hashes[stack->last->slot(k)];
    }
    stack = stack->before;
  }
  return stack->hashes[stack->slot(k)];
}

}  // namespace

IncomingGroup::IncomingGroup() {
  resize(kUsualFrames);
  clear();
}

void IncomingGroup::resize(std::size_t frames) {
  words_.resize(frames);
  nodes_.resize(frames);
  hashes_.resize(frames);
}

void IncomingGroup::clear() {
  count_ = 0;
  used_ = LastStack::kSpare;
  buckets_.fill(kNone);
}

IncomingStack* IncomingGroup::add(std::uint32_t depth) {
  const std::size_t needed = depth + kRoots;
  if (count_ == 0 && needed > words_.size() - used_) {
    resize(kMaxDepth + kEnds);
  }
  if (count_ == kMost || needed > words_.size() - used_ ||
      (count_ > 0 && used_ + needed > kUsualFrames)) {
    return nullptr;
  }
  IncomingStack& stack = stacks_[count_++];
  stack = {};
  stack.words = words_.data() + used_;
  stack.nodes = nodes_.data() + used_;
  stack.hashes = hashes_.data() + used_;
  stack.depth = depth;
  used_ += needed;
  std::fill_n(stack.words + depth, kRoots, kRootWord);
  return &stack;
}

void IncomingGroup::compare_last(const PrefixCache& cache) {
  const std::size_t place = count_ - 1;
  IncomingStack& stack = stacks_[place];
  std::uint8_t& bucket = buckets_[bucket_of(stack)];
  std::uint8_t other = bucket;
  while (other != kNone && !same_entry(stacks_[other], stack)) {
    other = earlier_[other];
  }
  earlier_[place] = bucket;
  bucket = static_cast<std::uint8_t>(place);
  // Nothing in the prefix cache changes before the last step. So the callstack before is either in
  // the group or the one there.
  if (other != kNone) {
    stack.before = &stacks_[other];
    stack.shared =
        shared_frames(stack, stack.before->words + stack.before->depth, stack.before->depth);
  } else if (stack.last = cache.find(stack.thread, stack.depth); stack.last != nullptr) {
    const LastStack& last = *stack.last;
    stack.shared = shared_frames(stack, last.words.data() + last.words.size(), last.depth);
  }
  hash_paths(stack);
}

std::uint64_t make_words(std::span<const std::uint64_t> addresses, FrameWord key,
                         FrameWord* words) {
  std::uint64_t escapes = 0;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    words[i] = addresses[i] ^ key;
    escapes |= escape_bits(addresses[i]);
  }
  return escapes;
}

void hash_paths(IncomingStack& stack) {
  PathHash hash = stack.shared == 0 ? kRootHash : hash_of(&stack, stack.shared - 1);
  for (std::size_t at = stack.unshared(); at > 0; --at) {
    hash = extend_path(hash, stack.words[at - 1]);
    stack.hashes[at - 1] = hash;
  }
}

}  // namespace stackpack::dag
