#include "app/convert/interval_sort.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace stackpack::app {

namespace {

bool before_in_file(const IntervalRow& a, const IntervalRow& b) {
  return std::tie(a.source, a.tid, a.from_ns, a.to_ns, a.order) <
         std::tie(b.source, b.tid, b.from_ns, b.to_ns, b.order);
}

}  // namespace

IntervalSort::IntervalSort(std::string scratch_directory)
    : runs_(std::move(scratch_directory), kMergeBytes) {}

void IntervalSort::sort_rows() {
  keys_.clear();
  for (const IntervalRow& row : rows_) {
    keys_.push_back({std::uint64_t{row.source} << 32 | row.tid, row.from_ns, keys_.size()});
  }
  std::sort(keys_.begin(), keys_.end(), [this](const PlacedKey& a, const PlacedKey& b) {
    return a.thread != b.thread     ? a.thread < b.thread
           : a.from_ns != b.from_ns ? a.from_ns < b.from_ns
                                    : before_in_file(rows_[a.row], rows_[b.row]);
  });
  sorted_.clear();
  for (const PlacedKey& key : keys_) {
    sorted_.push_back(rows_[key.row]);
  }
  rows_.swap(sorted_);
}

Status IntervalSort::add(const IntervalRow& interval) {
  IntervalRow& row = rows_.emplace_back(interval);
  row.order = count_++;
  if (rows_.size() < kRows) {
    return {};
  }
  sort_rows();
  const Status added = runs_.add(rows_);
  rows_.clear();
  return added;
}

Status IntervalSort::visit(const std::function<Status(const IntervalRow&)>& visit) {
  sort_rows();
  sorted_ = {};
  keys_ = {};
  if (runs_.empty()) {
    for (const IntervalRow& row : rows_) {
      if (const Status visited = visit(row); !visited) {
        return visited;
      }
    }
    return {};
  }
  if (!rows_.empty()) {
    if (const Status added = runs_.add(rows_); !added) {
      return added;
    }
  }
  rows_ = {};
  return runs_.merge(
      before_in_file, [](IntervalRow& /*sum*/, const IntervalRow& /*row*/) {}, visit);
}

}  // namespace stackpack::app
