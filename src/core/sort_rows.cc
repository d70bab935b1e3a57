#include "core/sort_rows.h"

#include <algorithm>
#include <numeric>

namespace stackpack::core::detail {

std::vector<std::size_t> sorted_order(std::size_t count, const void* context, RowLess less) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [context, less](std::size_t a, std::size_t b) { return less(context, a, b); });
  return order;
}

}  // namespace stackpack::core::detail
