#include "app/diff/run_trust.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "query/event_traits.h"

namespace stackpack::app {

namespace {

using Facts = std::span<const RunFacts>;

// A share of the samples that may be missing before a cost is in doubt.
constexpr double kMissing = 1e-3;
// By which frequencies may differ: measured ones scatter.
constexpr double kFrequency = 0.02;
constexpr double kNanoseconds = 1e9;
constexpr double kGiga = 1e9;

// Cycles for each second, where both were counted side by side.
Result<double> hertz_of(const query::CaptureView& view) {
  enum Kind : std::uint8_t { kOther, kCycles, kTime };
  std::vector<Kind> kinds;
  std::array<bool, 3> known{};
  for (const Event& event : view.events) {
    const std::string unit = event.has_weight ? query::traits_of(event.name).unit : "";
    const bool clock = event.name.starts_with("task-clock") || event.name.starts_with("cpu-clock");
    kinds.push_back(unit == "cycles" ? kCycles : unit == "ns" && clock ? kTime : kOther);
    known[kinds.back()] = true;
  }
  if (!known[kCycles] || !known[kTime] || !view.has_samples) {
    return 0.0;
  }
  std::array<double, 3> sums{};
  SampleQuery query;
  query.any_order = true;
  const Status read = view.samples(query, [&](std::span<const StoredSample> block) {
    for (const StoredSample& sample : block) {
      sums[kinds[sample.event]] += static_cast<double>(sample.weight);
    }
    return true;
  });
  if (!read) {
    return read.error();
  }
  return sums[kTime] > 0 ? sums[kCycles] / sums[kTime] * kNanoseconds : 0.0;
}

std::vector<RunFacts> all_of(Facts before, Facts after) {
  std::vector<RunFacts> all(before.begin(), before.end());
  all.insert(all.end(), after.begin(), after.end());
  return all;
}

template <typename Count>
void add_missing(std::vector<std::string>& doubts, const std::vector<RunFacts>& runs,
                 std::string_view what, const Count& count) {
  std::uint64_t sum = 0;
  std::size_t in = 0;
  for (const RunFacts& run : runs) {
    const std::uint64_t missing = count(run);
    if (static_cast<double>(missing) > kMissing * static_cast<double>(run.samples)) {
      sum += missing;
      ++in;
    }
  }
  if (in != 0) {
    doubts.push_back(fmt::format("{} ({} in {} of {} runs)", what, sum, in, runs.size()));
  }
}

// Texts that all runs should have in common.
template <typename Text>
void add_different(std::vector<std::string>& doubts, const std::vector<RunFacts>& runs,
                   std::string_view what, const Text& text_of) {
  std::map<std::string, std::size_t> texts;
  for (const RunFacts& run : runs) {
    if (!text_of(run).empty()) {
      ++texts[text_of(run)];
    }
  }
  if (texts.size() < 2) {
    return;
  }
  std::string list;
  for (const auto& [text, count] : texts) {
    list += fmt::format("{}{} in {}", list.empty() ? "" : ", ", text, count);
  }
  doubts.push_back(fmt::format("{} ({} runs)", what, list));
}

void add_cut_short(std::vector<std::string>& doubts, const std::vector<RunFacts>& runs) {
  std::size_t ended = 0;
  std::size_t running = 0;
  for (const RunFacts& run : runs) {
    ended += run.has_program && run.ended ? 1 : 0;
    running += run.has_program && !run.ended ? 1 : 0;
  }
  if (ended != 0 && running != 0) {
    doubts.push_back(
        fmt::format("recordings cut short (in {} of {} runs the program had not ended when the "
                    "recording did)",
                    running, runs.size()));
  }
}

double mean_hertz(Facts runs) {
  double sum = 0;
  for (const RunFacts& run : runs) {
    if (run.hertz <= 0) {
      return 0;
    }
    sum += run.hertz;
  }
  return runs.empty() ? 0 : sum / static_cast<double>(runs.size());
}

void add_frequency(std::vector<std::string>& doubts, Facts before, Facts after) {
  const double old_hertz = mean_hertz(before);
  const double new_hertz = mean_hertz(after);
  if (old_hertz > 0 && new_hertz > 0 && std::abs(new_hertz / old_hertz - 1) > kFrequency) {
    doubts.push_back(fmt::format("different frequency ({:.2f} GHz before, {:.2f} GHz now)",
                                 old_hertz / kGiga, new_hertz / kGiga));
  }
}

}  // namespace

Result<RunFacts> facts_of_run(const query::CaptureView& view, std::uint32_t program) {
  RunFacts facts;
  for (std::size_t event = 0; event < view.events.size(); ++event) {
    facts.samples += view.samples_of_event(event);
  }
  std::uint64_t lost_samples = 0;
  std::uint64_t lost_events = 0;
  for (const LossCounter& loss : view.losses) {
    if (loss.name == "throttle_events") {
      facts.throttled += loss.count;
    } else if (loss.kind == LossKind::kDamage) {
      facts.damaged += loss.count;
    } else if (loss.kind == LossKind::kRecorder) {
      // Lost samples may be counted among the lost events, too.
      (loss.name == "recorder_lost_samples" ? lost_samples : lost_events) += loss.count;
    }
  }
  facts.lost = std::max(lost_samples, lost_events);
  facts.processors = view.fact("cpu.count");
  facts.model = view.fact("cpu.description");
  if (program < view.processes.size()) {
    facts.has_program = true;
    facts.ended = view.processes[program].end_ns != kUnknownTime;
  }
  const Result<double> hertz = hertz_of(view);
  if (!hertz) {
    return hertz.error();
  }
  facts.hertz = *hertz;
  return facts;
}

std::vector<std::string> doubts_of(Facts before, Facts after, bool of_time) {
  const std::vector<RunFacts> runs = all_of(before, after);
  std::vector<std::string> doubts;
  add_missing(doubts, runs, "lost samples", [](const RunFacts& run) { return run.lost; });
  add_missing(doubts, runs, "damaged records", [](const RunFacts& run) { return run.damaged; });
  add_missing(doubts, runs, "throttled sampling",
              [](const RunFacts& run) { return run.throttled; });
  add_different(doubts, runs, "different numbers of processors",
                [](const RunFacts& run) { return run.processors; });
  add_different(doubts, runs, "different processors",
                [](const RunFacts& run) { return run.model; });
  add_cut_short(doubts, runs);
  if (of_time) {
    add_frequency(doubts, before, after);
  }
  return doubts;
}

}  // namespace stackpack::app
