#include "app/diff/row_sums.h"

#include <algorithm>
#include <numeric>

#include "app/diff/renames.h"
#include "core/weight_scale.h"

namespace stackpack::app {

namespace {

using query::FunctionPattern;
using query::StackTree;

// A size so large that shares of it are small: counts are those of Poisson then.
constexpr double kSizeOfSecond = 1e9;

class RowSums {
 public:
  RowSums(const SideProfile& side, std::span<const std::uint32_t> row_of_node, std::size_t rows,
          const RowQuery& query)
      : side_(side),
        rows_(row_of_node),
        query_(query),
        by_callstack_(query.options.by == DiffGrain::kCallstack) {
    sums_.self.resize(rows);
    self_.resize(rows);
    if (!by_callstack_) {
      sums_.total.resize(rows);
      total_.resize(rows);
      in_node_.resize(rows_.size());
      find_outermost();
    }
    choose_scale();
  }

  SideSums sum() {
    for (const ProfileUnit& unit : side_.units) {
      add_unit(unit);
    }
    // Figures are in the unit of the event from here on.
    const auto power = static_cast<double>(core::power_of_ten(side_.decimals));
    sums_.scale *= power;
    sums_.per_size /= query_.options.unit == DiffUnit::kRun ? power : 1;
    return std::move(sums_);
  }

 private:
  [[nodiscard]] bool inside(std::uint32_t node) const {
    return query_.inside.empty() || query_.inside[node];
  }

  // Nodes above which their row does not occur: there a callstack counts for the row's total.
  void find_outermost() {
    outermost_.assign(rows_.size(), false);
    std::vector<std::uint32_t> open(sums_.total.size());  // by row: nodes on the way to the root
    const auto counts = [&](std::uint32_t node) {
      return node != StackTree::kRoot && rows_[node] != RowTable::kNoRow && inside(node);
    };
    depth_first(
        [&](std::uint32_t node) { outermost_[node] = counts(node) && open[rows_[node]]++ == 0; },
        [&](std::uint32_t node) {
          if (counts(node)) {
            --open[rows_[node]];
          }
        });
  }

  // Each node is entered after its parent, and left after its children.
  template <typename Enter, typename Leave>
  void depth_first(const Enter& enter, const Leave& leave) const {
    const std::size_t nodes = rows_.size();
    std::vector<std::uint32_t> first(nodes + 1);  // of the children of each node
    for (std::uint32_t node = 1; node < nodes; ++node) {
      ++first[side_.tree.parent(node) + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::uint32_t> children(nodes);
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (std::uint32_t node = 1; node < nodes; ++node) {
      children[next[side_.tree.parent(node)]++] = node;
    }
    next.assign(first.begin(), first.end() - 1);
    std::uint32_t node = StackTree::kRoot;
    while (true) {
      if (next[node] < first[node + 1]) {
        node = children[next[node]++];
        enter(node);
      } else if (node == StackTree::kRoot) {
        return;
      } else {
        leave(node);
        node = side_.tree.parent(node);
      }
    }
  }

  void choose_scale() {
    double value = 0;
    double squares = 0;
    for (const ProfileUnit& unit : side_.units) {
      value += unit.value;
      squares += unit.squares;
    }
    sums_.scale = squares > 0 ? value / squares : 1;
    sums_.per_size = query_.options.unit == DiffUnit::kTime  ? kSizeOfSecond
                     : query_.options.unit == DiffUnit::kRun ? query_.size_of_work
                                                             : 1;
  }

  [[nodiscard]] double size_of(const ProfileUnit& unit, double count) const {
    switch (query_.options.unit) {
      case DiffUnit::kTime:
        return unit.seconds * kSizeOfSecond * sums_.scale;
      case DiffUnit::kRun:
        return unit.work * query_.size_of_work * sums_.scale;
      default:
        return count;
    }
  }

  void add_unit(const ProfileUnit& unit) {
    double value = 0;
    for (std::size_t i = 0; i < unit.nodes.size(); ++i) {
      const std::uint32_t node = unit.nodes[i];
      if (!inside(node)) {
        continue;
      }
      const double scaled = static_cast<double>(unit.values[i]) * sums_.scale;
      value += scaled;
      if (!by_callstack_) {
        in_node_[node] += scaled;
      }
      if (rows_[node] != RowTable::kNoRow) {
        add(self_, rows_[node], scaled);
      }
    }
    const double size = size_of(unit, value);
    sweep();
    UnitSums& sums = sums_.units.emplace_back();
    sums.size = size;
    sums.count = value;
    finish(self_, sums_.self, sums.self);
    finish(total_, sums_.total, sums.total);
    sums_.size += size;
    sums_.count += value;
    sums_.work += unit.work;
    sums_.filled_units += size > 0 ? 1 : 0;
  }

  // From the leaves to the root.
  void sweep() {
    for (std::size_t node = in_node_.size(); node-- > 1;) {
      const double value = in_node_[node];
      if (value == 0) {
        continue;
      }
      in_node_[node] = 0;
      in_node_[side_.tree.parent(static_cast<std::uint32_t>(node))] += value;
      if (outermost_[node]) {
        add(total_, rows_[node], value);
      }
    }
    if (!in_node_.empty()) {
      in_node_[StackTree::kRoot] = 0;
    }
  }

  // The counts of one unit by row, and the rows that have some.
  struct OpenCounts {
    std::vector<double> counts;
    std::vector<std::uint32_t> touched;

    void resize(std::size_t rows) { counts.resize(rows); }
  };

  static void add(OpenCounts& unit, std::uint32_t row, double value) {
    if (unit.counts[row] == 0) {
      unit.touched.push_back(row);
    }
    unit.counts[row] += value;
  }

  static void finish(OpenCounts& unit, std::vector<double>& sums, UnitCounts& result) {
    for (const std::uint32_t row : unit.touched) {
      sums[row] += unit.counts[row];
      result.counts.push_back(unit.counts[row]);
      unit.counts[row] = 0;
    }
    result.rows = unit.touched;
    unit.touched.clear();
  }

  const SideProfile& side_;
  std::span<const std::uint32_t> rows_;
  const RowQuery& query_;
  bool by_callstack_;
  SideSums sums_;
  std::vector<bool> outermost_;
  std::vector<double> in_node_;
  OpenCounts self_;
  OpenCounts total_;
};

}  // namespace

namespace {

std::vector<FunctionPattern::Fit> fits_of_side(const SideProfile& side,
                                               const FunctionPattern& whole, DiffGrain by,
                                               const Renames* renames) {
  std::vector<FunctionPattern::Fit> fits;
  fits.reserve(side.entities.size());
  for (const query::FrameEntity& entity : side.entities) {
    RowName name = name_of_entity(entity, by);
    if (renames != nullptr) {
      renames->apply(name);
    }
    fits.push_back(fit_of_row(name, whole));
  }
  return fits;
}

}  // namespace

Result<std::array<std::vector<bool>, 2>> nodes_inside(const std::array<SideProfile, 2>& sides,
                                                      const DiffOptions& options,
                                                      const Renames& renames) {
  std::array<std::vector<bool>, 2> inside;
  if (options.whole.empty()) {
    return inside;
  }
  const auto whole = FunctionPattern::parse(options.whole);
  if (!whole) {
    return whole.error();
  }
  const std::array fits = {fits_of_side(sides[0], *whole, options.by, &renames),
                           fits_of_side(sides[1], *whole, options.by, nullptr)};
  // The same functions on both sides: those that fit best on any.
  FunctionPattern::Fit best = FunctionPattern::Fit::kNone;
  for (const auto& side : fits) {
    for (const FunctionPattern::Fit fit : side) {
      best = std::min(best, fit);
    }
  }
  for (std::size_t side = 0; side < sides.size(); ++side) {
    const auto& tree = sides[side].tree;
    inside[side].assign(tree.node_count(), false);
    for (std::uint32_t node = 1; node < inside[side].size(); ++node) {
      const FunctionPattern::Fit fit = fits[side][tree.location(node)];
      inside[side][node] =
          inside[side][tree.parent(node)] || (fit == best && fit != FunctionPattern::Fit::kNone);
    }
  }
  return inside;
}

SideSums sum_rows(const SideProfile& side, std::span<const std::uint32_t> row_of_node,
                  std::size_t rows, const RowQuery& query) {
  return RowSums(side, row_of_node, rows, query).sum();
}

}  // namespace stackpack::app
