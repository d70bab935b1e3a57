#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "capture/interval_lists.h"
#include "core/sort_rows.h"
#include "stackpack/names.h"

namespace stackpack::symbols {

/// Ranges of which many have the same addresses: finds the one that is wanted of those that have an
/// address, without a look at each. Each has a key, which is for the user to choose.
///
/// Time: the square of the logarithm. Memory: some 32 bytes per range, and four for each of at most
/// 2 log n places in lists.
class CrowdedRanges {
 public:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  ///< not one of its addresses; above `begin`
    std::uint64_t key = 0;
    std::size_t place = 0;  ///< what is found
  };

  explicit CrowdedRanges(std::vector<Range> ranges);

  /// Of the ranges that have `address` and keys up to `key`, the last one of the highest key.
  [[nodiscard]] std::optional<Range> last_until(std::uint64_t address, std::uint64_t key) const;
  /// Of the ranges that have `address`, the first one of the lowest key.
  [[nodiscard]] std::optional<Range> first(std::uint64_t address) const;

 private:
  std::vector<Range> ranges_;  // by key, then place
  capture::IntervalLists lists_;
};

/// Whose ranges are looked through: all of one owner.
struct RangeOwner {
  FunctionOwner owner = FunctionOwner::kProcess;
  std::uint32_t place = kKernelPid;      ///< pid, kKernelPid, or module
  std::uint64_t life_ns = kUnknownTime;  ///< kProcess

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
  friend auto operator<=>(const RangeOwner&, const RangeOwner&) = default;
};

/// When a row was born, as a number in which lookups compare births. A function without a known
/// birth was there from the beginning; a line without one is of every function.
inline std::uint64_t birth_key(const Function& row) {
  return row.born_ns == kUnknownTime ? 0 : row.born_ns;
}
inline std::uint64_t birth_key(const CodeLine& row) {
  return row.born_ns + 1;
}

/// Finds the ranges that have an address. Ranges may overlap in any way: where more than a few have
/// an address, those of their owner are in lists (CrowdedRanges).
///
/// Memory: 12 to 20 bytes per range; crowded ones those of CrowdedRanges besides. Time:
/// logarithmic, its square where they are crowded.
template <typename Row>
class RangeIndex {
 public:
  /// `first_rows`: for each module the first row of the same image. The rows must outlive this.
  RangeIndex(std::span<const Row> rows, std::span<const std::uint32_t> first_rows)
      : rows_(rows), first_rows_(first_rows), order_(rows.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    core::sort_rows(order_, [this](std::uint32_t a, std::uint32_t b) {
      return std::tuple(owner_of(rows_[a]), rows_[a].start) <
             std::tuple(owner_of(rows_[b]), rows_[b].start);
    });
    leaves_ = std::bit_ceil(std::max<std::size_t>(1, order_.size()));
    ends_.assign(2 * leaves_, 0);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      ends_[leaves_ + i] = end_of(i);
    }
    for (std::size_t node = leaves_; node-- > 1;) {
      ends_[node] = std::max(ends_[2 * node], ends_[2 * node + 1]);
    }
    find_crowds();
  }

  /// Whether any range of the owner has the address.
  [[nodiscard]] bool any(const RangeOwner& owner, std::uint64_t address) const {
    return first(owner, address) != nullptr;
  }

  /// Of the ranges of the owner that have the address and birth keys up to `key`, the one of the
  /// highest key, of several the last in the order of starts; null: there is none.
  [[nodiscard]] const Row* last_until(const RangeOwner& owner, std::uint64_t address,
                                      std::uint64_t key) const {
    if (const CrowdedRanges* const crowd = crowd_of(owner); crowd != nullptr) {
      return row_of(crowd->last_until(address, key));
    }
    const Row* best = nullptr;
    each(owner, address, [&](const Row& row) {
      const bool later = best == nullptr || birth_key(row) >= birth_key(*best);
      best = birth_key(row) <= key && later ? &row : best;
    });
    return best;
  }

  /// Of the ranges of the owner that have the address, that of the lowest birth key, of several the
  /// first in the order of starts; null: there is none.
  [[nodiscard]] const Row* first(const RangeOwner& owner, std::uint64_t address) const {
    if (const CrowdedRanges* const crowd = crowd_of(owner); crowd != nullptr) {
      return row_of(crowd->first(address));
    }
    const Row* best = nullptr;
    each(owner, address, [&](const Row& row) {
      best = best == nullptr || birth_key(row) < birth_key(*best) ? &row : best;
    });
    return best;
  }

  /// Of the ranges of the owner that have the address and birth key 0 or `key`, the last in the
  /// order of starts; null: there is none.
  [[nodiscard]] const Row* last_of(const RangeOwner& owner, std::uint64_t address,
                                   std::uint64_t key) const {
    if (const CrowdedRanges* const crowd = crowd_of(owner); crowd != nullptr) {
      const std::optional<CrowdedRanges::Range> always = crowd->last_until(address, 0);
      const std::optional<CrowdedRanges::Range> own = crowd->last_until(address, key);
      const bool is_own = own && own->key == key && (!always || own->place > always->place);
      return row_of(is_own ? own : always);
    }
    const Row* last = nullptr;
    each(owner, address, [&](const Row& row) {
      last = birth_key(row) == 0 || birth_key(row) == key ? &row : last;
    });
    return last;
  }
  /// Calls visit(row) for every range that shares bytes with another one of its owner.
  template <typename Visit>
  void each_shared(const Visit& visit) const {
    std::uint64_t highest = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const RangeOwner owner = owner_of(rows_[order_[i]]);
      const bool first = i == 0 || owner_of(rows_[order_[i - 1]]) != owner;
      const bool last = i + 1 == order_.size() || owner_of(rows_[order_[i + 1]]) != owner;
      if ((!first && highest > rows_[order_[i]].start) ||
          (!last && end_of(i) > rows_[order_[i + 1]].start)) {
        visit(rows_[order_[i]]);
      }
      highest = first ? end_of(i) : std::max(highest, end_of(i));
    }
  }

 private:
  [[nodiscard]] RangeOwner owner_of(const Row& row) const {
    return row.owner == FunctionOwner::kImage
               ? RangeOwner{row.owner,
                            row.module < first_rows_.size() ? first_rows_[row.module] : row.module,
                            kUnknownTime}
               : RangeOwner{row.owner, row.pid, row.life_ns};
  }
  [[nodiscard]] std::uint64_t end_of(std::size_t place) const {
    return rows_[order_[place]].start + rows_[order_[place]].size;
  }

  // Ranges that an address may have before those of their owner are in lists.
  static constexpr std::size_t kMostOverlapping = 32;

  void find_crowds() {
    std::vector<std::uint64_t> highest(order_.size());  // end so far, of the same owner
    for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
      const RangeOwner owner = owner_of(rows_[order_[begin]]);
      bool crowded = false;
      for (std::size_t reach = begin; end < order_.size() && owner_of(rows_[order_[end]]) == owner;
           ++end) {
        highest[end] = end == begin ? end_of(end) : std::max(highest[end - 1], end_of(end));
        while (highest[reach] <= rows_[order_[end]].start && reach < end) {
          ++reach;
        }
        crowded = crowded || end - reach >= kMostOverlapping;
      }
      if (crowded && most_overlapping(begin, end) > kMostOverlapping) {
        crowds_.try_emplace(owner, ranges_of(begin, end));
      }
    }
  }

  // Of the ranges at places [begin, end), of one owner: how many have an address at most.
  [[nodiscard]] std::size_t most_overlapping(std::size_t begin, std::size_t end) const {
    std::vector<std::uint64_t> ends;
    for (std::size_t i = begin; i < end; ++i) {
      ends.push_back(end_of(i));
    }
    std::sort(ends.begin(), ends.end());
    std::size_t most = 0;
    std::size_t ended = 0;
    for (std::size_t i = begin; i < end; ++i) {
      while (ended < i - begin && ends[ended] <= rows_[order_[i]].start) {
        ++ended;
      }
      most = std::max(most, i - begin + 1 - ended);
    }
    return most;
  }

  [[nodiscard]] std::vector<CrowdedRanges::Range> ranges_of(std::size_t begin,
                                                            std::size_t end) const {
    std::vector<CrowdedRanges::Range> ranges;
    ranges.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      const Row& row = rows_[order_[i]];
      ranges.push_back({row.start, row.start + row.size, birth_key(row), i});
    }
    return ranges;
  }

  [[nodiscard]] const CrowdedRanges* crowd_of(const RangeOwner& owner) const {
    if (crowds_.empty()) [[likely]] {
      return nullptr;
    }
    const auto found = crowds_.find(owner);
    return found == crowds_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const Row* row_of(const std::optional<CrowdedRanges::Range>& range) const {
    return range ? &rows_[order_[range->place]] : nullptr;
  }

  // Calls visit(row) for every range of the owner that has the address.
  template <typename Visit>
  void each(const RangeOwner& owner, std::uint64_t address, const Visit& visit) const {
    const auto begin = std::lower_bound(order_.begin(), order_.end(), owner,
                                        [this](std::uint32_t row, const RangeOwner& wanted) {
                                          return owner_of(rows_[row]) < wanted;
                                        });
    const auto end =
        std::upper_bound(begin, order_.end(), std::tuple(owner, address),
                         [this](const auto& wanted, std::uint32_t row) {
                           return wanted < std::tuple(owner_of(rows_[row]), rows_[row].start);
                         });
    walk(1, 0, leaves_, static_cast<std::size_t>(begin - order_.begin()),
         static_cast<std::size_t>(end - order_.begin()), address, visit);
  }

  // The ranges at places [begin, end) below a node that covers [from, from + count).
  template <typename Visit>
  void walk(std::size_t node, std::size_t from, std::size_t count, std::size_t begin,
            std::size_t end, std::uint64_t address, const Visit& visit) const {
    if (from >= end || from + count <= begin || ends_[node] <= address) {
      return;
    }
    if (count == 1) {
      visit(rows_[order_[from]]);
      return;
    }
    walk(2 * node, from, count / 2, begin, end, address, visit);
    walk(2 * node + 1, from + count / 2, count / 2, begin, end, address, visit);
  }

  std::span<const Row> rows_;
  std::span<const std::uint32_t> first_rows_;
  std::vector<std::uint32_t> order_;  // rows by owner, then start
  std::vector<std::uint64_t> ends_;   // a tree: the highest end below each node
  std::size_t leaves_ = 0;
  std::map<RangeOwner, CrowdedRanges> crowds_;  // of owners whose ranges are crowded
};

}  // namespace stackpack::symbols
