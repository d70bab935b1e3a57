#include "app/convert/interval_sort.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace stackpack::app {

namespace {

bool before_in_file(const IntervalRow& a, const IntervalRow& b) {
  return std::tie(a.source, a.tid, a.from_ns, a.to_ns, a.order) <
         std::tie(b.source, b.tid, b.from_ns, b.to_ns, b.order);
}

}  // namespace

IntervalSort::IntervalSort(std::string scratch_directory)
    : runs_(std::move(scratch_directory), kMergeBytes) {}

Status IntervalSort::add(const IntervalRow& interval) {
  IntervalRow& row = rows_.emplace_back(interval);
  row.order = count_++;
  if (rows_.size() < kRows) {
    return {};
  }
  std::sort(rows_.begin(), rows_.end(), before_in_file);
  const Status added = runs_.add(rows_);
  rows_.clear();
  return added;
}

Status IntervalSort::visit(const std::function<Status(const IntervalRow&)>& visit) {
  std::sort(rows_.begin(), rows_.end(), before_in_file);
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
    rows_ = {};
  }
  return runs_.merge(
      before_in_file, [](IntervalRow& /*sum*/, const IntervalRow& /*row*/) {}, visit);
}

}  // namespace stackpack::app
