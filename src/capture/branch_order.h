#pragma once

#include <cstdint>

#include "capture/keyed_sums.h"
#include "core/saturating.h"
#include "stackpack/branches.h"

namespace stackpack::capture {

template <typename Row>
bool is_before(const Row& a, const Row& b) {
  return branch_key(a) < branch_key(b);
}

using core::saturating_sum;

/// Adds `row` to one with the same key.
inline void join_rows(BranchEdge& sum, const BranchEdge& row) {
  sum.count = saturating_sum(sum.count, row.count);
  sum.mispredicted = saturating_sum(sum.mispredicted, row.mispredicted);
  sum.cycles = saturating_sum(sum.cycles, row.cycles);
  sum.head_duplicates = saturating_sum(sum.head_duplicates, row.head_duplicates);
}
inline void join_rows(BranchRange& sum, const BranchRange& row) {
  sum.count = saturating_sum(sum.count, row.count);
  sum.head_duplicates = saturating_sum(sum.head_duplicates, row.head_duplicates);
  sum.wrong_path = saturating_sum(sum.wrong_path, row.wrong_path);
}

/// BranchEdge or BranchRange rows, added up in their order.
struct BranchOrder {
  template <typename Row>
  static bool before(const Row& a, const Row& b) {
    return is_before(a, b);
  }
  template <typename Row>
  static void join(Row& sum, const Row& row) {
    join_rows(sum, row);
  }
};
template <typename Row>
using BranchSums = KeyedSums<Row, BranchOrder>;

}  // namespace stackpack::capture
