// What a comparison and its gate are called in reports.
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "stackpack/diff.h"

namespace stackpack {

namespace {

constexpr double kPercent = 100;

std::string points(double share) {
  return fmt::format("{:+.2f}pp", share * kPercent);
}

std::string figure_text(const DiffFigure& figure, const EventDiff& event) {
  switch (event.unit) {
    case DiffUnit::kTime:
      return fmt::format("{:.4g} to {:.4g} samples/s", figure.old_share, figure.new_share);
    case DiffUnit::kRun:
      return fmt::format("{} to {} a {}", cost_text(figure.old_share, event.measure),
                         cost_text(figure.new_share, event.measure), event.work);
    default:
      return fmt::format("{:.2f}% to {:.2f}%, {}", figure.old_share * kPercent,
                         figure.new_share * kPercent, points(figure.difference));
  }
}

std::string bound_text(const DiffFigure& figure, const GateCondition& condition,
                       const EventDiff& event) {
  const bool less = condition.limit < 0;
  const double bound = less ? figure.high : figure.low;
  switch (condition.measure) {
    case GateMeasure::kShare:
      return points(bound);
    case GateMeasure::kCost:
      return cost_text(bound, event.measure, true);
    case GateMeasure::kRelative:
      break;
  }
  return fmt::format("{:+.1f}%", ((less ? figure.ratio_high : figure.ratio_low) - 1) * kPercent);
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

std::string finding_text(const DiffReport& report, std::span<const GateCondition> conditions,
                         const GateFinding& finding, std::string_view name) {
  const EventDiff& event = report.events[finding.event];
  const GateCondition& condition = conditions[finding.condition];
  if (finding.whole) {
    return fmt::format("everything: {} {} (at least {}): {}", condition.cost_of,
                       figure_text(*event.whole, event), bound_text(*event.whole, condition, event),
                       condition.text);
  }
  const DiffRow& row = event.rows[finding.row];
  const DiffFigure& figure = finding.self ? row.self : row.total;
  const std::string own =
      row.shared_name && !row.module.empty() ? row.module + "!" + row.name : row.name;
  return fmt::format("{}: {} {} (at least {}): {}", name.empty() ? own : name,
                     finding.self ? "self" : "total", figure_text(figure, event),
                     bound_text(figure, condition, event), condition.text);
}

}  // namespace stackpack
