#include "dag/recent_stacks.h"

#include <algorithm>
#include <cstring>

namespace stackpack::dag {

namespace {

constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;

// Every frame counts: callstacks of one wait or one fault share all frames near the leaf. Four
// lanes, since a chain of multiplications would take four times as long.
std::uint64_t hash_of(const capture::StackView& stack) {
  const std::size_t depth = stack.depth();
  const std::uint64_t* const addresses = stack.addresses.data();
  std::uint64_t a = depth;
  std::uint64_t b = 1;
  std::uint64_t c = 2;
  std::uint64_t d = 3;
  std::size_t i = 0;
  for (; i + 4 <= depth; i += 4) {
    a = (a ^ addresses[i]) * kMultiplier;
    b = (b ^ addresses[i + 1]) * kMultiplier;
    c = (c ^ addresses[i + 2]) * kMultiplier;
    d = (d ^ addresses[i + 3]) * kMultiplier;
  }
  for (; i < depth; ++i) {
    a = (a ^ addresses[i]) * kMultiplier;
  }
  const std::uint64_t sum = a ^ (b << 16 | b >> 48) ^ (c << 32 | c >> 32) ^ (d << 48 | d >> 16);
  return (sum ^ (sum >> 32)) * kMultiplier;
}

}  // namespace

RecentStacks::RecentStacks(bool enabled)
    : entries_(enabled ? kEntries : 0), tags_(enabled ? kEntries : 0) {}

std::uint32_t RecentStacks::find(const capture::StackView& stack) {
  looked_ = false;
  if (resting_ > 0) {
    --resting_;
    return 0;
  }
  if (entries_.empty() || stack.depth() > kDeepest || stack.runs.size() > kMostRuns) {
    return 0;
  }
  if (++seen_ > kWindow) {
    resting_ = found_ < kWindow / 4 ? kRest : 0;
    seen_ = 0;
    found_ = 0;
  }
  const std::uint64_t hash = hash_of(stack);
  looked_ = true;
  slot_ = static_cast<std::uint32_t>(hash >> 32) % kEntries;
  tag_ = static_cast<std::uint32_t>(hash);
  if (tags_[slot_] != tag_) {
    return 0;
  }
  const Entry& entry = entries_[slot_];
  const bool same = entry.depth == stack.depth() &&
                    std::equal(stack.runs.begin(), stack.runs.end(), entry.runs.begin(),
                               [](const capture::ModeRun& a, const capture::ModeRun& b) {
                                 return a.mode == b.mode && a.count == b.count;
                               }) &&
                    std::memcmp(entry.addresses.data(), stack.addresses.data(),
                                stack.addresses.size_bytes()) == 0;
  found_ += same ? 1U : 0U;
  return same ? entry.node : 0;
}

void RecentStacks::keep(const capture::StackView& stack, std::uint32_t node) {
  if (!looked_) {
    return;
  }
  Entry& entry = entries_[slot_];
  tags_[slot_] = tag_;
  entry.node = node;
  entry.depth = static_cast<std::uint32_t>(stack.depth());
  std::copy(stack.runs.begin(), stack.runs.end(), entry.runs.begin());
  std::copy(stack.addresses.begin(), stack.addresses.end(), entry.addresses.begin());
}

}  // namespace stackpack::dag
