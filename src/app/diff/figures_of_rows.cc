#include "app/diff/figures_of_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "app/diff/row_scatter.h"
#include "core/sort_rows.h"
#include "core/task_line.h"
#include "diff/share_test.h"
#include "diff/significance.h"

namespace stackpack::app {

namespace {

using diff::Portion;

// Below that many samples in a unit a count says little of its scatter.
constexpr double kEnoughForScatter = 5;
// The power that the least visible difference has: one-sided normal quantile of 80 %.
constexpr double kPowerQuantile = 0.8416212335729143;

/// A figure that is compared: a row, and its self or total.
struct Comparison {
  std::size_t row = 0;
  bool self = false;
  Portion before = {};
  Portion after = {};
  diff::Scatter scatter = {};
  diff::Overdispersion overdispersion = {};
  diff::TestedValue tested = {};
};

/// Quantiles of half a level; few degrees of freedom differ.
class Criticals {
 public:
  double at(double level, double freedom) {
    const auto [known, fresh] = known_.try_emplace(std::pair(level, freedom), 0.0);
    if (fresh) {
      known->second = diff::upper_quantile(std::min(0.5, level / 2), freedom);
    }
    return known->second;
  }

 private:
  std::map<std::pair<double, double>, double> known_;
};

// What the statistics of a figure depend on; the sizes of the sides are the same for all.
struct Likeness {
  double before = 0;
  double after = 0;
  double factor = 0;
  double freedom = 0;

  explicit Likeness(const Comparison& item)
      : before(item.before.count),
        after(item.after.count),
        factor(item.overdispersion.factor),
        freedom(item.overdispersion.freedom) {}
  bool operator==(const Likeness&) const = default;

  struct Hash {
    std::size_t operator()(const Likeness& like) const {
      std::size_t hash = 0;
      for (const double value : {like.before, like.after, like.factor, like.freedom}) {
        hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29U;
      }
      return hash;
    }
  };
};

// Most functions have few samples, and with the same few the same figures: their roots are found
// once.
template <typename Value>
using Known = std::unordered_map<Likeness, Value, Likeness::Hash>;

// Does `work(first, last)` for parts of 0 .. count, which do not depend on each other, on two
// threads.
Status in_parts(std::size_t count,
                const std::function<void(std::size_t first, std::size_t last)>& work) {
  constexpr std::size_t kParts = 16;
  constexpr std::size_t kFew = 4'096;  // a thread costs more than it saves
  struct Part : core::TaskLine::Task {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  std::array<Part, kParts> parts;
  core::TaskLine line(count < kFew ? 0 : 1, [&](unsigned, core::TaskLine::Task& task) {
    const auto& part = static_cast<const Part&>(task);
    work(part.first, part.last);
    return Status{};
  });
  for (std::size_t i = 0; i < kParts; ++i) {
    parts[i].first = count * i / kParts;
    parts[i].last = count * (i + 1) / kParts;
    line.submit(parts[i]);
  }
  Status status;
  for (Part& part : parts) {
    const Status done = line.collect(part, core::TaskLine::IfNotBegun::kRunHere);
    status = status ? done : status;
  }
  return status;
}

class RowFigures {
 public:
  RowFigures(EventDiff& event, const RowTable& table, const SideSums& before, const SideSums& after,
             const DiffOptions& options)
      : event_(event), table_(table), before_(before), after_(after), options_(options) {}

  Status fill() {
    if (event_.unit == DiffUnit::kRun) {
      measure_whole();
    }
    collect();
    moderate(true);
    moderate(false);
    if (const Status tested = test(); !tested) {
      return tested;
    }
    if (event_.unit == DiffUnit::kRun) {
      judge_whole();
    }
    return list();
  }

 private:
  [[nodiscard]] bool has_total() const { return !before_.total.empty(); }

  void collect() {
    const std::vector<diff::Scatter> self = scatters(true);
    const std::vector<diff::Scatter> total = has_total() ? scatters(false) : self;
    for (std::size_t row = 0; row < table_.size(); ++row) {
      add({row,
           true,
           {before_.self[row], before_.size},
           {after_.self[row], after_.size},
           self[row]});
      if (has_total()) {
        add({row,
             false,
             {before_.total[row], before_.size},
             {after_.total[row], after_.size},
             total[row]});
      }
    }
  }

  [[nodiscard]] std::vector<diff::Scatter> scatters(bool self) const {
    switch (event_.scatter) {
      case DiffScatter::kRuns:
        return scatter_over_runs(before_, after_, self);
      case DiffScatter::kBlocks:
        return scatter_over_blocks(before_, after_, self);
      case DiffScatter::kAssumed:
        break;
    }
    return std::vector<diff::Scatter>(table_.size());
  }

  // Everything, as one row. It is counted and not sampled: weights add up to what the recorder
  // measured, so that it may scatter less than samples do, by about one of them a run.
  void measure_whole() {
    const std::array sides = {whole_of(before_), whole_of(after_)};
    whole_.before = {before_.count, before_.size};
    whole_.after = {after_.count, after_.size};
    const double samples = before_.count + after_.count;
    const auto units = static_cast<double>(before_.filled_units + after_.filled_units);
    const diff::Scatter own = event_.scatter == DiffScatter::kRuns
                                  ? scatter_over_runs(sides[0], sides[1], true).front()
                                  : scatter_over_blocks(sides[0], sides[1], true).front();
    whole_.overdispersion = {1, diff::kInfiniteFreedom};
    if (own.freedom > 0) {
      whole_.overdispersion = {std::max(units / samples, own.sum / own.freedom), own.freedom};
    }
    whole_.overdispersion.factor += between_runs(whole_);
  }

  // One row that every sample counts for.
  static SideSums whole_of(const SideSums& side) {
    SideSums whole;
    whole.self = {side.count};
    whole.size = side.size;
    whole.filled_units = side.filled_units;
    for (const UnitSums& unit : side.units) {
      UnitSums& copy = whole.units.emplace_back();
      copy.size = unit.size;
      copy.self = {{0}, {unit.count}};
    }
    return whole;
  }

  // Runs that take longer as a whole take longer in every function: the more a function counts
  // for, the more of that scatter it has.
  [[nodiscard]] double common_scatter(const Comparison& item) const {
    if (event_.unit != DiffUnit::kRun || event_.scatter != DiffScatter::kRuns) {
      return 1;
    }
    const double share = (item.before.count + item.after.count) / (before_.count + after_.count);
    return 1 + std::max(0.0, whole_.overdispersion.factor - 1) * std::min(1.0, share);
  }

  // A test of its own: many functions do not make it less sure.
  void judge_whole() {
    const double root =
        diff::signed_root(reduced(whole_.before, whole_), reduced(whole_.after, whole_));
    whole_.tested.p =
        std::min(1.0, 2 * diff::upper_tail(std::abs(root), whole_.overdispersion.freedom));
    whole_.tested.least_p = least_p(whole_);
    const diff::Discoveries family = discoveries_;
    discoveries_.level = discoveries_.single_level = options_.rate;
    Criticals critical;
    event_.whole = figure_of(whole_, critical);
    discoveries_ = family;
  }

  void add(Comparison item) {
    if (item.before.count <= 0 && item.after.count <= 0) {
      return;
    }
    // Sums of parts may pass the whole by a rounding.
    item.before.count = std::min(item.before.count, item.before.size);
    item.after.count = std::min(item.after.count, item.after.size);
    items_.push_back(item);
  }

  // Self and total counts scatter in their own ways.
  void moderate(bool self) {
    const auto units = static_cast<double>(before_.filled_units + after_.filled_units);
    std::vector<diff::Scatter> known;
    for (const Comparison& item : items_) {
      const double samples = item.before.count + item.after.count;
      if (item.self == self && item.scatter.freedom > 0 && samples >= kEnoughForScatter * units) {
        known.push_back({item.scatter.sum / common_scatter(item), item.scatter.freedom});
      }
    }
    const diff::OverdispersionPrior prior = diff::prior_of(known);
    if (self) {
      nothing_.overdispersion = diff::moderated({}, prior);
    }
    for (Comparison& item : items_) {
      if (item.self == self) {
        const double common = common_scatter(item);
        item.overdispersion =
            diff::moderated({item.scatter.sum / common, item.scatter.freedom}, prior);
        item.overdispersion.factor *= common;
        item.overdispersion.factor += between_runs(item);
      }
    }
  }

  // One run a side does not show how runs differ.
  [[nodiscard]] double between_runs(const Comparison& item) const {
    if (event_.scatter == DiffScatter::kRuns) {
      return 0;
    }
    const double share =
        (item.before.count + item.after.count) / (item.before.size + item.after.size);
    return 2 * options_.run_variation * options_.run_variation * share * (1 - share) /
           (1 / item.before.size + 1 / item.after.size);
  }

  [[nodiscard]] static Portion reduced(const Portion& portion, const Comparison& item) {
    return portion.divided(item.overdispersion.factor);
  }

  // The smallest p value of that many samples: all on one side.
  [[nodiscard]] static double least_p(const Comparison& item) {
    const double samples = item.before.count + item.after.count;
    double root = 0;
    for (const auto& [one, other] : {std::pair(item.before.size, item.after.size),
                                     std::pair(item.after.size, item.before.size)}) {
      const Portion all = reduced({std::min(samples, one), one}, item);
      const Portion rest = reduced({std::max(0.0, samples - one), other}, item);
      root = std::max(root, std::abs(diff::signed_root(rest, all)));
    }
    return 2 * diff::upper_tail(root, item.overdispersion.freedom);
  }

  [[nodiscard]] static diff::TestedValue tested(const Comparison& item) {
    const double root = diff::signed_root(reduced(item.before, item), reduced(item.after, item));
    diff::TestedValue value;
    value.p = std::min(1.0, 2 * diff::upper_tail(std::abs(root), item.overdispersion.freedom));
    value.least_p = least_p(item);
    return value;
  }

  Status test() {
    std::vector<diff::TestedValue> tests(items_.size());
    const Status done = in_parts(items_.size(), [&](std::size_t first, std::size_t last) {
      Known<diff::TestedValue> known;
      for (std::size_t i = first; i < last; ++i) {
        Comparison& item = items_[i];
        const auto [like, fresh] = known.try_emplace(Likeness(item));
        if (fresh) {
          like->second = tested(item);
        }
        item.tested = tests[i] = like->second;
      }
    });
    if (!done) {
      return done;
    }
    discoveries_ = diff::discoveries_of(tests, options_.rate);
    event_.tests = discoveries_.tests;
    event_.level = discoveries_.level;
    return {};
  }

  DiffFigure figure_of(const Comparison& item, Criticals& critical) const {
    DiffFigure figure;
    const double per_size = before_.per_size;
    figure.old_value = item.before.count / before_.scale;
    figure.new_value = item.after.count / after_.scale;
    figure.old_share = item.before.share() * before_.per_size;
    figure.new_share = item.after.share() * after_.per_size;
    figure.difference = figure.new_share - figure.old_share;
    figure.ratio = item.before.count > 0  ? figure.new_share / figure.old_share
                   : item.after.count > 0 ? std::numeric_limits<double>::infinity()
                                          : 1;
    figure.p = item.tested.p;
    figure.overdispersion = item.overdispersion.factor;
    const bool testable = item.tested.least_p <= discoveries_.single_level;
    const double freedom = item.overdispersion.freedom;
    const double bound =
        critical.at(testable ? discoveries_.level : discoveries_.single_level, freedom);
    const Portion before = reduced(item.before, item);
    const Portion after = reduced(item.after, item);
    const diff::Interval difference = diff::difference_interval(before, after, bound);
    const diff::Interval ratio = diff::ratio_interval(before, after, bound);
    figure.low = difference.low * per_size;
    figure.high = difference.high * per_size;
    figure.ratio_low = ratio.low;
    figure.ratio_high = ratio.high;
    const double root = critical.at(discoveries_.single_level, freedom) + kPowerQuantile;
    figure.least_visible = least_visible(before, after.size, root) * per_size;
    figure.verdict = verdict_of(item, testable);
    return figure;
  }

  // More than half can grow by little: there the rest is looked at. One sample more than were seen,
  // because few samples may be fewer than the share would give.
  static double least_visible(const Portion& before, double size, double root) {
    const double rest = before.size - before.count;
    const Portion from{std::min(before.count, rest) + 1, before.size + 1};
    return diff::least_growth(from, size, root);
  }

  [[nodiscard]] DiffVerdict verdict_of(const Comparison& item, bool testable) const {
    if (!testable) {
      // What is nearly everything on both sides has no room to differ; that is not few.
      const bool few = item.before.count + item.after.count < item.before.size;
      return few ? DiffVerdict::kTooFew : DiffVerdict::kNotSeen;
    }
    if (item.tested.p > discoveries_.level) {
      return DiffVerdict::kNotSeen;
    }
    if (event_.scatter != DiffScatter::kRuns && !options_.accept_single_run) {
      return DiffVerdict::kUnsure;
    }
    if (!event_.doubts.empty()) {
      return DiffVerdict::kDoubted;
    }
    if (item.after.share() > item.before.share()) {
      return item.before.count <= 0 ? DiffVerdict::kAppeared : DiffVerdict::kMore;
    }
    return item.after.count <= 0 ? DiffVerdict::kDisappeared : DiffVerdict::kLess;
  }

  Status list() {
    nothing_.before = {0, before_.size};
    nothing_.after = {0, after_.size};
    nothing_.tested.least_p = 1;
    Criticals critical;
    const DiffFigure of_nothing = figure_of(nothing_, critical);
    constexpr std::size_t kNone = ~std::size_t{0};
    std::vector<const Comparison*> listed;
    std::vector<std::size_t> at(table_.size(), kNone);
    for (const Comparison& item : items_) {
      const bool callstack = options_.by == DiffGrain::kCallstack;
      if (callstack && item.tested.least_p > discoveries_.single_level) {
        ++event_.left_out;
        continue;
      }
      if (at[item.row] == kNone) {
        at[item.row] = event_.rows.size();
        event_.rows.push_back(named_row(item.row));
        event_.rows.back().self = of_nothing;
      }
      listed.push_back(&item);
    }
    const Status filled = in_parts(listed.size(), [&](std::size_t first, std::size_t last) {
      Criticals own;
      Known<DiffFigure> known;
      for (std::size_t i = first; i < last; ++i) {
        const Comparison& item = *listed[i];
        DiffRow& row = event_.rows[at[item.row]];
        const auto [like, fresh] = known.try_emplace(Likeness(item));
        if (fresh) {
          like->second = figure_of(item, own);
        }
        (item.self ? row.self : row.total) = like->second;
        if (!has_total()) {
          row.total = row.self;
        }
      }
    });
    if (filled) {
      sort();
      mark_shared_names();
    }
    return filled;
  }

  DiffRow named_row(std::size_t row) const {
    DiffRow result;
    if (options_.by == DiffGrain::kCallstack) {
      result.name = table_.path_text(static_cast<std::uint32_t>(row));
    } else {
      result.name = table_.names[row].name;
      result.module = table_.names[row].module;
      result.place = table_.names[row].place;
      result.aliases = table_.names[row].aliases;
    }
    return result;
  }

  void mark_shared_names() {
    std::map<std::string_view, std::string_view> modules;
    std::set<std::string_view> shared;
    for (const DiffRow& row : event_.rows) {
      if (modules.try_emplace(row.name, row.module).first->second != row.module) {
        shared.insert(row.name);
      }
    }
    for (DiffRow& row : event_.rows) {
      row.shared_name = shared.contains(row.name);
    }
  }

  void sort() {
    const auto key = [](const DiffRow& row) {
      const auto seen = [](DiffVerdict verdict) {
        return verdict != DiffVerdict::kNotSeen && verdict != DiffVerdict::kTooFew;
      };
      const bool self = seen(row.self.verdict);
      const bool total = seen(row.total.verdict);
      // By how much it is at least: a large change that is hardly sure comes after.
      const auto bound = [](const DiffFigure& figure) {
        return std::max(figure.low, -figure.high);
      };
      const double share = std::max(row.total.old_share, row.total.new_share);
      return std::tuple(self    ? 0
                        : total ? 1
                                : 2,
                        self    ? -bound(row.self)
                        : total ? -bound(row.total)
                                : -share);
    };
    core::sort_rows(event_.rows, [&](const DiffRow& a, const DiffRow& b) {
      return std::tuple(key(a), std::tie(a.name, a.module, a.place)) <
             std::tuple(key(b), std::tie(b.name, b.module, b.place));
    });
  }

  EventDiff& event_;
  const RowTable& table_;
  const SideSums& before_;
  const SideSums& after_;
  const DiffOptions& options_;
  std::vector<Comparison> items_;
  Comparison whole_;    // DiffUnit::kRun: everything
  Comparison nothing_;  // the self figure of a row that no callstack ends in
  diff::Discoveries discoveries_;
};

}  // namespace

Status fill_rows(EventDiff& event, const RowTable& table, const SideSums& before,
                 const SideSums& after, const DiffOptions& options) {
  return RowFigures(event, table, before, after, options).fill();
}

}  // namespace stackpack::app
