#include "spk/read/page_cache.h"

namespace stackpack::spk {

PageCache::Pin PageCache::find(std::uint64_t number) {
  Slot& slot = slots_[static_cast<std::size_t>(number)];
  if ((slot.state.fetch_add(kPin + kHit, std::memory_order_acquire) & kPresent) == 0) {
    slot.state.fetch_sub(kPin + kHit, std::memory_order_relaxed);
    misses_.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  const std::uint64_t now = time_.load(std::memory_order_relaxed);
  if (slot.entry->last_use.load(std::memory_order_relaxed) != now) {
    slot.entry->last_use.store(now, std::memory_order_relaxed);
  }
  return Pin(slot);
}

bool PageCache::worth_adding(std::uint64_t number) {
  const std::uint64_t now = misses_.load(std::memory_order_relaxed);
  std::atomic<std::uint64_t>& missed = slots_[static_cast<std::size_t>(number)].missed;
  const std::uint64_t before = missed.exchange(now, std::memory_order_relaxed);
  return before != 0 && now - before <= budget_bytes_ / kUsualBytes;
}

PageCache::Pin PageCache::insert(std::uint64_t number, ResidentPage page) {
  auto fresh = std::make_unique<Entry>(std::move(page));
  fresh->number = number;
  const std::uint64_t bytes = fresh->page.memory_bytes();
  Slot& slot = slots_[static_cast<std::size_t>(number)];
  const std::lock_guard lock(mutex_);
  if ((slot.state.load(std::memory_order_relaxed) & kPresent) != 0) {
    slot.state.fetch_add(kPin, std::memory_order_acquire);
    return Pin(slot);
  }
  make_room(bytes);
  if (bytes > budget_bytes_ - counters_.bytes) {
    return Pin(std::move(fresh));
  }
  const std::uint64_t now = time_.fetch_add(1, std::memory_order_relaxed) + 1;
  fresh->last_use.store(now, std::memory_order_relaxed);
  slot.entry = fresh.get();
  by_use_.emplace(now, std::move(fresh));
  counters_.bytes += bytes;
  slot.state.fetch_add(kPresent + kPin, std::memory_order_release);
  return Pin(slot);
}

// Whether nobody used the page, which is out of reach then.
bool PageCache::evict(Entry& entry) {
  Slot& slot = slots_[static_cast<std::size_t>(entry.number)];
  std::uint64_t state = slot.state.load(std::memory_order_relaxed);
  if (state % kPresent != 0 ||
      !slot.state.compare_exchange_strong(state, 0, std::memory_order_acq_rel)) {
    return false;
  }
  counters_.hits += state / kHit;
  counters_.bytes -= entry.page.memory_bytes();
  return true;
}

void PageCache::make_room(std::uint64_t bytes) {
  if (bytes > budget_bytes_) {
    return;
  }
  for (auto at = by_use_.begin(); at != by_use_.end() && counters_.bytes > budget_bytes_ - bytes;) {
    const std::uint64_t last_use = at->second->last_use.load(std::memory_order_relaxed);
    if (last_use > at->first) {  // to its place, which is further on
      ByUse::node_type moved = by_use_.extract(at++);
      moved.key() = last_use;
      const auto placed = by_use_.insert(std::move(moved));
      at = at == by_use_.end() || placed->first < at->first ? placed : at;
    } else if (evict(*at->second)) {
      at = by_use_.erase(at);
    } else {
      ++at;
    }
  }
}

CacheCounters PageCache::counters() const {
  const std::lock_guard lock(mutex_);
  CacheCounters counters = counters_;
  counters.misses = misses_.load(std::memory_order_relaxed);
  for (const auto& [last_use, entry] : by_use_) {
    const Slot& slot = slots_[static_cast<std::size_t>(entry->number)];
    counters.hits += slot.state.load(std::memory_order_relaxed) / kHit;
  }
  return counters;
}

}  // namespace stackpack::spk
