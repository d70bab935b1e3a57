#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "app/analysis/hot_spots.h"
#include "app/analysis/sample_counting.h"
#include "core/saturating.h"
#include "query/function_pattern.h"

namespace stackpack::app {

namespace {

using query::FunctionPattern;
using query::Group;
using Fit = FunctionPattern::Fit;
using Stack = std::span<const std::uint32_t>;

// Adds up what stands next to the functions that fit a pattern equally well.
class NeighbourSums {
 public:
  // A callstack as numbers of entities, leaf first, some of which fit.
  void add(std::uint64_t value, Stack stack, const std::vector<Fit>& fits, Fit wanted,
           NeighbourSide side) {
    around_.begin_stack();
    matches_.begin_stack();
    for (std::size_t i = 0; i < stack.size(); ++i) {
      if (fits[stack[i]] == wanted) {
        add_frame(value, stack, i, side);
      }
    }
    core::add_saturating(total_, value);
  }

  [[nodiscard]] bool any() const { return total_ != 0; }

  void finish(const SampleCounting& counting, NeighbourSide side, Neighbours& result) const {
    const auto& all = counting.entities().all();
    matches_.list(result.matches, [&all](std::uint32_t number) { return spot_of(all[number]); });
    sort_hot_spots(result.matches, false);
    if (result.matches.size() == 1) {
      result.center.name = result.matches.front().name;
      result.center.module = result.matches.front().module;
    }
    result.center.self = self_;
    result.center.total = total_;
    around_.list(result.around.rows, [&all, side](std::uint32_t number) {
      return number == kNothing
                 ? HotSpot{side == NeighbourSide::kCallers ? "[root]" : "[self]", "", "", 0, 0}
                 : spot_of(all[number - 1]);
    });
  }

 private:
  static constexpr std::uint32_t kNothing = 0;  // entity n is n + 1 here

  void add_frame(std::uint64_t value, Stack stack, std::size_t i, NeighbourSide side) {
    const bool is_leaf = i == 0;
    core::add_saturating(self_, is_leaf ? value : 0);
    matches_.add_total(stack[i], value);
    if (is_leaf) {
      matches_.add_self(stack[i], value);
    }
    const bool callers = side == NeighbourSide::kCallers;
    const bool none = callers ? i + 1 == stack.size() : is_leaf;
    const std::uint32_t other = none ? kNothing : stack[callers ? i + 1 : i - 1] + 1;
    around_.add_total(other, value);
    if (callers ? is_leaf : i == 1) {
      around_.add_self(other, value);
    }
  }

  EntitySums around_;
  EntitySums matches_;
  std::uint64_t self_ = 0;
  std::uint64_t total_ = 0;
};

/// The sums of each way to fit, since which is the best one is known in the end.
class NeighbourSearch {
 public:
  NeighbourSearch(const SampleCounting& counting, const FunctionPattern& pattern,
                  NeighbourSide side)
      : counting_(counting), pattern_(pattern), side_(side) {}

  void add(const Group& group, Stack stack) {
    const std::uint64_t value = counting_.value_of(group);
    result_.around.samples += group.count;
    core::add_saturating(result_.around.value, value);
    judge_new_entities();
    for (std::size_t way = 0; way < ways_.size(); ++way) {
      const Fit fit = static_cast<Fit>(way);
      if (std::any_of(stack.begin(), stack.end(),
                      [&](std::uint32_t entity) { return fits_[entity] == fit; })) {
        ways_[way].add(value, stack, fits_, fit, side_);
      }
    }
  }

  [[nodiscard]] std::uint64_t samples() const { return result_.around.samples; }

  Neighbours finish(const std::string& function) {
    counting_.describe(result_.around);
    result_.center.name = function;
    const auto best = std::find_if(ways_.begin(), ways_.end(),
                                   [](const NeighbourSums& sums) { return sums.any(); });
    if (best != ways_.end()) {
      best->finish(counting_, side_, result_);
    } else {
      for (const query::FrameEntity& entity : counting_.entities().all()) {
        result_.occurring.push_back(query::plain_function_name(entity.name));
      }
      std::sort(result_.occurring.begin(), result_.occurring.end());
      result_.occurring.erase(std::unique(result_.occurring.begin(), result_.occurring.end()),
                              result_.occurring.end());
    }
    return std::move(result_);
  }

 private:
  void judge_new_entities() {
    const auto& all = counting_.entities().all();
    while (fits_.size() < all.size()) {
      const query::FrameEntity& entity = all[fits_.size()];
      fits_.push_back(pattern_.fit(entity.name, entity.module, entity.aliases));
    }
  }

  const SampleCounting& counting_;
  const FunctionPattern& pattern_;
  NeighbourSide side_;
  std::vector<Fit> fits_;  // by entity
  std::array<NeighbourSums, static_cast<std::size_t>(Fit::kNone)> ways_;
  Neighbours result_;
};

}  // namespace

Result<Neighbours> neighbours(const Reader& reader, const HotSpotQuery& query,
                              const std::string& function, NeighbourSide side) {
  const auto pattern = FunctionPattern::parse(function);
  if (!pattern) {
    return pattern.error();
  }
  const auto counting = SampleCounting::open(reader, query);
  if (!counting) {
    return counting.error();
  }
  query::GroupBy by_context;
  by_context.context = true;
  NeighbourSearch search(**counting, *pattern, side);
  Status counted;
  do {
    counted = (*counting)->each_group(
        by_context, [&](const Group& group, Stack stack) { search.add(group, stack); });
  } while (counted && search.samples() == 0 && (*counting)->choose_next_event());
  if (!counted) {
    return counted.error();
  }
  if (search.samples() == 0 && (*counting)->selection().idle_left_out().samples == 0) {
    return Error(kNothingSelected);
  }
  return search.finish(function);
}

}  // namespace stackpack::app
