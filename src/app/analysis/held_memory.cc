#include "app/analysis/held_memory.h"

#include <algorithm>
#include <limits>

namespace stackpack::app {

namespace {

std::uint64_t end_of(std::uint64_t begin, std::uint64_t bytes) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  return bytes > kLast - begin ? kLast : begin + bytes;
}

}  // namespace

void HeldMemory::commit(std::uint32_t pid, std::uint64_t begin, std::uint64_t bytes,
                        const Owner& owner) {
  Ranges& ranges = processes_[pid];
  const std::uint64_t end = end_of(begin, bytes);
  auto next = ranges.upper_bound(begin);
  if (next != ranges.begin()) {
    begin = std::max(begin, std::prev(next)->second.end);
  }
  while (begin < end) {  // the gaps between what is there
    const std::uint64_t stop = next == ranges.end() ? end : std::min(end, next->first);
    if (begin < stop) {
      if (count_ == kMostRanges) {
        ++forgotten_;
        return;
      }
      ranges.emplace_hint(next, begin, Range{stop, owner});
      ++count_;
      bytes_ += stop - begin;
    }
    if (next == ranges.end()) {
      break;
    }
    begin = std::max(stop, next->second.end);
    ++next;
  }
  most_bytes_ = std::max(most_bytes_, bytes_);
}

void HeldMemory::release(std::uint32_t pid, std::uint64_t begin, std::uint64_t bytes) {
  const auto found = processes_.find(pid);
  if (found == processes_.end()) {
    return;
  }
  Ranges& ranges = found->second;
  const std::uint64_t end = end_of(begin, bytes);
  auto at = ranges.upper_bound(begin);
  if (at != ranges.begin() && std::prev(at)->second.end > begin) {
    --at;
  }
  while (at != ranges.end() && at->first < end) {
    const std::uint64_t from = at->first;
    const Range range = at->second;
    at = ranges.erase(at);
    --count_;
    bytes_ -= std::min(range.end, end) - std::max(from, begin);
    if (from < begin) {
      ranges.emplace_hint(at, from, Range{begin, range.owner});
      ++count_;
    }
    if (range.end > end) {
      at = ranges.emplace_hint(at, end, range);
      ++count_;
    }
  }
}

void HeldMemory::free(std::uint32_t pid, std::uint64_t begin) {
  const auto found = processes_.find(pid);
  if (found == processes_.end()) {
    return;
  }
  if (const auto range = found->second.find(begin); range != found->second.end()) {
    release(pid, begin, range->second.end - begin);
  }
}

}  // namespace stackpack::app
