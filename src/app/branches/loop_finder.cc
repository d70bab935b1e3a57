#include "app/branches/loop_finder.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>

#include "capture/branch_order.h"
#include "core/sort_rows.h"

namespace stackpack::app {

namespace {

using capture::saturating_sum;

/// Code from the first head to the last branch back.
struct LoopSpan {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::vector<std::uint64_t> heads;
};

/// Sums of counts by place, of all places from one on.
class SumsFrom {
 public:
  explicit SumsFrom(std::vector<std::uint64_t> places) : places_(std::move(places)) {
    std::sort(places_.begin(), places_.end());
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
    sums_.resize(places_.size() + 1);
  }

  void add(std::uint64_t place, std::uint64_t count) {
    for (std::size_t at = rank(place) + 1; at != 0; at -= at & (~at + 1)) {
      sums_[at] += count;
    }
  }
  [[nodiscard]] std::uint64_t from(std::uint64_t place) const {
    std::uint64_t sum = 0;
    for (std::size_t at = rank(place) + 1; at < sums_.size(); at += at & (~at + 1)) {
      sum += sums_[at];
    }
    return sum;
  }

 private:
  [[nodiscard]] std::size_t rank(std::uint64_t place) const {
    return static_cast<std::size_t>(std::lower_bound(places_.begin(), places_.end(), place) -
                                    places_.begin());
  }
  std::vector<std::uint64_t> places_;
  std::vector<std::uint64_t> sums_;  // Fenwick's tree
};

std::vector<LoopSpan> spans_of(const std::vector<TakenJump>& jumps) {
  std::map<std::uint64_t, std::uint64_t> ends;  // by head
  for (const TakenJump& jump : jumps) {
    if (jump.inside_function && jump.to <= jump.from) {
      std::uint64_t& end = ends[jump.to];
      end = std::max(end, jump.from);
    }
  }
  std::vector<LoopSpan> done;
  std::vector<LoopSpan> open;  // each in the one before
  for (const auto& [head, end] : ends) {
    while (!open.empty() && open.back().end < head) {
      done.push_back(std::move(open.back()));
      open.pop_back();
    }
    LoopSpan span{head, end, {head}};
    while (!open.empty() && open.back().end < span.end) {
      LoopSpan& around = open.back();
      around.heads.insert(around.heads.end(), span.heads.begin(), span.heads.end());
      span = {around.begin, span.end, std::move(around.heads)};
      open.pop_back();
    }
    open.push_back(std::move(span));
  }
  std::move(open.begin(), open.end(), std::back_inserter(done));
  core::sort_rows(done, [](const LoopSpan& a, const LoopSpan& b) { return a.begin < b.begin; });
  return done;
}

// How many jumps go into each span from outside: all that go into it but those of which both ends
// are in it.
std::vector<std::uint64_t> jumps_into(const std::vector<LoopSpan>& spans,
                                      std::vector<TakenJump> jumps) {
  std::vector<std::uint64_t> targets;
  std::vector<std::uint64_t> lows;
  for (const TakenJump& jump : jumps) {
    targets.push_back(jump.to);
    lows.push_back(std::min(jump.from, jump.to));
  }
  SumsFrom by_target(std::move(targets));
  SumsFrom inside(std::move(lows));
  for (const TakenJump& jump : jumps) {
    by_target.add(jump.to, jump.count);
  }
  const auto high = [](const TakenJump& jump) { return std::max(jump.from, jump.to); };
  core::sort_rows(jumps, [&](const TakenJump& a, const TakenJump& b) { return high(a) < high(b); });
  std::vector<std::size_t> order(spans.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  core::sort_rows(order, [&](std::size_t a, std::size_t b) { return spans[a].end < spans[b].end; });
  std::vector<std::uint64_t> entries(spans.size());
  auto next = jumps.begin();
  for (const std::size_t row : order) {
    const LoopSpan& span = spans[row];
    for (; next != jumps.end() && high(*next) <= span.end; ++next) {
      inside.add(std::min(next->from, next->to), next->count);
    }
    const std::uint64_t later = span.end == ~std::uint64_t{0} ? 0 : by_target.from(span.end + 1);
    const std::uint64_t all = by_target.from(span.begin) - later;
    entries[row] = all - inside.from(span.begin);
  }
  return entries;
}

}  // namespace

// Sums wrap alike on both sides, so that differences of sums beyond 64 bits are still right.
void CodeRuns::add(std::uint64_t begin, std::uint64_t end, std::uint64_t count) {
  begins_.emplace_back(begin, count);
  ends_.emplace_back(end, count);
}

void CodeRuns::settle() {
  for (Sums* const sums : {&begins_, &ends_}) {
    std::sort(sums->begin(), sums->end());
    std::uint64_t sum = 0;
    for (auto& [place, count] : *sums) {
      sum += count;
      count = sum;
    }
  }
}

std::uint64_t CodeRuns::sum_until(const Sums& sums, std::uint64_t at) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const auto next = std::upper_bound(sums.begin(), sums.end(), std::pair(at, kMost));
  return next == sums.begin() ? 0 : std::prev(next)->second;
}

std::vector<FoundLoop> find_loops(std::vector<TakenJump> jumps, const CodeRuns& runs) {
  const std::vector<LoopSpan> spans = spans_of(jumps);
  std::map<std::uint64_t, std::uint64_t> reached;
  for (const LoopSpan& span : spans) {
    for (const std::uint64_t head : span.heads) {
      reached[head] = runs.into(head);
    }
  }
  for (const TakenJump& jump : jumps) {
    if (const auto head = reached.find(jump.to); head != reached.end()) {
      head->second = saturating_sum(head->second, jump.count);
    }
  }
  const std::vector<std::uint64_t> entries = jumps_into(spans, std::move(jumps));
  std::vector<FoundLoop> loops;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const LoopSpan& span = spans[i];
    FoundLoop& loop = loops.emplace_back();
    loop.head = *std::max_element(
        span.heads.begin(), span.heads.end(),
        [&](std::uint64_t a, std::uint64_t b) { return reached.at(a) < reached.at(b); });
    loop.last_branch = span.end;
    loop.iterations = reached.at(loop.head);
    loop.entries = saturating_sum(entries[i], runs.into(span.begin));
  }
  return loops;
}

}  // namespace stackpack::app
