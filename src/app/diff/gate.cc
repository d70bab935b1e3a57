#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/guard.h"
#include "query/function_pattern.h"
#include "stackpack/diff.h"

namespace stackpack {

namespace {

constexpr double kPercent = 100;

// Takes the next word, which blanks end.
std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

// A line without its remark: a `#` at its beginning, or with blanks about it; names of lambdas have
// others.
std::string_view without_remark(std::string_view line) {
  line = trimmed(line);
  for (std::size_t at = line.find('#'); at < line.size(); at = line.find('#', at + 1)) {
    const bool ends = at + 1 == line.size() || is_blank(line[at + 1]);
    if (at == 0 || (is_blank(line[at - 1]) && ends)) {
      return line.substr(0, at);
    }
  }
  return line;
}

// `+0.5pp`, `-10%`, `1%` as a part of 1.
std::optional<double> amount_of(std::string_view word, std::string_view unit, bool sign) {
  if (!word.ends_with(unit) || (sign && (word.empty() || (word[0] != '+' && word[0] != '-')))) {
    return std::nullopt;
  }
  word.remove_suffix(unit.size());
  if (!word.empty() && word.front() == '+') {
    word.remove_prefix(1);
  }
  double value = 0;
  const auto [rest, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = failure == std::errc() && rest == word.data() + word.size();
  return whole && std::isfinite(value) ? std::optional(value / kPercent) : std::nullopt;
}

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

Seen seen_of(const DiffFigure& figure, GateMeasure measure, bool less, const EventDiff& event) {
  Seen seen;
  seen.share = std::max(share_of(figure.old_value, figure.old_share, event.old_side, event.unit),
                        share_of(figure.new_value, figure.new_share, event.new_side, event.unit));
  if (measure == GateMeasure::kShare) {
    seen.low = less ? -figure.high : figure.low;
    seen.visible = figure.least_visible;
  } else {
    seen.low = less ? 1 - figure.ratio_high : figure.ratio_low - 1;
    seen.visible = figure.old_share > 0 ? figure.least_visible / figure.old_share
                                        : std::numeric_limits<double>::infinity();
  }
  return seen;
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
      for (std::size_t event = 0; event < report_.events.size(); ++event) {
        check_event(i, event);
      }
      GateResult& result = result_.results[i];
      const bool doubted =
          std::any_of(report_.events.begin(), report_.events.end(),
                      [](const EventDiff& event) { return !event.doubts.empty(); });
      if (result.outcome != GateOutcome::kFailed &&
          (result.not_visible != 0 || result.unsure != 0 || doubted)) {
        result.outcome = GateOutcome::kUndecided;
      }
    }
    return std::move(result_);
  }

 private:
  void check_event(std::size_t condition, std::size_t event) {
    const GateCondition& wanted = conditions_[condition];
    const std::vector<DiffRow>& rows = report_.events[event].rows;
    const std::vector<bool>& meant = meant_rows(wanted.pattern, event);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (!meant[row]) {
        continue;
      }
      if (wanted.figure != GateFigure::kTotal) {
        check_figure({condition, event, row, true, false}, rows[row].self);
      }
      const bool has_total = report_.by != DiffGrain::kCallstack;
      if (wanted.figure != GateFigure::kSelf && has_total) {
        check_figure({condition, event, row, false, false}, rows[row].total);
      }
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
      const EventDiff& event = report_.events[finding.event];
      finding.unsure = (!options_.accept_single_run && event.scatter != DiffScatter::kRuns) ||
                       !event.doubts.empty();
      result_.findings.push_back(finding);
      if (!finding.allowed && finding.unsure) {
        ++result.unsure;
      } else if (!finding.allowed) {
        result.outcome = GateOutcome::kFailed;
      }
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
      result.least_visible_in = row_of(finding).name;
    }
  }

  bool is_allowed(const GateFinding& finding, const DiffFigure& figure, bool less) {
    bool any = false;
    for (std::size_t i = 0; i < allowed_.size(); ++i) {
      if (meant_rows(allowed_[i].pattern, finding.event)[finding.row] &&
          (!allowed_[i].limit ||
           seen_of(figure, allowed_[i].measure, less, report_.events[finding.event]).low <=
               *allowed_[i].limit)) {
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
                       : pattern    ? pattern->fit(row.name, row.module)
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
Status check_condition(const GateCondition& condition, DiffUnit unit) {
  if (unit == DiffUnit::kTime && condition.measure == GateMeasure::kShare) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "`share`: against time there are no shares; write `relative +10%`"};
  }
  if (unit == DiffUnit::kRun && condition.measure == GateMeasure::kShare) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "`share`: costs are no shares; write `relative +10%`, or leave out --per run"};
  }
  if (unit == DiffUnit::kTime && condition.least > 0) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "`from`: against time there are no shares to begin at; leave it out"};
  }
  const auto pattern = query::FunctionPattern::parse(condition.pattern);
  return pattern ? Status{} : pattern.error();
}

std::string points(double share) {
  return fmt::format("{:+.2f}pp", share * kPercent);
}

}  // namespace

std::string cost_text(double value, std::string_view measure, bool sign) {
  struct Step {
    double size;
    std::string_view of_time;
    std::string_view of_others;
  };
  constexpr std::array<Step, 5> kSteps = {
      {{1e12, "", "T"}, {1e9, "s", "G"}, {1e6, "ms", "M"}, {1e3, "us", "k"}, {1, "ns", ""}}};
  const bool time = measure == "ns";
  Step step = kSteps.back();
  // 999.6 would be written as 1000.
  constexpr double kRounds = 0.9995;
  for (const Step& larger : kSteps) {
    if (std::abs(value) >= larger.size * kRounds && !(time && larger.of_time.empty())) {
      step = larger;
      break;
    }
  }
  const double shown = value / step.size;
  const int digits = std::abs(shown) >= 99.95 || shown == 0 ? 0 : std::abs(shown) >= 9.995 ? 1 : 2;
  const std::string number =
      sign ? fmt::format("{:+.{}f}", shown, digits) : fmt::format("{:.{}f}", shown, digits);
  return number + std::string(time ? step.of_time : step.of_others);
}

std::string_view verdict_name(DiffVerdict verdict) {
  constexpr std::array<std::string_view, 8> kNames = {"not seen",
                                                      "more",
                                                      "less",
                                                      "appeared",
                                                      "disappeared",
                                                      "too few samples",
                                                      "unsure (one run a side)",
                                                      "unsure (not comparable)"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::string_view outcome_name(GateOutcome outcome) {
  constexpr std::array<std::string_view, 3> kNames = {"passed", "failed", "undecided"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::optional<GateCondition> parse_gate_condition(std::string_view text) {
  GateCondition condition;
  condition.text = trimmed(text);
  std::string_view rest = text;
  std::string_view word = next_word(rest);
  if (word == "self" || word == "total") {
    condition.figure = word == "self" ? GateFigure::kSelf : GateFigure::kTotal;
    word = next_word(rest);
  }
  if (word != "share" && word != "relative") {
    return std::nullopt;
  }
  condition.measure = word == "share" ? GateMeasure::kShare : GateMeasure::kRelative;
  const std::optional<double> limit =
      amount_of(next_word(rest), word == "share" ? "pp" : "%", true);
  if (!limit) {
    return std::nullopt;
  }
  condition.limit = *limit;
  for (word = next_word(rest); !word.empty(); word = next_word(rest)) {
    if (word == "of") {
      condition.pattern = trimmed(rest);
      return condition.pattern.empty() ? std::nullopt : std::optional(std::move(condition));
    }
    const std::optional<double> least =
        word == "from" ? amount_of(next_word(rest), "%", false) : std::nullopt;
    if (!least) {
      return std::nullopt;
    }
    condition.least = *least;
  }
  return condition;
}

Result<std::vector<AllowedChange>> parse_allowed_changes(std::string_view text) {
  constexpr std::string_view kLimit = " up to ";
  std::vector<AllowedChange> changes;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(without_remark(text.substr(at, end - at)));
    const std::size_t begin = at;
    at = end + 1;
    if (line.empty()) {
      continue;
    }
    AllowedChange change;
    change.text = line;
    change.pattern = line;
    if (const std::size_t limit = line.rfind(kLimit); limit != std::string_view::npos) {
      const std::string_view amount = line.substr(limit + kLimit.size());
      const bool share = amount.ends_with("pp");
      change.measure = share ? GateMeasure::kShare : GateMeasure::kRelative;
      change.limit = amount_of(amount, share ? "pp" : "%", true);
      if (!change.limit) {
        return Error{ErrorCode::kCorrupt, begin, "`up to` without an amount such as +2pp or +20%"};
      }
      change.limit = std::abs(*change.limit);
      change.pattern = trimmed(line.substr(0, limit));
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

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
    if (const Status checked = check_condition(condition, report.unit); !checked) {
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

std::string finding_text(const DiffReport& report, std::span<const GateCondition> conditions,
                         const GateFinding& finding) {
  const DiffRow& row = report.events[finding.event].rows[finding.row];
  const DiffFigure& figure = finding.self ? row.self : row.total;
  const GateCondition& condition = conditions[finding.condition];
  const std::string name =
      row.shared_name && !row.module.empty() ? row.module + "!" + row.name : row.name;
  std::string text = fmt::format("{}: {} ", name, finding.self ? "self" : "total");
  if (report.unit == DiffUnit::kTime) {
    text += fmt::format("{:.4g} to {:.4g} samples/s", figure.old_share, figure.new_share);
  } else if (report.unit == DiffUnit::kRun) {
    const EventDiff& event = report.events[finding.event];
    text += fmt::format("{} to {} a {}", cost_text(figure.old_share, event.measure),
                        cost_text(figure.new_share, event.measure), event.work);
  } else {
    text += fmt::format("{:.2f}% to {:.2f}%, {}", figure.old_share * kPercent,
                        figure.new_share * kPercent, points(figure.difference));
  }
  const bool less = condition.limit < 0;
  if (condition.measure == GateMeasure::kShare) {
    text += fmt::format(" (at least {})", points(less ? figure.high : figure.low));
  } else {
    text += fmt::format(" (at least {:+.1f}%)",
                        ((less ? figure.ratio_high : figure.ratio_low) - 1) * kPercent);
  }
  return text + fmt::format(": {}", condition.text);
}

}  // namespace stackpack
