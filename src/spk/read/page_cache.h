#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "spk/read/resident_page.h"
#include "stackpack/reader.h"

namespace stackpack::spk {

/// Pages in memory, least recently used out first, never more than the budget in bytes.
///
/// A page in use is pinned: it stays valid and is not evicted. When only pinned pages are left and
/// there is no room, a new page is handed out without being kept, so that callers never wait: every
/// thread may hold one page on top of the budget.
/// Threads: any number. One mutex; unpinning does not take it.
class PageCache {
 private:
  struct Entry {
    explicit Entry(ResidentPage content) : page(std::move(content)) {}
    ResidentPage page;
    std::atomic<std::uint32_t> pins{0};
    std::uint64_t number = 0;
    std::list<std::unique_ptr<Entry>>::iterator place;
  };

 public:
  /// Use of a page. Movable; ends the use at the end of its life.
  class Pin {
   public:
    Pin() = default;
    Pin(Pin&& other) noexcept
        : entry_(std::exchange(other.entry_, nullptr)), own_(std::move(other.own_)) {}
    Pin& operator=(Pin&& other) noexcept {
      release();
      entry_ = std::exchange(other.entry_, nullptr);
      own_ = std::move(other.own_);
      return *this;
    }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
    ~Pin() { release(); }

    explicit operator bool() const { return entry_ != nullptr; }
    const ResidentPage& operator*() const { return entry_->page; }
    const ResidentPage* operator->() const { return &entry_->page; }

   private:
    friend class PageCache;
    explicit Pin(Entry* entry) : entry_(entry) {}
    explicit Pin(std::unique_ptr<Entry> own) : entry_(own.get()), own_(std::move(own)) {}
    void release() {
      if (entry_ != nullptr && own_ == nullptr) {
        entry_->pins.fetch_sub(1, std::memory_order_release);
      }
      entry_ = nullptr;
    }

    Entry* entry_ = nullptr;
    std::unique_ptr<Entry> own_;  // a page that is not in the cache
  };

  PageCache(std::uint64_t budget_bytes, std::size_t page_count)
      : budget_bytes_(budget_bytes), by_number_(page_count, nullptr) {}

  /// The page when it is there, else an empty pin. Counts a hit or a miss.
  Pin find(std::uint64_t number);

  /// Adds a page and pins it. When another thread was faster, its page is used.
  Pin insert(std::uint64_t number, ResidentPage page);

  [[nodiscard]] CacheCounters counters() const;

 private:
  Pin pin(Entry& entry);
  void make_room(std::uint64_t bytes);

  std::uint64_t budget_bytes_;
  mutable std::mutex mutex_;
  std::vector<Entry*> by_number_;
  std::list<std::unique_ptr<Entry>> recent_;  // most recently used first
  CacheCounters counters_;
};

}  // namespace stackpack::spk
