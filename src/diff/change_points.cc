#include "diff/change_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/sort_rows.h"
#include "diff/significance.h"

namespace stackpack::diff {

namespace {

constexpr std::size_t kLeastStretch = 2;
// Means that differ by less than rounding makes are equal.
constexpr double kRounding = 1e-12;

/// Number, sum and sum of squares of values, which are taken relative to the first one of the
/// series so that squares do not cancel.
struct Moments {
  double count = 0;
  double sum = 0;
  double squares = 0;

  void add(double value) {
    count += 1;
    sum += value;
    squares += value * value;
  }
  [[nodiscard]] Moments without(const Moments& part) const {
    return {count - part.count, sum - part.sum, squares - part.squares};
  }
  [[nodiscard]] double mean() const { return sum / count; }
  [[nodiscard]] double scatter() const { return std::max(0.0, squares - sum * sum / count); }
};

double t_of(const Moments& left, const Moments& right, double rounding) {
  const double difference = std::abs(left.mean() - right.mean());
  if (difference <= rounding) {
    return 0;
  }
  const double freedom = left.count + right.count - 2;
  const double variance =
      (left.scatter() + right.scatter()) / freedom * (1 / left.count + 1 / right.count);
  return variance > rounding * rounding ? difference / std::sqrt(variance)
                                        : std::numeric_limits<double>::infinity();
}

double p_of(double t, double freedom) {
  return std::isinf(t) ? 0 : 2 * upper_tail(t, freedom);
}

/// A series: moments of any stretch at once.
class SeriesSums {
 public:
  explicit SeriesSums(std::span<const double> values) : values_(values), sums_(1) {
    double largest = 0;
    Moments sum;
    for (const double value : values) {
      sum.add(value - values.front());
      sums_.push_back(sum);
      largest = std::max(largest, std::abs(value));
    }
    rounding_ = kRounding * largest;
  }

  [[nodiscard]] Moments stretch(std::size_t begin, std::size_t end) const {
    return sums_[end].without(sums_[begin]);
  }
  // Of the values of begin .. end against those of first .. last without them.
  [[nodiscard]] double t(std::size_t first, std::size_t begin, std::size_t end,
                         std::size_t last) const {
    const Moments inside = stretch(begin, end);
    return t_of(inside, stretch(first, last).without(inside), rounding_);
  }
  // The larger p value of the two tests that leave out the value of a side which lies farthest from
  // the other side.
  [[nodiscard]] double p_without_farthest(std::size_t first, std::size_t begin, std::size_t end,
                                          std::size_t last) const {
    const Moments inside = stretch(begin, end);
    const Moments outside = stretch(first, last).without(inside);
    const bool above = inside.mean() > outside.mean();
    const double far_inside = extreme(begin, end, above);
    double far_outside = begin > first ? extreme(first, begin, !above) : extreme(end, last, !above);
    if (begin > first && end < last) {
      const double other = extreme(end, last, !above);
      far_outside = above ? std::min(far_outside, other) : std::max(far_outside, other);
    }
    return std::max(p_without(inside, far_inside, outside),
                    p_without(outside, far_outside, inside));
  }

 private:
  [[nodiscard]] double extreme(std::size_t begin, std::size_t end, bool above) const {
    const auto part = values_.subspan(begin, end - begin);
    return above ? *std::max_element(part.begin(), part.end())
                 : *std::min_element(part.begin(), part.end());
  }
  [[nodiscard]] double p_without(const Moments& side, double value, const Moments& other) const {
    Moments left_out;
    left_out.add(value - values_.front());
    const Moments rest = side.without(left_out);
    return p_of(t_of(rest, other, rounding_), rest.count + other.count - 2);
  }

  std::span<const double> values_;
  std::vector<Moments> sums_;  // of the first values, relative to the first one
  double rounding_ = 0;
};

/// The stretch with the largest t.
struct Candidate {
  std::size_t begin = 0;
  std::size_t end = 0;
  double t = -1;
  double places = 0;

  void look_at(std::size_t from, std::size_t to, double value) {
    places += 1;
    if (value > t) {
      begin = from;
      end = to;
      t = value;
    }
  }
};

OtherLevel level_of(const SeriesSums& sums, const Candidate& candidate, std::size_t count) {
  if (candidate.places == 0) {
    return {};
  }
  const double chance = p_of(candidate.t, static_cast<double>(count) - 2);
  return {candidate.begin, candidate.end,
          std::max(std::min(1.0, 2 * candidate.places * chance),
                   sums.p_without_farthest(0, candidate.begin, candidate.end, count))};
}

// Takes out the change whose neighbouring stretches are most alike, as long as some are too much
// so.
void drop_doubtful(const SeriesSums& sums, std::vector<ChangePoint>& points, std::size_t count,
                   double level) {
  while (!points.empty()) {
    std::size_t worst = 0;
    double worst_p = -1;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t first = i == 0 ? 0 : points[i - 1].index;
      const std::size_t last = i + 1 == points.size() ? count : points[i + 1].index;
      const double p =
          p_of(sums.t(first, points[i].index, last, last), static_cast<double>(last - first) - 2);
      if (p > worst_p) {
        worst_p = p;
        worst = i;
      }
    }
    if (worst_p <= level) {
      return;
    }
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(worst));
  }
}

}  // namespace

std::optional<OtherLevel> surest_level(std::span<const double> values) {
  const std::size_t count = values.size();
  if (count < 2 * kLeastStretch) {
    return std::nullopt;
  }
  const SeriesSums sums(values);
  Candidate step;
  Candidate bump;
  for (std::size_t begin = kLeastStretch; begin + kLeastStretch <= count; ++begin) {
    step.look_at(begin, count, sums.t(0, begin, count, count));
    for (std::size_t end = begin + kLeastStretch; end + kLeastStretch <= count; ++end) {
      bump.look_at(begin, end, sums.t(0, begin, end, count));
    }
  }
  const OtherLevel one = level_of(sums, step, count);
  const OtherLevel two = level_of(sums, bump, count);
  return one.p <= two.p ? one : two;
}

std::vector<ChangePoint> change_points(std::span<const double> values, double level) {
  std::vector<ChangePoint> points;
  std::vector<std::pair<std::size_t, std::size_t>> stretches = {{0, values.size()}};
  while (!stretches.empty()) {
    const auto [first, last] = stretches.back();
    stretches.pop_back();
    const auto other = surest_level(values.subspan(first, last - first));
    if (!other || other->p > level) {
      continue;
    }
    const std::size_t begin = first + other->begin;
    const std::size_t end = first + other->end;
    points.push_back({begin, 0, 0, other->p});
    stretches.emplace_back(first, begin);
    stretches.emplace_back(begin, end);
    if (end < last) {
      points.push_back({end, 0, 0, other->p});
      stretches.emplace_back(end, last);
    }
  }
  core::sort_rows(points,
                  [](const ChangePoint& a, const ChangePoint& b) { return a.index < b.index; });
  const SeriesSums sums(values);
  drop_doubtful(sums, points, values.size(), level);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : points[i - 1].index;
    const std::size_t end = i + 1 == points.size() ? values.size() : points[i + 1].index;
    points[i].before = values.front() + sums.stretch(begin, points[i].index).mean();
    points[i].after = values.front() + sums.stretch(points[i].index, end).mean();
  }
  return points;
}

}  // namespace stackpack::diff
