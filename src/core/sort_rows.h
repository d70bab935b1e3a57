// Sorting of rows by a condition of one's own, with little code for each kind of row.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace stackpack::core {

namespace detail {

/// Whether row `a` comes before row `b`; `context` has the rows.
using RowLess = bool (*)(const void* context, std::size_t a, std::size_t b);

/// The numbers 0 to count - 1 in the order of `less`, equal ones by number.
[[nodiscard]] std::vector<std::size_t> sorted_order(std::size_t count, const void* context,
                                                    RowLess less);

}  // namespace detail

/// Sorts the rows of a vector or span by `less(a, b)`; equal ones stay in the order they have. Rows
/// are moved once, and eight bytes for each are needed meanwhile. As std::stable_sort, of which a
/// program has five kilobytes of code, and a fifth of a second of compilation, for each kind of
/// row; comparing through a pointer takes up to twice its time.
template <typename Rows, typename Less>
void sort_rows(Rows&& rows, Less less) {
  using Row = std::remove_reference_t<decltype(*rows.data())>;
  struct Context {
    Row* rows;
    Less* less;
  };
  Row* const data = rows.data();
  const Context context{data, &less};
  std::vector<std::size_t> order = detail::sorted_order(
      rows.size(), &context, [](const void* given, std::size_t a, std::size_t b) -> bool {
        const Context& of = *static_cast<const Context*>(given);
        return (*of.less)(std::as_const(of.rows[a]), std::as_const(of.rows[b]));
      });
  // Along each circle of the permutation: a row is put where another one was taken from.
  for (std::size_t start = 0; start < order.size(); ++start) {
    if (order[start] == start) {
      continue;
    }
    Row taken = std::move(data[start]);
    std::size_t to = start;
    for (std::size_t from = order[to]; from != start; from = order[to]) {
      data[to] = std::move(data[from]);
      order[to] = to;
      to = from;
    }
    data[to] = std::move(taken);
    order[to] = to;
  }
}

}  // namespace stackpack::core
