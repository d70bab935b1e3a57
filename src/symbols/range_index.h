#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "stackpack/names.h"

namespace stackpack::symbols {

/// Whose ranges are looked through: all of one owner.
struct RangeOwner {
  FunctionOwner owner = FunctionOwner::kProcess;
  std::uint32_t place = kKernelPid;      ///< pid, kKernelPid, or module
  std::uint64_t life_ns = kUnknownTime;  ///< kProcess

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
  friend auto operator<=>(const RangeOwner&, const RangeOwner&) = default;
};

/// Finds the ranges that have an address. Ranges may overlap in any way.
///
/// Memory: 12 to 20 bytes per range. Time: logarithmic, and proportional to the ranges found.
template <typename Row>
class RangeIndex {
 public:
  /// `first_rows`: for each module the first row of the same image. The rows must outlive this.
  RangeIndex(std::span<const Row> rows, std::span<const std::uint32_t> first_rows)
      : rows_(rows), first_rows_(first_rows), order_(rows.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::stable_sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
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
  }

  /// Calls visit(row) for every range of the owner that has the address.
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
};

}  // namespace stackpack::symbols
