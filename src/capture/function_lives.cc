#include "capture/function_lives.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "capture/system_tables.h"
#include "core/sort_rows.h"

namespace stackpack::capture {

namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};

}  // namespace

FunctionLives::FunctionLives(const SystemTables& tables) {
  for (const Process& process : tables.processes) {
    if (process.start_ns != kUnknownTime) {
      starts_[process.pid].push_back(process.start_ns);
    }
  }
  for (auto& [pid, starts] : starts_) {
    std::sort(starts.begin(), starts.end());
  }
}

std::uint64_t FunctionLives::life_of(const FunctionRow& row) const {
  const auto found =
      row.owner == FunctionOwner::kProcess ? starts_.find(row.pid_or_image) : starts_.end();
  if (found == starts_.end()) {
    return kUnknownTime;
  }
  const auto after =
      std::upper_bound(found->second.begin(), found->second.end(), order_of_time(row.time_ns));
  return after == found->second.begin() ? kUnknownTime : *(after - 1);
}

// One function for all that was said of it.
void FunctionLives::collect(std::span<const FunctionRow> facts) {
  std::vector<std::uint32_t> order(facts.size());
  std::iota(order.begin(), order.end(), 0U);
  core::sort_rows(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(order_of_time(facts[a].time_ns), facts[a].sequence) <
           std::tuple(order_of_time(facts[b].time_ns), facts[b].sequence);
  });
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
  std::map<Key, std::size_t> alive;
  functions_.clear();
  for (const std::uint32_t index : order) {
    const FunctionRow& row = facts[index];
    const std::uint64_t life = life_of(row);
    const Key key(life, row.id, row.start, row.size);
    const auto known = alive.find(key);
    if (known != alive.end()) {
      if (row.news == FunctionNews::kEnds) {
        functions_[known->second].died_ns = row.time_ns;
        alive.erase(known);
      }
      continue;  // else it comes again
    }
    const bool begins = row.news == FunctionNews::kBegins;
    const bool ends = row.news == FunctionNews::kEnds;
    functions_.push_back({row, life, begins ? row.time_ns : kUnknownTime, kNever});
    if (ends) {
      functions_.back().died_ns = row.time_ns;
    } else {
      alive.emplace(key, functions_.size() - 1);
    }
  }
}

// Gives a function its bytes, and returns when the last of those who had some of them was gone, if
// that was before `heard_ns`; else 0.
std::uint64_t FunctionLives::occupy(std::size_t function, std::uint64_t heard_ns) {
  FunctionLife& taker = functions_[function];
  const std::uint64_t begin = taker.row.start;
  const std::uint64_t end = begin + taker.row.size;
  const bool begins = taker.row.news == FunctionNews::kBegins;
  auto at = holdings_.upper_bound(begin);
  if (at != holdings_.begin() && std::prev(at)->second.end > begin) {
    --at;
  }
  std::uint64_t gone = 0;
  std::vector<std::pair<std::uint64_t, Holding>> rests;
  while (at != holdings_.end() && at->first < end) {
    const Holding held = at->second;
    FunctionLife& holder = functions_[held.function];
    if (begins && holder.died_ns > heard_ns) {
      holder.died_ns = heard_ns;
    }
    if (holder.died_ns <= heard_ns) {
      gone = std::max(gone, holder.died_ns);
    }
    gone = std::max(gone, held.gone_ns);
    if (at->first < begin) {
      rests.emplace_back(at->first, Holding{begin, held.function, held.gone_ns});
    }
    if (held.end > end) {
      rests.emplace_back(end, held);
    }
    at = holdings_.erase(at);
  }
  for (const auto& [first, rest] : rests) {
    holdings_.emplace(first, rest);
  }
  holdings_.insert_or_assign(begin, Holding{end, function, gone});
  return gone;
}

// In the order in which they were heard of.
void FunctionLives::settle_births() {
  std::uint64_t life = kUnknownTime;
  std::vector<std::size_t> order(functions_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  core::sort_rows(order, [this](std::size_t a, std::size_t b) {
    return order_of_time(functions_[a].life_ns) < order_of_time(functions_[b].life_ns);
  });
  holdings_.clear();
  for (const std::size_t index : order) {
    FunctionLife& function = functions_[index];
    if (function.life_ns != life) {
      holdings_.clear();  // a new process has nothing of the one before
      life = function.life_ns;
    }
    const std::uint64_t gone = occupy(index, order_of_time(function.row.time_ns));
    if (function.row.news != FunctionNews::kBegins && gone != 0) {
      function.born_ns = gone;
    }
  }
}

std::span<const FunctionLife> FunctionLives::of(std::span<const FunctionRow> facts) {
  collect(facts);
  settle_births();
  // As in a file: what is not known comes first.
  core::sort_rows(functions_, [](const FunctionLife& a, const FunctionLife& b) {
    return std::tuple(a.row.start, a.life_ns + 1, a.born_ns + 1, a.row.sequence) <
           std::tuple(b.row.start, b.life_ns + 1, b.born_ns + 1, b.row.sequence);
  });
  return functions_;
}

}  // namespace stackpack::capture
