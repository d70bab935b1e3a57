#include "query/selection/cut_notices.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "capture/unwind_losses.h"
#include "capture/wait_rules.h"
#include "core/saturating.h"

namespace stackpack::query {

namespace {

// Counters of formats, of samples whose callstack is cut, besides those of unwinding: they are
// stored, so a name never changes.
constexpr std::string_view kCutCallstacks[] = {"deferred_chains_unmatched", "jfr_truncated_stacks",
                                               "stacks_cut_by_runtime"};

// Counters of values below zero: what a profile has that is the difference of two, and no damage.
constexpr std::string_view kNegativeValues[] = {"firefox_negative_weight", "otlp_negative_value",
                                                "pprof_negative_value",
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
std::uint64_t cut_callstacks(const Statistics& statistics) {
  std::uint64_t cut = 0;
  for (const LossCounter& loss : statistics.losses) {
    cut = is_cut_callstack(loss.name) ? core::saturating_sum(cut, loss.count) : cut;
  }
  return std::min(std::max(cut, statistics.samples.stack_dump_only), statistics.samples.total);
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

std::vector<std::string> cut_notices(const Statistics& statistics) {
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
  if (const std::uint64_t cut = cut_callstacks(statistics); cut != 0) {
    const std::uint64_t total = statistics.samples.total;
    notices.push_back("the callstacks of " + share_of(cut, total) +
                      " of the samples do not reach their root (" + std::to_string(cut) + " of " +
                      std::to_string(total) + ")");
  }
  if (has_sampled_switches(statistics)) {
    notices.emplace_back(
        "switches of threads were sampled, not all recorded, so that most of the threads' time is "
        "unknown");
  }
  return notices;
}

std::vector<std::string> cut_notices(const Reader& reader) {
  std::vector<std::string> notices = cut_notices(reader.statistics());
  if (has_old_intervals(reader)) {
    notices.emplace_back(
        "an older version worked out its waits, and lets threads run on that have ended: convert "
        "the capture again");
  }
  return notices;
}

}  // namespace stackpack::query
