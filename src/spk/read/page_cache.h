#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "spk/read/resident_page.h"
#include "stackpack/reader.h"

namespace stackpack::spk {

/// Pages in memory, least recently used out first, never more than the budget in bytes.
///
/// Time is counted in pages added: of pages used since the same one was added, any may go first.
/// A page in use is pinned: it stays valid and is not evicted. When only pinned pages are left and
/// there is no room, a new page is handed out without being kept, so that callers never wait: every
/// thread may hold one page on top of the budget.
/// A page that was missed is worth its place when it is missed again soon: before as many others as
/// there is room for. One that is not can be read without being made.
/// Threads: any number. Finding a page that is there and unpinning take no mutex, one atomic
/// addition each.
class PageCache {
 private:
  struct Entry {
    explicit Entry(ResidentPage content) : page(std::move(content)) {}
    ResidentPage page;
    std::uint64_t number = 0;
    std::atomic<std::uint64_t> last_use{0};
  };
  // Per page of the file. The state: pins in the low bits, above them whether the page is there,
  // above that how often it was found since. An entry that is there and pinned stays.
  struct Slot {
    std::atomic<std::uint64_t> state{0};
    Entry* entry = nullptr;                // written while it is not there
    std::atomic<std::uint64_t> missed{0};  // number of the latest miss, 0: never
  };
  static constexpr std::uint64_t kPin = 1;
  static constexpr std::uint64_t kPresent = std::uint64_t{1} << 24;
  static constexpr std::uint64_t kHit = kPresent << 1;

 public:
  /// Use of a page. Movable; ends the use at the end of its life.
  class Pin {
   public:
    Pin() = default;
    Pin(Pin&& other) noexcept
        : page_(std::exchange(other.page_, nullptr)),
          state_(other.state_),
          own_(std::move(other.own_)) {}
    Pin& operator=(Pin&& other) noexcept {
      release();
      page_ = std::exchange(other.page_, nullptr);
      state_ = other.state_;
      own_ = std::move(other.own_);
      return *this;
    }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
    ~Pin() { release(); }

    explicit operator bool() const { return page_ != nullptr; }
    const ResidentPage& operator*() const { return *page_; }
    const ResidentPage* operator->() const { return page_; }

   private:
    friend class PageCache;
    explicit Pin(Slot& slot) : page_(&slot.entry->page), state_(&slot.state) {}
    explicit Pin(std::unique_ptr<Entry> own) : page_(&own->page), own_(std::move(own)) {}
    void release() {
      if (page_ != nullptr && own_ == nullptr) {
        state_->fetch_sub(kPin, std::memory_order_release);
      }
      page_ = nullptr;
    }

    const ResidentPage* page_ = nullptr;
    std::atomic<std::uint64_t>* state_ = nullptr;  // of its slot
    std::unique_ptr<Entry> own_;                   // a page that is not in the cache
  };

  PageCache(std::uint64_t budget_bytes, std::size_t page_count)
      : budget_bytes_(budget_bytes), slots_(page_count) {}

  /// The page when it is there, else an empty pin. Counts a hit or a miss.
  Pin find(std::uint64_t number);

  /// After a miss: whether the page should be added. Answers once per miss.
  bool worth_adding(std::uint64_t number);

  /// Adds a page and pins it. When another thread was faster, its page is used.
  Pin insert(std::uint64_t number, ResidentPage page);

  [[nodiscard]] CacheCounters counters() const;

 private:
  using ByUse = std::multimap<std::uint64_t, std::unique_ptr<Entry>>;

  // Of a page of the usual size, roughly.
  static constexpr std::uint64_t kUsualBytes = std::uint64_t{2} * kNodesPerPage;

  void make_room(std::uint64_t bytes);
  bool evict(Entry& entry);

  std::uint64_t budget_bytes_;
  std::vector<Slot> slots_;
  std::atomic<std::uint64_t> time_{0};
  std::atomic<std::uint64_t> misses_{0};
  mutable std::mutex mutex_;
  ByUse by_use_;            // by last use when it was last looked at
  CacheCounters counters_;  // hits: of pages that are gone
};

}  // namespace stackpack::spk
