#include "dag/recent_stacks.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "capture/word_hash.h"

namespace stackpack::dag {

RecentStacks::RecentStacks(bool enabled) : enabled_(enabled), tags_(enabled ? kEntries : 0) {}

std::uint32_t RecentStacks::find(const capture::StackView& stack, Place& place) {
  place.keep = false;
  if (resting_ > 0) {
    --resting_;
    return 0;
  }
  if (!enabled_ || stack.depth() > kDeepest || stack.runs.size() > kMostRuns) {
    return 0;
  }
  if (++seen_ > kWindow) {
    resting_ = found_ < kWindow / 4 ? kRest : 0;
    seen_ = 0;
    found_ = 0;
  }
  const std::uint64_t hash = capture::hash_words(std::as_bytes(stack.addresses), 1);
  place.keep = true;
  place.slot = static_cast<std::uint32_t>(hash >> 32) % kEntries;
  place.tag = static_cast<std::uint32_t>(hash);
  if (tags_[place.slot] != place.tag || entries_.capacity() == 0) {
    return 0;
  }
  const Entry& entry = entries_[place.slot];
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

void RecentStacks::keep(const capture::StackView& stack, const Place& place, std::uint32_t node) {
  if (!place.keep || !entries_.reserve(kEntries)) {
    return;
  }
  Entry& entry = entries_[place.slot];
  tags_[place.slot] = place.tag;
  entry.node = node;
  entry.depth = static_cast<std::uint32_t>(stack.depth());
  std::copy(stack.runs.begin(), stack.runs.end(), entry.runs.begin());
  std::copy(stack.addresses.begin(), stack.addresses.end(), entry.addresses.begin());
}

}  // namespace stackpack::dag
