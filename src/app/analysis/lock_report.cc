#include "app/analysis/lock_report.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/saturating.h"
#include "core/sort_rows.h"
#include "query/name_pattern.h"

namespace stackpack::app {

namespace {

using Shares = std::map<std::string, LockShare>;

// A row while waits are added to it.
struct GrowingRow {
  LockRow row;
  Shares waiters;
  Shares holders;
  Shares places;
};

void add(Shares& shares, const std::string& name, const LockWait& wait) {
  LockShare& share = shares[name];
  share.name = name;
  ++share.waits;
  core::add_saturating(share.ns, wait.ns);
}

std::vector<LockShare> largest(const Shares& shares) {
  std::vector<LockShare> rows;
  for (const auto& [name, share] : shares) {
    rows.push_back(share);
  }
  core::sort_rows(rows, [](const LockShare& a, const LockShare& b) { return a.ns > b.ns; });
  return rows;
}

class LockSums {
 public:
  LockSums(EventValueTable& values, LockGroup by) : values_(values), by_(by) {}

  Status add_wait(const LockWait& wait) {
    const Result<std::string> place = function(wait, wait.stack);
    const Result<std::string> taken = function(wait, wait.holder_stack);
    if (!place || !taken) {
      return place ? taken.error() : place.error();
    }
    const std::string waits_in = place->empty() ? "(no callstack)" : *place;
    const std::string waiter = values_.thread(wait.pid, wait.tid, wait.from_ns);
    std::string holder = values_.thread(wait.pid, wait.holder, wait.from_ns);
    const std::string name = name_of(wait, waits_in, waiter, holder);
    holder += taken->empty() ? "" : " since " + *taken;
    const StackId stack = by_ == LockGroup::kCallstack ? wait.stack : kNoStack;
    GrowingRow& growing = rows_[{wait.pid, name, stack}];
    LockRow& row = growing.row;
    if (row.waits++ == 0) {
      row.name = name;
      row.kind = wait.kind;
      row.process = values_.process(wait.pid, wait.from_ns);
    }
    core::add_saturating(row.ns, wait.ns);
    if (wait.ns >= row.longest_ns) {
      row.longest_ns = wait.ns;
      row.stack = wait.stack;
    }
    add(growing.waiters, waiter, wait);
    add(growing.holders, holder, wait);
    add(growing.places, waits_in, wait);
    return {};
  }

  [[nodiscard]] std::vector<LockRow> rows() const {
    std::vector<LockRow> rows;
    for (const auto& [key, growing] : rows_) {
      LockRow& row = rows.emplace_back(growing.row);
      row.waiters = largest(growing.waiters);
      row.holders = largest(growing.holders);
      row.places = largest(growing.places);
    }
    core::sort_rows(rows, [](const LockRow& a, const LockRow& b) { return a.ns > b.ns; });
    return rows;
  }

 private:
  Result<std::string> function(const LockWait& wait, StackId stack) {
    EventValue value;
    value.stack = stack;
    value.pid = wait.pid;
    value.time_ns = wait.from_ns;
    return values_.function(value, RuntimeFrames::kWaiting);
  }

  [[nodiscard]] std::string name_of(const LockWait& wait, const std::string& place,
                                    const std::string& waiter, const std::string& holder) const {
    switch (by_) {
      case LockGroup::kHolder:
        return holder;
      case LockGroup::kWaiter:
        return waiter;
      case LockGroup::kCallstack:
        return place;
      case LockGroup::kClass:
        return std::string(wait.kind);
      default:
        return fmt::format("{} {}", lock_text(wait), wait.kind);
    }
  }

  EventValueTable& values_;
  LockGroup by_;
  std::map<std::tuple<std::uint32_t, std::string, StackId>, GrowingRow> rows_;
};

}  // namespace

std::string lock_text(const LockWait& wait) {
  return wait.lock == kNoValue ? std::string("-") : fmt::format("0x{:x}", wait.lock);
}

bool is_asked_for(const LockQuery& query, const LockWait& wait) {
  return wait.ns >= query.longer_than_ns && (!query.pid || *query.pid == wait.pid) &&
         (!query.tid || *query.tid == wait.tid) &&
         (query.lock.empty() || query::fits_pattern(lock_text(wait), query.lock));
}

Result<LockReport> lock_report(const Reader& reader, const LockQuery& query, std::size_t limit) {
  Result<EventValueTable> values = EventValueTable::load(reader);
  if (!values) {
    return values.error();
  }
  LockReport report;
  report.by = query.by;
  LockSums sums(*values, query.by);
  Status named;
  const Result<LockWaitsLeft> left = visit_lock_waits(*values, [&](const LockWait& wait) {
    if (!named || !is_asked_for(query, wait)) {
      return;
    }
    if (!wait.is_lock && !query.all) {
      ++report.not_locks;
      core::add_saturating(report.not_locks_ns, wait.ns);
      return;
    }
    ++report.waits;
    core::add_saturating(report.ns, wait.ns);
    core::add_saturating(report.between_ns, wait.to_ns - wait.from_ns);
    report.longest_ns = std::max(report.longest_ns, wait.ns);
    named = sums.add_wait(wait);
  });
  if (!left || !named) {
    return left ? named.error() : left.error();
  }
  report.left = *left;
  report.rows = sums.rows();
  report.all_rows = report.rows.size();
  if (limit != 0 && report.rows.size() > limit) {
    report.rows.resize(limit);
  }
  return report;
}

}  // namespace stackpack::app
