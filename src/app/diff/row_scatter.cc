#include "app/diff/row_scatter.h"

#include <algorithm>
#include <cstddef>

namespace stackpack::app {

namespace {

const UnitCounts& counts_of(const UnitSums& unit, bool self) {
  return self ? unit.self : unit.total;
}

const std::vector<double>& sums_of(const SideSums& side, bool self) {
  return self ? side.self : side.total;
}

void add_side(const SideSums& side, bool self, std::vector<diff::Scatter>& scatters) {
  const std::vector<double>& sums = sums_of(side, self);
  std::vector<double> squares(sums.size());
  for (const UnitSums& unit : side.units) {
    const UnitCounts& counts = counts_of(unit, self);
    for (std::size_t i = 0; i < counts.rows.size() && unit.size > 0; ++i) {
      squares[counts.rows[i]] += counts.counts[i] * counts.counts[i] / unit.size;
    }
  }
  for (std::size_t row = 0; row < sums.size(); ++row) {
    const double share = sums[row] / side.size;
    if (side.filled_units < 2 || share <= 0 || share >= 1) {
      continue;  // what never varies says nothing
    }
    const double sum = std::max(0.0, squares[row] - sums[row] * share);
    scatters[row].sum += sum / (share * (1 - share));
    scatters[row].freedom += static_cast<double>(side.filled_units - 1);
  }
}

// Weighted sums of the differences of one row.
struct Differences {
  double weight = 0;
  double sum = 0;
  double squares = 0;
  double count = 0;
};

void add_block(const UnitSums& before, const UnitSums& after, bool self,
               std::vector<double>& of_before, std::vector<double>& of_after,
               std::vector<Differences>& rows) {
  const UnitCounts& olds = counts_of(before, self);
  const UnitCounts& news = counts_of(after, self);
  for (std::size_t i = 0; i < olds.rows.size(); ++i) {
    of_before[olds.rows[i]] = olds.counts[i];
  }
  for (std::size_t i = 0; i < news.rows.size(); ++i) {
    of_after[news.rows[i]] = news.counts[i];
  }
  const auto take = [&](std::uint32_t row) {
    const double x = of_before[row];
    const double y = of_after[row];
    of_before[row] = of_after[row] = 0;
    const double share = (x + y) / (before.size + after.size);
    if (share <= 0 || share >= 1) {
      return;
    }
    const double weight = 1 / (share * (1 - share) * (1 / before.size + 1 / after.size));
    const double difference = y / after.size - x / before.size;
    Differences& sums = rows[row];
    sums.weight += weight;
    sums.sum += weight * difference;
    sums.squares += weight * difference * difference;
    ++sums.count;
  };
  std::for_each(olds.rows.begin(), olds.rows.end(), take);
  std::for_each(news.rows.begin(), news.rows.end(), take);
}

}  // namespace

std::vector<diff::Scatter> scatter_over_runs(const SideSums& before, const SideSums& after,
                                             bool self) {
  std::vector<diff::Scatter> scatters(sums_of(before, self).size());
  add_side(before, self, scatters);
  add_side(after, self, scatters);
  return scatters;
}

std::vector<diff::Scatter> scatter_over_blocks(const SideSums& before, const SideSums& after,
                                               bool self) {
  const std::size_t count = sums_of(before, self).size();
  std::vector<Differences> rows(count);
  std::vector<double> of_before(count);
  std::vector<double> of_after(count);
  const std::size_t blocks = std::min(before.units.size(), after.units.size());
  for (std::size_t i = 0; i < blocks; ++i) {
    if (before.units[i].size > 0 && after.units[i].size > 0) {
      add_block(before.units[i], after.units[i], self, of_before, of_after, rows);
    }
  }
  std::vector<diff::Scatter> scatters(count);
  for (std::size_t row = 0; row < count; ++row) {
    const Differences& sums = rows[row];
    if (sums.count >= 2) {
      scatters[row] = {std::max(0.0, sums.squares - sums.sum * sums.sum / sums.weight),
                       sums.count - 1};
    }
  }
  return scatters;
}

}  // namespace stackpack::app
