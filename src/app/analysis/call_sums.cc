#include "app/analysis/call_sums.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "app/analysis/sample_counting.h"
#include "core/saturating.h"
#include "core/sort_rows.h"
#include "query/function_pattern.h"

namespace stackpack::app {

CallSums::Sum& CallSums::sum_of(std::uint32_t function) {
  if (function >= sums_.size()) {
    sums_.resize(std::size_t{function} + 1);
  }
  return sums_[function];
}

std::uint32_t CallSums::pair_of(std::uint32_t callee, std::uint32_t caller) {
  const std::uint32_t number = numbers_.number((std::uint64_t{callee} << 32) | caller);
  if (number == pairs_.size()) {
    pairs_.push_back({callee, caller});
  }
  return number;
}

// Callstacks come in the order of a file, where neighbours begin alike at the root: their pairs are
// known.
void CallSums::add(std::span<const std::uint32_t> leaf_first, std::uint64_t value) {
  ++stacks_;
  const std::size_t depth = leaf_first.size();
  std::size_t shared = 0;
  while (shared < std::min(depth, last_stack_.size()) &&
         last_stack_[shared] == leaf_first[depth - 1 - shared]) {
    ++shared;
  }
  last_stack_.resize(shared);
  last_pairs_.resize(shared);
  for (std::size_t level = shared; level < depth; ++level) {
    const std::uint32_t function = leaf_first[depth - 1 - level];
    const std::uint32_t caller = level == 0 ? kNoFunction : last_stack_.back();
    last_pairs_.push_back(pair_of(function, caller));
    last_stack_.push_back(function);
  }
  for (std::size_t level = 0; level < depth; ++level) {
    Pair& pair = pairs_[last_pairs_[level]];
    if (pair.last_stack != stacks_) {
      pair.last_stack = stacks_;
      core::add_saturating(pair.total, value);
    }
    Sum& sum = sum_of(last_stack_[level]);
    if (sum.last_stack != stacks_) {
      sum.last_stack = stacks_;
      core::add_saturating(sum.total, value);
    }
  }
  if (depth != 0) {
    core::add_saturating(pairs_[last_pairs_.back()].self, value);
    core::add_saturating(sum_of(last_stack_.back()).self, value);
  }
}

CallSums::PairsByFunction CallSums::index_by(std::uint32_t Pair::*function) const {
  PairsByFunction index;
  index.begins.assign(functions_.size() + 1, 0);
  for (const Pair& pair : pairs_) {
    if (pair.*function != kNoFunction) {
      ++index.begins[std::size_t{pair.*function} + 1];
    }
  }
  for (std::size_t i = 1; i < index.begins.size(); ++i) {
    index.begins[i] += index.begins[i - 1];
  }
  index.pairs.resize(index.begins.back());
  std::vector<std::uint32_t> next(index.begins.begin(), index.begins.end() - 1);
  for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
    if (pairs_[i].*function != kNoFunction) {
      index.pairs[next[pairs_[i].*function]++] = i;
    }
  }
  return index;
}

void CallSums::finish(const SampleCounting& counting) {
  counting.describe(about_);
  functions_ = counting.entities().all();
  sums_.resize(functions_.size());
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    if (sums_[i].last_stack != 0) {
      HotSpot row = spot_of(functions_[i]);
      row.self = sums_[i].self;
      row.total = sums_[i].total;
      by_self_.push_back(std::move(row));
    }
  }
  sort_hot_spots(by_self_, true);
  by_total_.resize(by_self_.size());
  std::iota(by_total_.begin(), by_total_.end(), 0U);
  core::sort_rows(by_total_, [this](std::uint32_t a, std::uint32_t b) {
    const HotSpot& one = by_self_[a];
    const HotSpot& other = by_self_[b];
    // Rows that are alike in both are in the right order already.
    return std::tuple(~one.total, ~one.self, a) < std::tuple(~other.total, ~other.self, b);
  });
  by_callee_ = index_by(&Pair::callee);
  by_caller_ = index_by(&Pair::caller);
  numbers_.release();
  last_stack_ = {};
  last_pairs_ = {};
}

Result<std::unique_ptr<const CallSums>> CallSums::count(const Reader& reader,
                                                        const HotSpotQuery& query) {
  const auto counting = SampleCounting::open(reader, query);
  if (!counting) {
    return counting.error();
  }
  auto graph = std::make_unique<CallSums>();
  query::GroupBy by_context;
  by_context.context = true;
  Status counted;
  do {
    counted = (*counting)->each_group(
        by_context, [&](const query::Group& group, std::span<const std::uint32_t> stack) {
          const std::uint64_t value = (*counting)->value_of(group);
          graph->about_.samples += group.count;
          core::add_saturating(graph->about_.value, value);
          if (graph->pairs_.size() <= kMostPairs) {
            graph->add(stack, value);
          }
        });
  } while (counted && graph->about_.samples == 0 && (*counting)->choose_next_event());
  if (!counted) {
    return counted.error();
  }
  if (graph->pairs_.size() > kMostPairs) {
    return Error{ErrorCode::kLimit, kNoOffset, "too many pairs of functions"};
  }
  graph->finish(**counting);
  if (graph->about_.samples == 0 && graph->about_.idle.samples == 0) {
    return Error(kNothingSelected);
  }
  return std::unique_ptr<const CallSums>(std::move(graph));
}

HotSpots CallSums::hot_spots(bool by_self) const {
  HotSpots result = about_;
  if (by_self) {
    result.rows = by_self_;
    return result;
  }
  result.rows.reserve(by_total_.size());
  for (const std::uint32_t index : by_total_) {
    result.rows.push_back(by_self_[index]);
  }
  return result;
}

// The one function that a text means, if it is one.
std::optional<std::uint32_t> CallSums::function_of(const std::string& text) const {
  const auto pattern = query::FunctionPattern::parse(text);
  if (!pattern) {
    return std::nullopt;
  }
  using Fit = query::FunctionPattern::Fit;
  Fit best = Fit::kNone;
  std::optional<std::uint32_t> found;
  const bool is_name = text.find('!') == std::string::npos && !text.starts_with("id:");
  for (std::uint32_t i = 0; i < functions_.size(); ++i) {
    if (sums_[i].total == 0) {
      continue;
    }
    // A whole name is the best there is: others need not be taken apart.
    if (best == Fit::kExact && is_name && functions_[i].name != text) {
      continue;
    }
    const Fit fit = pattern->fit(functions_[i].name, functions_[i].module, functions_[i].aliases);
    if (fit < best) {
      best = fit;
      found = i;
    } else if (fit == best && fit != Fit::kNone) {
      found = std::nullopt;
    }
  }
  return found;
}

std::optional<Neighbours> CallSums::neighbours(const std::string& function,
                                               NeighbourSide side) const {
  const std::optional<std::uint32_t> number = function_of(function);
  if (!number) {
    return std::nullopt;
  }
  const bool callers = side == NeighbourSide::kCallers;
  Neighbours result;
  result.around = about_;
  HotSpot center = spot_of(functions_[*number]);
  center.self = sums_[*number].self;
  center.total = sums_[*number].total;
  result.matches.push_back(center);
  result.center = {center.name, center.module, "", center.self, center.total};
  for (const std::uint32_t index : (callers ? by_callee_ : by_caller_).of(*number)) {
    const Pair& pair = pairs_[index];
    const std::uint32_t other = callers ? pair.caller : pair.callee;
    HotSpot row =
        other == kNoFunction ? HotSpot{"[root]", "", "", 0, 0} : spot_of(functions_[other]);
    row.self = pair.self;
    row.total = pair.total;
    result.around.rows.push_back(std::move(row));
  }
  if (!callers && center.self != 0) {
    result.around.rows.push_back({"[self]", "", "", 0, center.self});
  }
  return result;
}

}  // namespace stackpack::app
