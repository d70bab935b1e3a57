#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "core/guard.h"
#include "query/event_traits.h"
#include "query/function_pattern.h"
#include "stackpack/diff.h"

namespace stackpack {

namespace {

// A known change that is of no row.
constexpr std::string_view kEverything = "(everything)";

// A figure as a condition looks at it: so that growth is what it asks for.
struct Seen {
  double low = 0;      // where the interval begins
  double visible = 0;  // the least that would have been seen
  double share = 0;    // the larger one
};

// A share of everything on a side; with DiffUnit::kTime a rate.
double share_of(double value, double share, const DiffSide& side, DiffUnit unit) {
  if (unit != DiffUnit::kRun) {
    return share;
  }
  return side.value > 0 ? value / side.value : 0;
}

// What a cost is compared with so that it is a share: that of everything.
double cost_of_whole(const EventDiff& event) {
  return event.whole && event.whole->old_share > 0 ? event.whole->old_share
                                                   : std::numeric_limits<double>::infinity();
}

Seen seen_of(const DiffFigure& figure, GateMeasure measure, bool less, const EventDiff& event) {
  Seen seen;
  seen.share = std::max(share_of(figure.old_value, figure.old_share, event.old_side, event.unit),
                        share_of(figure.new_value, figure.new_share, event.new_side, event.unit));
  if (measure == GateMeasure::kRelative) {
    seen.low = less ? 1 - figure.ratio_high : figure.ratio_low - 1;
    seen.visible = figure.old_share > 0 ? figure.least_visible / figure.old_share
                                        : std::numeric_limits<double>::infinity();
    return seen;
  }
  const bool costs = event.unit == DiffUnit::kRun;
  const double one = measure == GateMeasure::kShare && costs ? cost_of_whole(event) : 1;
  seen.low = (less ? -figure.high : figure.low) / one;
  seen.visible = figure.least_visible / one;
  return seen;
}

bool is_cost_of(const EventDiff& event, std::string_view word) {
  const query::EventTraits traits = query::traits_of(event.event);
  const bool waits = event.event == "blocked";
  if (event.unit != DiffUnit::kRun || word == "blocked") {
    return event.unit == DiffUnit::kRun && waits;
  }
  if (word == "cost") {
    return !waits;
  }
  if (word == "cpu") {
    return !waits && (traits.kind == query::EventKind::kTime || event.measure == "samples");
  }
  return traits.unit == word;
}

// Old conditions are about what is compared first, new ones about the cost they name.
bool is_about(const GateCondition& condition, const EventDiff& event, DiffUnit first) {
  if (!condition.cost_of.empty()) {
    return is_cost_of(event, condition.cost_of);
  }
  const bool costs = event.unit == DiffUnit::kRun;
  return condition.measure == GateMeasure::kShare ? !costs : costs == (first == DiffUnit::kRun);
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : "; ") + text;
  }
  return all;
}

class GateCheck {
 public:
  GateCheck(const DiffReport& report, std::span<const GateCondition> conditions,
            std::span<const AllowedChange> allowed, const GateOptions& options)
      : report_(report), conditions_(conditions), allowed_(allowed), options_(options) {
    result_.results.resize(conditions.size());
    result_.used.assign(allowed.size(), false);
  }

  GateReport check() {
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
      GateResult& result = result_.results[i];
      bool any = false;
      for (std::size_t event = 0; event < report_.events.size(); ++event) {
        const EventDiff& about = report_.events[event];
        if (is_about(conditions_[i], about, report_.unit)) {
          any = true;
          check_event(i, event);
          result.reason = about.doubts.empty()
                              ? result.reason
                              : "these runs cannot be compared: " + joined(about.doubts);
        }
      }
      if (!any) {
        result.reason = "nothing that was compared has it";
      }
      if (result.outcome != GateOutcome::kFailed &&
          (result.not_visible != 0 || result.unsure != 0 || !result.reason.empty())) {
        result.outcome = GateOutcome::kUndecided;
      }
    }
    return std::move(result_);
  }

 private:
  void check_event(std::size_t condition, std::size_t event) {
    const GateCondition& wanted = conditions_[condition];
    if (wanted.whole) {
      if (report_.events[event].whole) {
        check_figure({condition, event, 0, false, true}, *report_.events[event].whole);
      }
      return;
    }
    const std::vector<DiffRow>& rows = report_.events[event].rows;
    const std::vector<bool>& meant = meant_rows(wanted.pattern, event);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (!meant[row]) {
        continue;
      }
      if (wanted.figure != GateFigure::kTotal) {
        check_figure({condition, event, row, true}, rows[row].self);
      }
      const bool has_total = report_.by != DiffGrain::kCallstack;
      if (wanted.figure != GateFigure::kSelf && has_total) {
        check_figure({condition, event, row, false}, rows[row].total);
      }
    }
  }

  // A condition that is met for sure: of what is allowed it is only said.
  void add_finding(GateFinding& finding, GateResult& result) {
    const EventDiff& event = report_.events[finding.event];
    finding.unsure = (!options_.accept_single_run && event.scatter != DiffScatter::kRuns) ||
                     !event.doubts.empty();
    result_.findings.push_back(finding);
    if (!finding.allowed && finding.unsure) {
      ++result.unsure;
    } else if (!finding.allowed) {
      result.outcome = GateOutcome::kFailed;
    }
  }

  void check_figure(GateFinding finding, const DiffFigure& figure) {
    const GateCondition& wanted = conditions_[finding.condition];
    const bool less = wanted.limit < 0;
    const double limit = std::abs(wanted.limit);
    const Seen seen = seen_of(figure, wanted.measure, less, report_.events[finding.event]);
    if (seen.share < wanted.least || seen.share <= 0) {
      return;
    }
    GateResult& result = result_.results[finding.condition];
    const bool sure =
        figure.verdict != DiffVerdict::kNotSeen && figure.verdict != DiffVerdict::kTooFew;
    if (sure && seen.low > 0 && seen.low >= limit) {
      finding.allowed = is_allowed(finding, figure, less);
      add_finding(finding, result);
      return;
    }
    // What has no room for such a change cannot make it.
    const double room = less ? figure.old_share : 1 - figure.old_share;
    if (wanted.measure == GateMeasure::kShare && room < limit) {
      return;
    }
    if (seen.visible <= limit) {
      ++result.visible;
      return;
    }
    ++result.not_visible;
    if (seen.visible > result.least_visible) {
      result.least_visible = seen.visible;
      result.least_visible_in = finding.whole ? std::string(kEverything) : row_of(finding).name;
    }
  }

  bool is_allowed(const GateFinding& finding, const DiffFigure& figure, bool less) {
    const EventDiff& event = report_.events[finding.event];
    bool any = false;
    for (std::size_t i = 0; i < allowed_.size(); ++i) {
      const AllowedChange& change = allowed_[i];
      const bool meant = finding.whole ? change.pattern == kEverything
                                       : meant_rows(change.pattern, finding.event)[finding.row];
      const bool comparable = change.measure != GateMeasure::kCost || event.unit == DiffUnit::kRun;
      if (meant &&
          (!change.limit ||
           (comparable && seen_of(figure, change.measure, less, event).low <= *change.limit))) {
        result_.used[i] = true;
        any = true;
      }
    }
    return any;
  }

  // The rows of an event that a pattern means; one that cannot be read was refused before.
  const std::vector<bool>& meant_rows(const std::string& text, std::size_t event) {
    const auto [known, fresh] = meant_.try_emplace({text, event});
    if (fresh) {
      const auto pattern = query::FunctionPattern::parse(text);
      std::vector<query::FunctionPattern::Fit> fits;
      for (const DiffRow& row : report_.events[event].rows) {
        fits.push_back(text.empty() ? query::FunctionPattern::Fit::kExact
                       : pattern    ? pattern->fit(row.name, row.module, row.aliases)
                                    : query::FunctionPattern::Fit::kNone);
      }
      known->second = query::best_fits(fits);
    }
    return known->second;
  }
  [[nodiscard]] const DiffRow& row_of(const GateFinding& finding) const {
    return report_.events[finding.event].rows[finding.row];
  }

  const DiffReport& report_;
  std::span<const GateCondition> conditions_;
  std::span<const AllowedChange> allowed_;
  GateOptions options_;
  GateReport result_;
  std::map<std::pair<std::string, std::size_t>, std::vector<bool>> meant_;
};

// What a condition asks for must be what the report has.
Status check_condition(const GateCondition& condition, const DiffReport& report) {
  const bool of_cost = !condition.cost_of.empty();
  if (!of_cost && report.unit == DiffUnit::kTime && condition.measure == GateMeasure::kShare) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "`share`: against time there are no shares; write `relative +10%`"};
  }
  if (!of_cost && report.unit == DiffUnit::kTime && condition.least > 0) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "`from`: against time there are no shares to begin at; leave it out"};
  }
  const bool of_time = condition.cost_of == "cpu" || condition.cost_of == "blocked";
  for (const EventDiff& event : report.events) {
    if (of_time && condition.measure == GateMeasure::kCost &&
        is_about(condition, event, report.unit) && event.measure != "ns") {
      return Error{ErrorCode::kUsage, kNoOffset,
                   "an amount of time, but the event does not measure time; write `cpu +5%`"};
    }
  }
  const auto pattern = query::FunctionPattern::parse(condition.pattern);
  return pattern ? Status{} : pattern.error();
}

}  // namespace

bool GateReport::failed() const {
  return std::any_of(results.begin(), results.end(), [](const GateResult& result) {
    return result.outcome == GateOutcome::kFailed;
  });
}

bool GateReport::undecided() const {
  return std::any_of(results.begin(), results.end(), [](const GateResult& result) {
    return result.outcome == GateOutcome::kUndecided;
  });
}

Result<GateReport> check_gate(const DiffReport& report, std::span<const GateCondition> conditions,
                              std::span<const AllowedChange> allowed, const GateOptions& options) {
  for (const GateCondition& condition : conditions) {
    if (const Status checked = check_condition(condition, report); !checked) {
      return checked.error();
    }
  }
  for (const AllowedChange& change : allowed) {
    if (const auto pattern = query::FunctionPattern::parse(change.pattern); !pattern) {
      return pattern.error();
    }
  }
  return core::guarded([&]() -> Result<GateReport> {
    return GateCheck(report, conditions, allowed, options).check();
  });
}

}  // namespace stackpack
