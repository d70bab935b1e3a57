#include "query/selection/cut_notices.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "capture/unwind_losses.h"
#include "capture/wait_rules.h"
#include "core/saturating.h"
#include "query/selection/wait_events.h"

namespace stackpack::query {

namespace {

// Counters of formats, of samples whose callstack is cut, besides those of unwinding: they are
// stored, so a name never changes.
constexpr std::string_view kCutCallstacks[] = {"deferred_chains_unmatched", "jfr_truncated_stacks",
                                               "stacks_cut_by_runtime"};

// Counters of values below zero: what a profile has that is the difference of two, and no damage.
constexpr std::string_view kNegativeValues[] = {"firefox_negative_weight", "folded_negative_count",
                                                "otlp_negative_value", "pprof_negative_value",
                                                "speedscope_negative_weight"};

bool is_negative_value(std::string_view name) {
  return std::count(std::begin(kNegativeValues), std::end(kNegativeValues), name) != 0;
}

bool is_cut_callstack(std::string_view name) {
  const auto& unwound = capture::unwind_loss::kIncomplete;
  return std::count(unwound.begin(), unwound.end(), name) != 0 ||
         std::count(std::begin(kCutCallstacks), std::end(kCutCallstacks), name) != 0;
}

// `record cut: 1, data section cut: 1` of the counters of a kind; empty: there are none.
std::string counted(const Statistics& statistics, LossKind kind) {
  std::string text;
  for (const LossCounter& loss : statistics.losses) {
    if (loss.kind != kind || loss.count == 0 || is_cut_callstack(loss.name) ||
        is_negative_value(loss.name)) {
      continue;
    }
    std::string words = loss.name;
    std::replace(words.begin(), words.end(), '_', ' ');
    text += (text.empty() ? "" : ", ") + words + ": " + std::to_string(loss.count);
  }
  return text;
}

// `12.3 %`.
std::string share_of(std::uint64_t part, std::uint64_t whole) {
  constexpr double kPermille = 1000;
  const auto permille =
      std::llround(static_cast<double>(part) / static_cast<double>(whole) * kPermille);
  return std::to_string(permille / 10) + '.' + std::to_string(permille % 10) + " %";
}

// Samples whose callstack does not reach its root, as far as that is known. Dumps that nobody tried
// to unwind are among them, those that were tried are counted by how that ended.
CutStacks cut_stacks_of_file(const Statistics& statistics) {
  std::uint64_t cut = 0;
  for (const LossCounter& loss : statistics.losses) {
    cut = is_cut_callstack(loss.name) ? core::saturating_sum(cut, loss.count) : cut;
  }
  const std::uint64_t total = statistics.samples.total;
  return {total, std::min(std::max(cut, statistics.samples.stack_dump_only), total)};
}

std::uint64_t negative_values(const Statistics& statistics) {
  std::uint64_t count = 0;
  for (const LossCounter& loss : statistics.losses) {
    count = is_negative_value(loss.name) ? core::saturating_sum(count, loss.count) : count;
  }
  return count;
}

// Whether there are intervals that an older program worked out.
bool has_old_intervals(const Reader& reader) {
  if (!reader.has_intervals()) {
    return false;
  }
  const Result<std::vector<MetadataEntry>> metadata = reader.metadata();
  return metadata && std::none_of(metadata->begin(), metadata->end(), [](const auto& entry) {
           return entry.key == capture::kWaitRulesKey;
         });
}

bool has_sampled_switches(const Statistics& statistics) {
  return std::any_of(statistics.losses.begin(), statistics.losses.end(),
                     [](const auto& loss) { return loss.name == capture::kSampledSwitchEvents; });
}

}  // namespace

std::optional<CutStacks> cut_stacks_of(const Reader& reader, SampleSelection& selection,
                                       const std::vector<bool>& shown) {
  const bool of_waits = selection.choice().main_event() >= selection.view().first_wait_event;
  if (!reader.has_samples() || of_waits || cut_stacks_of_file(reader.statistics()).cut == 0) {
    return std::nullopt;
  }
  if (shown.empty()) {
    const Result<SampleCounts> counts = selection.count_samples();
    return counts ? std::optional(CutStacks{counts->samples, counts->without_root}) : std::nullopt;
  }
  CutStacks stacks;
  const Status read = selection.for_each([&](std::span<const SelectedSample> samples) {
    for (const SelectedSample& sample : samples) {
      const auto place = std::min<std::size_t>(sample.stack, shown.size() - 1);
      stacks.samples += shown[place] ? sample.count : 0;
      stacks.cut += shown[place] && lacks_root(sample.origin, sample.flags) ? sample.count : 0;
    }
    return Status{};
  });
  return read ? std::optional(stacks) : std::nullopt;
}

std::vector<std::string> cut_notices(const Statistics& statistics,
                                     const std::optional<CutStacks>& stacks) {
  std::vector<std::string> notices;
  if (const std::string damage = counted(statistics, LossKind::kDamage); !damage.empty()) {
    notices.push_back("the capture is truncated or damaged, so that samples may be missing (" +
                      damage + ")");
  }
  if (const std::uint64_t negative = negative_values(statistics); negative != 0) {
    notices.push_back("values below zero are left out, which the difference of two profiles has (" +
                      std::to_string(negative) + "); stackpack diff compares two captures");
  }
  if (const std::string lost = counted(statistics, LossKind::kRecorder); !lost.empty()) {
    notices.push_back("samples are missing that were lost while recording (" + lost + ")");
  }
  const auto [samples, cut] = stacks.value_or(cut_stacks_of_file(statistics));
  if (cut != 0) {
    notices.push_back("the callstacks of " + share_of(cut, samples) +
                      " of the samples do not reach their root (" + std::to_string(cut) + " of " +
                      std::to_string(samples) + ")");
  }
  if (has_sampled_switches(statistics)) {
    notices.emplace_back(
        "switches of threads were sampled, not all recorded, so that most of the threads' time is "
        "unknown");
  }
  return notices;
}

std::vector<std::string> cut_notices(const Reader& reader, const ExportOptions& asked,
                                     const SelectionRules& rules) {
  if (cut_stacks_of_file(reader.statistics()).cut == 0) {
    return cut_notices(reader);
  }
  ExportOptions options = asked;
  options.filter = asked.all_events ? asked.filter : with_wait_event(asked.filter);
  const Result<CaptureView> view = view_for(reader, options.filter);
  if (!view) {
    return cut_notices(reader);
  }
  const auto selection = SampleSelection::create(*view, options, rules);
  return cut_notices(reader, selection ? cut_stacks_of(reader, **selection) : std::nullopt);
}

std::vector<std::string> cut_notices(const Reader& reader, const std::optional<CutStacks>& stacks) {
  std::vector<std::string> notices = cut_notices(reader.statistics(), stacks);
  if (has_old_intervals(reader)) {
    notices.emplace_back(
        "an older version worked out its waits, and lets threads run on that have ended: convert "
        "the capture again");
  }
  return notices;
}

}  // namespace stackpack::query
