#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "scratch/spill_space.h"

namespace stackpack::scratch {

/// An array without end in a SpillSpace. What was never written is all zeros.
///
/// T: trivially copyable, of a size that is a power of two, and good when it is all zeros.
template <typename T>
class SpillArray {
  static_assert(std::is_trivially_copyable_v<T> && std::has_single_bit(sizeof(T)) &&
                sizeof(T) <= SpillSpace::kPageBytes);

 public:
  static constexpr std::size_t kPerPage = SpillSpace::kPageBytes / sizeof(T);

  /// `space` must outlive this.
  explicit SpillArray(SpillSpace& space) : space_(&space) {}

  [[nodiscard]] T get(std::uint64_t index) const {
    T value{};
    if (index / kPerPage < pages_.size()) {
      std::memcpy(static_cast<void*>(&value), bytes_of(index, false), sizeof value);
    }
    return value;
  }

  void set(std::uint64_t index, const T& value) {
    reach(index);
    std::memcpy(bytes_of(index, true), &value, sizeof value);
  }

  /// Gives the element to `change(T&)`, which must not use the space, and keeps what it makes of
  /// it.
  template <typename Change>
  void change(std::uint64_t index, Change change) {
    reach(index);
    std::byte* const bytes = bytes_of(index, true);
    T value;
    std::memcpy(static_cast<void*>(&value), bytes, sizeof value);
    change(value);
    std::memcpy(bytes, &value, sizeof value);
  }

  /// Forgets all elements, and gives their memory back.
  void clear() {
    for (const std::uint32_t page : pages_) {
      space_->give_back(page);
    }
    pages_.clear();
  }

  /// Gives the memory of the page with this element back; its elements are zeros only by luck then.
  void give_back_page_of(std::uint64_t index) { space_->give_back(pages_[index / kPerPage]); }

  [[nodiscard]] SpillSpace& space() const { return *space_; }

 private:
  void reach(std::uint64_t index) {
    while (index / kPerPage >= pages_.size()) {
      pages_.push_back(space_->take_page());
    }
  }

  [[nodiscard]] std::byte* bytes_of(std::uint64_t index, bool change) const {
    return space_->bytes_at(pages_[index / kPerPage], index % kPerPage * sizeof(T), change);
  }

  SpillSpace* space_;
  std::vector<std::uint32_t> pages_;
};

/// Records in a SpillSpace under numbers from 1 on, 0 being none. The number of a removed record is
/// given again, the last one first; until then it reads as a fresh one but for its first four
/// bytes.
template <typename T>
class SpillRecords {
  static_assert(sizeof(T) > sizeof(std::uint32_t));

 public:
  /// `space` must outlive this.
  explicit SpillRecords(SpillSpace& space) : records_(space) {}

  std::uint32_t add(const T& record) {
    std::uint32_t number = first_free_;
    if (number != 0) {
      const T removed = records_.get(number);
      std::memcpy(&first_free_, static_cast<const void*>(&removed), sizeof first_free_);
    } else if (last_ == ~std::uint32_t{0}) {
      records_.space().fail({ErrorCode::kLimit, kNoOffset, "a scratch table is full"});
    } else {
      number = ++last_;
    }
    records_.set(number, record);
    return number;
  }

  void remove(std::uint32_t number) {
    T removed{};
    std::memcpy(static_cast<void*>(&removed), &first_free_, sizeof first_free_);
    records_.set(number, removed);
    first_free_ = number;
  }

  [[nodiscard]] T get(std::uint32_t number) const { return records_.get(number); }
  void set(std::uint32_t number, const T& record) { records_.set(number, record); }
  template <typename Change>
  void change(std::uint32_t number, Change change) {
    records_.change(number, change);
  }

  /// The highest number that was ever given.
  [[nodiscard]] std::uint32_t last() const { return last_; }

 private:
  SpillArray<T> records_;
  std::uint32_t first_free_ = 0;  // each leads to the next by its first four bytes
  std::uint32_t last_ = 0;
};

/// Sorts the elements [begin, begin + count) of `items` by `less`. Stable.
///
/// Memory: `run` elements, and pages of the space for a copy. Elements are read and written one
/// after the other, so that few pages suffice.
template <typename T, typename Less>
void spill_sort(SpillArray<T>& items, std::uint64_t begin, std::uint64_t count, Less less,
                std::uint64_t run = std::uint64_t{1} << 14) {
  std::vector<T> sorted;
  for (std::uint64_t first = 0; first < count; first += run) {
    sorted.clear();
    const std::uint64_t end = std::min(first + run, count);
    for (std::uint64_t i = first; i < end; ++i) {
      sorted.push_back(items.get(begin + i));
    }
    std::stable_sort(sorted.begin(), sorted.end(), less);
    for (std::uint64_t i = first; i < end; ++i) {
      items.set(begin + i, sorted[static_cast<std::size_t>(i - first)]);
    }
  }
  SpillArray<T> merged(items.space());
  for (; run < count; run *= 2) {  // pairs of runs become one
    for (std::uint64_t first = 0; first < count; first += 2 * run) {
      const std::uint64_t middle = std::min(first + run, count);
      const std::uint64_t end = std::min(middle + run, count);
      std::uint64_t left = first;
      std::uint64_t right = middle;
      for (std::uint64_t out = first; out < end; ++out) {
        const bool take_right = left == middle || (right != end && less(items.get(begin + right),
                                                                        items.get(begin + left)));
        merged.set(out, items.get(begin + (take_right ? right++ : left++)));
      }
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      items.set(begin + i, merged.get(i));
    }
  }
  merged.clear();
}

}  // namespace stackpack::scratch
