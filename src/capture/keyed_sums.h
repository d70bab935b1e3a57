#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/sort_rows.h"
#include "scratch/sorted_runs.h"
#include "stackpack/result.h"

namespace stackpack::capture {

/// Rows in any order, those with equal keys added up, visited in the order of their keys.
///
/// Memory: `bytes`, in which rows are collected; when distinct ones do not fit, sorted runs go to
/// a scratch file.
///
/// Order::before(a, b) orders by key, Order::join(sum, row) adds up.
template <typename Row, typename Order>
class KeyedSums {
 public:
  KeyedSums() = default;
  KeyedSums(std::string scratch_directory, std::uint64_t bytes)
      : scratch_directory_(std::move(scratch_directory)),
        bytes_(bytes),
        most_(static_cast<std::size_t>(std::max<std::uint64_t>(kLeastRows, bytes / sizeof(Row)))) {}

  [[nodiscard]] bool empty() const { return rows_.empty() && runs_ == nullptr; }

  /// Errors: kIo.
  Status add(const Row& row) {
    rows_.push_back(row);
    if (rows_.size() < most_) {
      return {};
    }
    settle();
    if (rows_.size() <= most_ / 2) {
      return {};
    }
    if (runs_ == nullptr) {
      runs_ = std::make_unique<scratch::SortedRuns<Row>>(scratch_directory_, bytes_);
    }
    const Status added = runs_->add(rows_);
    rows_.clear();
    return added;
  }

  /// Once. Errors: kIo, and what `visit(const Row&)` returns.
  template <typename Visit>
  Status finish(const Visit& visit) {
    settle();
    if (runs_ != nullptr) {
      if (const Status added = runs_->add(rows_); !added) {
        return added;
      }
      std::vector<Row>().swap(rows_);
      return runs_->merge(
          before, [](Row& sum, const Row& row) { Order::join(sum, row); }, visit);
    }
    for (const Row& row : rows_) {
      if (const Status visited = visit(row); !visited) {
        return visited;
      }
    }
    std::vector<Row>().swap(rows_);
    return {};
  }

 private:
  static constexpr std::uint64_t kLeastRows = 1024;

  static bool before(const Row& a, const Row& b) { return Order::before(a, b); }

  void settle() {
    core::sort_rows(rows_, before);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (kept != 0 && !before(rows_[kept - 1], rows_[i])) {
        Order::join(rows_[kept - 1], rows_[i]);
      } else {
        rows_[kept++] = rows_[i];
      }
    }
    rows_.resize(kept);
  }

  std::string scratch_directory_ = ".";
  std::uint64_t bytes_ = 0;
  std::size_t most_ = kLeastRows;
  std::vector<Row> rows_;
  std::unique_ptr<scratch::SortedRuns<Row>> runs_;
};

}  // namespace stackpack::capture
