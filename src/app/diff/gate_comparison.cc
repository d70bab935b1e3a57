#include "app/diff/gate_comparison.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace stackpack::app {

namespace {

DiffOptions shares_of(DiffOptions options) {
  options.unit = DiffUnit::kMeasure;
  options.work.clear();
  options.work_of_files.clear();
  options.runs_by.clear();
  return options;
}

// What has to be compared besides; costs that any event has come first.
std::vector<DiffOptions> others_for(const DiffOptions& options,
                                    std::span<const GateCondition> conditions) {
  std::set<std::string> costs;
  bool shares = false;
  for (const GateCondition& condition : conditions) {
    shares |= condition.cost_of.empty() && condition.measure == GateMeasure::kShare;
    if (!condition.cost_of.empty()) {
      const bool any = condition.cost_of == "cpu" || condition.cost_of == "cost";
      costs.insert(any ? std::string() : condition.cost_of);
    }
  }
  std::vector<DiffOptions> others;
  if (shares && options.unit == DiffUnit::kRun) {
    others.push_back(shares_of(options));
  }
  for (const std::string& cost : costs) {
    DiffOptions other = options;
    other.unit = DiffUnit::kRun;
    if (!cost.empty()) {
      other.filter.events = {cost};
    } else if (options.unit == DiffUnit::kRun) {
      continue;  // that is what is compared anyway
    }
    others.push_back(std::move(other));
  }
  return others;
}

}  // namespace

Result<DiffReport> compare_for_gate(std::span<const Reader* const> before,
                                    std::span<const Reader* const> after,
                                    const DiffOptions& options,
                                    std::span<const GateCondition> conditions) {
  Result<DiffReport> report = compare_profiles(before, after, options);
  if (!report) {
    return report;
  }
  for (const DiffOptions& other : others_for(options, conditions)) {
    Result<DiffReport> more = compare_profiles(before, after, other);
    if (!more && more.error().code != ErrorCode::kUsage) {
      return more;
    }
    if (!more) {
      continue;
    }
    for (EventDiff& event : more->events) {
      const bool known = std::any_of(
          report->events.begin(), report->events.end(), [&event](const EventDiff& compared) {
            return compared.event == event.event && compared.unit == event.unit;
          });
      if (!known) {
        std::erase(report->events_left_out, event.event);
        report->events.push_back(std::move(event));
      }
    }
  }
  return report;
}

}  // namespace stackpack::app
