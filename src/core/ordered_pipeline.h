#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "core/guard.h"
#include "core/task_line.h"
#include "stackpack/result.h"

namespace stackpack::core {

/// Items that one thread fills, threads work on, and the first one takes back in the order in which
/// it filled them: the number of threads does not show in what comes out.
///
///   filling() -> submit() -> work(worker, item) on a thread -> retire(item) on the owner's thread
///
/// Bound:   as many items as were asked for, the one being filled included; all are made at the
///          start and used again.
/// Errors:  the first one in the order of the items wins; no later item is retired, nor worked on
///          unless that had begun. It comes back from every call from then on.
/// Threads: see TaskLine. One thread keeps the order of the work, too.
template <typename Item>
class OrderedPipeline {
 public:
  using Work = std::function<Status(unsigned worker, Item& item)>;
  /// Also makes the item ready to be filled again.
  using Retire = std::function<Status(Item& item)>;

  /// Of `threads` 0, submit() works on the item itself. `items` is at least 1, and at least 2 for
  /// threads to be of use.
  OrderedPipeline(unsigned threads, std::size_t items, Work work, Retire retire)
      : work_(std::move(work)),
        retire_(std::move(retire)),
        slots_(std::make_unique<Slot[]>(items)),
        items_(items),
        line_(threads, [this](unsigned worker, TaskLine::Task& task) {
          return work_on(worker, static_cast<Slot&>(task));
        }) {}

  /// The item to fill next.
  [[nodiscard]] Item& filling() { return slot(submitted_).item; }

  /// Passes filling() on. Retires the oldest item, and waits for it, when none is left to fill.
  Status submit() {
    if (!status_) {
      return status_;
    }
    Slot& next = slot(submitted_);
    next.number = submitted_++;
    line_.submit(next);
    while (status_ && submitted_ != retired_ &&
           (submitted_ - retired_ == items_ || line_.is_done(slot(retired_)))) {
      retire_oldest();
    }
    return status_;
  }

  /// Passes filling() on and retires nothing. False: it was not, as none would be left to fill.
  bool submit_ahead() {
    if (!status_ || submitted_ - retired_ + 1 >= items_) {
      return false;
    }
    Slot& next = slot(submitted_);
    next.number = submitted_++;
    line_.submit(next);
    return true;
  }

  /// Waits for all items that were submitted, and retires them.
  Status drain() {
    while (status_ && submitted_ != retired_) {
      retire_oldest();
    }
    return status_;
  }

  /// Passes filling() on as the last item and retires everything. An item that is the first and the
  /// last is worked on here: no thread is started for it.
  Status finish() {
    if (submitted_ != 0 || !status_) {
      const Status submitted = submit();
      return submitted ? drain() : submitted;
    }
    status_ = guarded([this] { return work_(0, filling()); });
    if (status_) {
      status_ = retire_(filling());
    }
    return status_;
  }

  /// Ends the threads; items that were not retired are lost. No submit() may follow.
  void stop() { line_.stop(); }

  /// After stop().
  [[nodiscard]] TaskLine::Waits waits() const { return line_.waits(); }

 private:
  struct Slot : TaskLine::Task {
    Item item;
    std::uint64_t number = 0;
  };

  [[nodiscard]] Slot& slot(std::uint64_t number) { return slots_[number % items_]; }

  Status work_on(unsigned worker, Slot& slot) {
    if (slot.number > failed_.load(std::memory_order_relaxed)) {
      return {};  // never retired: an item before it failed
    }
    Status status = guarded([&] { return work_(worker, slot.item); });
    if (!status) {
      std::uint64_t first = failed_.load(std::memory_order_relaxed);
      while (slot.number < first && !failed_.compare_exchange_weak(first, slot.number)) {
      }
    }
    return status;
  }

  void retire_oldest() {
    Slot& oldest = slot(retired_++);
    status_ = line_.collect(oldest);
    if (status_) {
      status_ = retire_(oldest.item);
    }
  }

  const Work work_;
  const Retire retire_;
  const std::unique_ptr<Slot[]> slots_;
  const std::size_t items_;
  std::uint64_t submitted_ = 0;
  std::uint64_t retired_ = 0;
  Status status_;
  std::atomic<std::uint64_t> failed_ = ~std::uint64_t{0};  // the lowest number of one that failed
  TaskLine line_;                                          // last: its threads use what is above
};

}  // namespace stackpack::core
