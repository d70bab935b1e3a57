#include "cli/diff_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "cli/human_text.h"
#include "cli/measure_text.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

constexpr double kPercent = 100;

std::string count_text(const DiffSide& side) {
  const std::string samples = grouped(side.samples) + " samples";
  return side.runs == 1 ? samples + " of one run"
                        : fmt::format("{} of {} runs", samples, side.runs);
}

// What shares are shares of, where that is more than a number of samples.
std::string whole_sentence(const EventDiff& event) {
  if (event.unit != DiffUnit::kWeight || event.measure == "samples") {
    return {};
  }
  const auto whole = [&event](const DiffSide& side) {
    return measured_text(static_cast<std::uint64_t>(std::llround(std::max(0.0, side.value))),
                         event.measure);
  };
  return fmt::format("Shares are of {}, and of {} before.", whole(event.new_side),
                     whole(event.old_side));
}

std::string cost_name(const EventDiff& event) {
  if (event.measure != "ns") {
    return event.measure;
  }
  return event.event == "blocked" ? "blocked time" : "cpu time";
}

std::string percent_of_ratio(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:+.1f}", (ratio - 1) * kPercent) : "+inf";
}

// `cpu time a run 3.41s -> 4.02s, +17.9 % (+14.1..+21.7): more`
std::string cost_sentence(const EventDiff& event) {
  if (!event.whole) {
    return {};
  }
  const DiffFigure& whole = *event.whole;
  std::string text = fmt::format("{} a {} {} -> {}, {} % ({}..{}): {}", cost_name(event),
                                 event.work, cost_text(whole.old_share, event.measure),
                                 cost_text(whole.new_share, event.measure),
                                 percent_of_ratio(whole.ratio), percent_of_ratio(whole.ratio_low),
                                 percent_of_ratio(whole.ratio_high), verdict_name(whole.verdict));
  if (whole.verdict == DiffVerdict::kNotSeen && whole.old_share > 0) {
    text += fmt::format("; {:+.1f} % would have been, four times in five",
                        whole.least_visible / whole.old_share * kPercent);
  }
  return text + '.';
}

std::string doubt_sentence(const EventDiff& event) {
  std::string list;
  for (const std::string& doubt : event.doubts) {
    list += (list.empty() ? "" : "; ") + doubt;
  }
  return list.empty() ? list : "These runs cannot be compared: " + list + ".";
}

std::string runs_sentence(const EventDiff& event) {
  const auto runs = [](const DiffSide& side) { return counted(side.runs_left_out, "run"); };
  return event.old_side.runs_left_out + event.new_side.runs_left_out == 0
             ? std::string()
             : fmt::format("Not compared, without selected samples of it: {} now, {} before.",
                           runs(event.new_side), runs(event.old_side));
}

std::string idle_sentence_of(const EventDiff& event) {
  return event.old_side.idle.samples + event.new_side.idle.samples == 0
             ? std::string()
             : fmt::format("Idle: {:.1f} % of {} left out, {:.1f} % before; {} shows it.",
                           event.new_side.idle.share() * kPercent, event.new_side.idle.whose(),
                           event.old_side.idle.share() * kPercent, event.new_side.idle.option());
}

std::string scatter_sentence(const EventDiff& event) {
  switch (event.scatter) {
    case DiffScatter::kRuns:
      return "How much counts scatter is taken from the runs.";
    case DiffScatter::kBlocks:
      return fmt::format(
          "One run a side does not show how runs differ: that is assumed. How much counts scatter "
          "within a run is taken from {} stretches of time.",
          event.blocks);
    case DiffScatter::kAssumed:
      return "One run a side without times: how much counts scatter is assumed.";
  }
  return "";
}

std::string limit_text(const GateCondition& condition, double value) {
  switch (condition.measure) {
    case GateMeasure::kShare:
      return fmt::format("{:.2f}pp", value * kPercent);
    case GateMeasure::kCost: {
      const bool time = condition.cost_of == "cpu" || condition.cost_of == "blocked";
      return cost_text(value, time ? "ns" : condition.cost_of);
    }
    case GateMeasure::kRelative:
      break;
  }
  return fmt::format("{:.1f}%", value * kPercent);
}

bool is_listed(DiffVerdict verdict) {
  return is_change(verdict) || verdict == DiffVerdict::kUnsure || verdict == DiffVerdict::kDoubted;
}

std::vector<DiffLine>& list_of(DiffLines& lines, DiffVerdict verdict) {
  return is_change(verdict) ? lines.changed : lines.unsure;
}

std::string change_sentence(const EventDiff& event, const DiffLines& lines) {
  if (!lines.changed.empty()) {
    return fmt::format("{} of {} changed.", grouped(lines.changed.size()),
                       counted(event.tests, "figure"));
  }
  if (!lines.unsure.empty() && !event.doubts.empty()) {
    return fmt::format(
        "{} of {} figures differ by more than chance makes. They are unsure: see above.",
        grouped(lines.unsure.size()), grouped(event.tests));
  }
  if (!lines.unsure.empty()) {
    return fmt::format(
        "{} of {} figures differ by more than chance within a run makes. They are unsure: one run "
        "a "
        "side does not show how much runs differ.",
        grouped(lines.unsure.size()), grouped(event.tests));
  }
  return fmt::format(
      "No change is seen in {}; `visible` is the growth that would have been, four times in five.",
      counted(event.tests, "figure"));
}

}  // namespace

bool is_change(DiffVerdict verdict) {
  return verdict != DiffVerdict::kNotSeen && verdict != DiffVerdict::kTooFew &&
         verdict != DiffVerdict::kUnsure && verdict != DiffVerdict::kDoubted;
}

const DiffFigure& figure_of(const EventDiff& event, const DiffLine& line) {
  const DiffRow& row = event.rows[line.row];
  return line.self ? row.self : row.total;
}

DiffLines lines_of(const EventDiff& event) {
  DiffLines lines;
  for (std::size_t i = 0; i < event.rows.size(); ++i) {
    const DiffRow& row = event.rows[i];
    const bool self = is_listed(row.self.verdict);
    // What calls nothing has one figure.
    const bool same =
        row.self.old_value == row.total.old_value && row.self.new_value == row.total.new_value;
    const bool total = is_listed(row.total.verdict) && !(self && same);
    if (self) {
      list_of(lines, row.self.verdict).push_back({i, true});
    }
    if (total) {
      list_of(lines, row.total.verdict).push_back({i, false});
    }
    if (!self && !total) {
      lines.others.push_back({i, false});
    }
  }
  return lines;
}

std::string title_of_row(const DiffRow& row) {
  std::string text;
  if (row.shared_name && !row.module.empty()) {
    append_escaped(text, row.module);
    text += '!';
  }
  append_escaped(text, row.name);
  if (!row.place.empty()) {
    text += " at ";
    append_escaped(text, row.place);
  }
  return text;
}

std::string share_text_of(double share, const EventDiff& event) {
  switch (event.unit) {
    case DiffUnit::kTime:
      return fmt::format("{:.4g}/s", share);
    case DiffUnit::kRun:
      return cost_text(share, event.measure);
    default:
      return fmt::format("{:.2f}%", share * kPercent);
  }
}

std::string change_text_of(double difference, const EventDiff& event) {
  switch (event.unit) {
    case DiffUnit::kTime:
      return fmt::format("{:+.4g}/s", difference);
    case DiffUnit::kRun:
      return cost_text(difference, event.measure, true);
    default:
      return fmt::format("{:+.2f}pp", difference * kPercent);
  }
}

std::string part_text_of(const DiffFigure& figure, const EventDiff& event) {
  return event.unit == DiffUnit::kRun && event.new_side.value > 0
             ? fmt::format("{:.2f}%", figure.new_value / event.new_side.value * kPercent)
             : std::string();
}

namespace {

// `app_a before is app_b now: 41 of 43 functions have the same names.`
std::string rename_sentence(const DiffRename& rename) {
  std::string before;
  std::string after;
  append_escaped(before, rename.before);
  append_escaped(after, rename.after);
  const std::string pair = fmt::format("{} before is {} now", before, after);
  switch (rename.reason) {
    case DiffRenameReason::kBuildId:
      return pair + ": the build id is the same.";
    case DiffRenameReason::kNames:
      return fmt::format("{}: {} of {} functions have the same names.", pair,
                         grouped(rename.equal_names), grouped(rename.names));
    case DiffRenameReason::kAsked:
      return pair + ", by --rename.";
    case DiffRenameReason::kNotThere:
      return fmt::format("--rename: nothing before is called {}.", before);
  }
  return {};
}

// How many runs would have shown what a condition asks for: what is visible shrinks with the root
// of the samples, and of the runs.
std::string sufficient_runs(const JudgedDiff& diff, const GateCondition& condition,
                            const GateResult& result) {
  constexpr double kMost = 10'000;
  std::size_t runs = 0;
  for (const EventDiff& event : diff.report.events) {
    runs = std::max(runs, std::min(event.old_side.runs, event.new_side.runs));
  }
  const double ratio = result.least_visible / std::abs(condition.limit);
  const double factor = ratio * ratio;
  if (result.outcome != GateOutcome::kUndecided || runs < 2 || factor > kMost) {
    return {};
  }
  return fmt::format("; {:.0f} runs a side would do, or runs {:.1f} times as long",
                     std::ceil(static_cast<double>(runs) * factor), factor);
}

}  // namespace

std::vector<std::string> sentences_of(const EventDiff& event) {
  std::vector<std::string> sentences;
  std::string name;
  append_escaped(name, event.event);
  sentences.push_back(fmt::format("{}: {} against {} before.", name, count_text(event.new_side),
                                  count_text(event.old_side)));
  for (const std::string& sentence :
       {cost_sentence(event), doubt_sentence(event), whole_sentence(event), runs_sentence(event),
        idle_sentence_of(event)}) {
    if (!sentence.empty()) {
      sentences.push_back(sentence);
    }
  }
  for (const DiffRename& rename : event.renames) {
    sentences.push_back(rename_sentence(rename));
  }
  sentences.push_back(change_sentence(event, lines_of(event)));
  sentences.push_back(scatter_sentence(event));
  if (event.left_out != 0) {
    sentences.push_back(fmt::format("{} callstacks with too few samples to tell are not listed.",
                                    grouped(event.left_out)));
  }
  if (event.unit != DiffUnit::kTime && event.old_side.unpaired + event.new_side.unpaired > 0) {
    sentences.push_back(
        fmt::format("On one side alone: {:.2f}% of the samples before, {:.2f}% now.",
                    event.old_side.unpaired * kPercent, event.new_side.unpaired * kPercent));
  }
  return sentences;
}

std::vector<std::string> gate_sentences(const JudgedDiff& diff, std::size_t name_width) {
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < diff.conditions.size(); ++i) {
    const GateCondition& condition = diff.conditions[i];
    const GateResult& result = diff.gate.results[i];
    std::string text = condition.text + ": ";
    if (result.outcome == GateOutcome::kUndecided && !result.reason.empty()) {
      sentences.push_back(text + "undecided: " + result.reason);
      continue;
    }
    if (result.unsure != 0 && result.outcome == GateOutcome::kUndecided) {
      text += fmt::format(
          "{} {} went so far, but one run a side does not show how much runs differ: record "
          "several",
          grouped(result.unsure), result.unsure == 1 ? "figure" : "figures");
    } else if (result.outcome != GateOutcome::kUndecided) {
      text += outcome_name(result.outcome);
    } else {
      text += fmt::format("not enough samples to see it in {} of {}", grouped(result.not_visible),
                          counted(result.not_visible + result.visible, "figure"));
    }
    if (result.not_visible != 0 && std::isfinite(result.least_visible)) {
      text +=
          result.outcome == GateOutcome::kUndecided && result.unsure == 0
              ? ""
              : fmt::format("; {} could not have shown it", counted(result.not_visible, "figure"));
      std::string name;
      append_escaped(name, result.least_visible_in);
      if (name_width != app::kAnyWidth) {
        const app::FunctionTitle title{name, {}, {}};
        name = app::function_titles({&title, 1}, app::FunctionNames::kShort, name_width).front();
      }
      text += fmt::format(" (least: {} in {}){}", limit_text(condition, result.least_visible), name,
                          sufficient_runs(diff, condition, result));
    }
    sentences.push_back(std::move(text));
  }
  return sentences;
}

}  // namespace stackpack::cli
