#include "spk/read/page_cache.h"

namespace stackpack::spk {

// Under the mutex: pins go up only here, so that a page without pins can be evicted safely.
PageCache::Pin PageCache::pin(Entry& entry) {
  entry.pins.fetch_add(1, std::memory_order_relaxed);
  if (entry.place != recent_.begin()) {
    recent_.splice(recent_.begin(), recent_, entry.place);
  }
  return Pin(&entry);
}

PageCache::Pin PageCache::find(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = by_number_[static_cast<std::size_t>(number)];
  if (entry == nullptr) {
    ++counters_.misses;
    return {};
  }
  ++counters_.hits;
  return pin(*entry);
}

PageCache::Pin PageCache::insert(std::uint64_t number, ResidentPage page) {
  auto fresh = std::make_unique<Entry>(std::move(page));
  const std::uint64_t bytes = fresh->page.memory_bytes();
  const std::lock_guard lock(mutex_);
  Entry*& known = by_number_[static_cast<std::size_t>(number)];
  if (known != nullptr) {
    return pin(*known);
  }
  make_room(bytes);
  if (bytes > budget_bytes_ - counters_.bytes) {
    return Pin(std::move(fresh));
  }
  Entry& entry = *fresh;
  entry.number = number;
  recent_.push_front(std::move(fresh));
  entry.place = recent_.begin();
  known = &entry;
  counters_.bytes += bytes;
  return pin(entry);
}

void PageCache::make_room(std::uint64_t bytes) {
  if (bytes > budget_bytes_) {
    return;
  }
  auto candidate = recent_.end();
  while (candidate != recent_.begin() && counters_.bytes > budget_bytes_ - bytes) {
    --candidate;
    Entry& entry = **candidate;
    if (entry.pins.load(std::memory_order_acquire) != 0) {
      continue;
    }
    counters_.bytes -= entry.page.memory_bytes();
    by_number_[static_cast<std::size_t>(entry.number)] = nullptr;
    candidate = recent_.erase(candidate);
  }
}

CacheCounters PageCache::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace stackpack::spk
