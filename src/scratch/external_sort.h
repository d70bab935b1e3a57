#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/radix_sort.h"
#include "scratch/sorted_runs.h"
#include "stackpack/result.h"

namespace stackpack::scratch {

/// Rows in any order, visited in order.
///
/// Order::key(row): a std::uint64_t; Order::before(a, b): whether a comes before b, by key first
/// and by the rest of the row among those of one key. It must be a total order: of equal rows,
/// which comes first is not said.
/// Memory: `most_rows` rows and 32 bytes for each; more goes to a scratch file. A MiB or two more
/// while they are merged. Threads: one at a time.
template <typename Row, typename Order>
class ExternalSort {
 public:
  ExternalSort(std::string scratch_directory, std::size_t most_rows)
      : scratch_directory_(std::move(scratch_directory)), most_rows_(most_rows) {}

  [[nodiscard]] bool empty() const { return rows_.empty() && !runs_; }

  /// Errors: kIo.
  Status add(const Row& row) {
    rows_.push_back(row);
    return rows_.size() < rows_of_run() ? Status{} : spill();
  }

  /// The same for a row that `fill(Row&)` makes of a fresh one, where it stays.
  template <typename Fill>
  Status add_filled(const Fill& fill) {
    rows_.emplace_back();
    fill(rows_.back());
    return rows_.size() < most_rows_ ? Status{} : spill();
  }

  /// All rows, in order; after the last add(), more than once if need be.
  /// Errors: kIo, and what `visit(const Row&)` returns.
  template <typename Visit>
  Status visit(const Visit& visit) {
    if (runs_) {
      if (const Status spilled = rows_.empty() ? Status{} : spill(); !spilled) {
        return spilled;
      }
      rows_ = {};
      keys_ = {};
      spare_ = {};
      return runs_->merge_apart(&Order::before, visit);
    }
    sort();
    for (const core::OrderKey& key : keys_) {
      if (const Status visited = visit(std::as_const(rows_[key.index])); !visited) {
        return visited;
      }
    }
    return {};
  }

  /// After the last add(): the next row in order, until the next call; null at the end. Once, and
  /// without visit(). Errors: kIo.
  Result<const Row*> next() {
    if (!runs_) {
      if (next_ == 0) {
        sort();
      }
      const Row* const none = nullptr;
      return next_ == keys_.size() ? none : &rows_[keys_[next_++].index];
    }
    if (!walk_) {
      if (const Status spilled = rows_.empty() ? Status{} : spill(); !spilled) {
        return spilled.error();
      }
      rows_ = {};
      keys_ = {};
      spare_ = {};
      walk_ = std::make_unique<Walk>(*runs_, &Order::before);
    }
    return walk_->next();
  }

 private:
  static constexpr std::uint64_t kMergeBytes = std::uint64_t{2} << 20;
  static constexpr std::size_t kShortRuns = 128;

  // A quarter of the rows stays in the processor's cache while they are added, sorted and packed.
  // Of many runs each takes memory while they are merged, so that later ones are longer.
  [[nodiscard]] std::size_t rows_of_run() const {
    return spilled_ < kShortRuns ? std::max<std::size_t>(1, most_rows_ / 4) : most_rows_;
  }

  /// Merging so many ascending parts costs less than a sort.
  static constexpr std::size_t kMostParts = 16;

  // Numbers of rows are put in order: a row takes longer to move.
  void sort() {
    keys_.resize(rows_.size());
    parts_.assign(1, 0);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      keys_[i] = {Order::key(rows_[i]), static_cast<std::uint32_t>(i)};
      if (i != 0 && parts_.size() <= kMostParts && !Order::before(rows_[i - 1], rows_[i])) {
        parts_.push_back(i);
      }
    }
    if (parts_.size() <= kMostParts) {
      merge_parts();
    } else {
      sort_keys();
    }
  }

  // Rows of several writers come in a few ascending parts: neighbours become one until one is left.
  void merge_parts() {
    const auto before = [this](const core::OrderKey& a, const core::OrderKey& b) {
      return a.value != b.value ? a.value < b.value : Order::before(rows_[a.index], rows_[b.index]);
    };
    spare_.resize(keys_.size());
    for (; parts_.size() > 1; keys_.swap(spare_)) {
      const auto at = [](auto& keys, std::size_t place) {
        return keys.begin() + static_cast<std::ptrdiff_t>(place);
      };
      std::size_t kept = 0;
      for (std::size_t part = 0; part < parts_.size(); part += 2) {
        const std::size_t begin = parts_[part];
        const std::size_t end = part + 2 < parts_.size() ? parts_[part + 2] : keys_.size();
        const std::size_t middle = part + 1 < parts_.size() ? parts_[part + 1] : end;
        std::merge(at(keys_, begin), at(keys_, middle), at(keys_, middle), at(keys_, end),
                   at(spare_, begin), before);
        parts_[kept++] = begin;
      }
      parts_.resize(kept);
    }
  }

  void sort_keys() {
    core::sort_by_value(keys_, spare_);
    const auto before = [this](const core::OrderKey& a, const core::OrderKey& b) {
      return Order::before(rows_[a.index], rows_[b.index]);
    };
    for (auto begin = keys_.begin(); begin != keys_.end();) {
      const auto end = std::find_if(begin, keys_.end(), [begin](const core::OrderKey& key) {
        return key.value != begin->value;
      });
      if (!std::is_sorted(begin, end, before)) {
        std::sort(begin, end, before);
      }
      begin = end;
    }
  }

  Status spill() {
    sort();
    if (!runs_) {
      runs_.emplace(scratch_directory_, kMergeBytes);
    }
    const Status added = runs_->add(
        keys_.size(), [this](std::size_t i) -> const Row& { return rows_[keys_[i].index]; });
    rows_.clear();
    ++spilled_;
    return added;
  }

  std::string scratch_directory_;
  std::size_t most_rows_;
  std::vector<Row> rows_;
  std::vector<core::OrderKey> keys_;   // room for sort()
  std::vector<core::OrderKey> spare_;  // the same
  std::vector<std::size_t> parts_;     // where ascending parts begin
  std::optional<SortedRuns<Row>> runs_;
  using Walk = typename SortedRuns<Row>::template Walk<bool (*)(const Row&, const Row&)>;
  std::unique_ptr<Walk> walk_;
  std::size_t next_ = 0;  // of rows that fit
  std::size_t spilled_ = 0;
};

}  // namespace stackpack::scratch
