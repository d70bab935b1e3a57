#include "app/merge/table_union.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "capture/source_identity.h"
#include "capture/synthetic_frames.h"
#include "capture/time_resolution.h"
#include "capture/wait_rules.h"
#include "core/sort_rows.h"
#include "core/weight_scale.h"

namespace stackpack::app {

namespace {

constexpr std::string_view kFact = "otlp.";
constexpr std::string_view kSource = "source.";

// The row of a source and what is said of it; nothing: the key is no such one.
struct SourceKey {
  std::size_t row = 0;
  std::string_view fact;
};
std::optional<SourceKey> source_key(std::string_view key) {
  if (!key.starts_with(kSource)) {
    return std::nullopt;
  }
  const std::string_view rest = key.substr(kSource.size());
  SourceKey found;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), found.row);
  const auto digits = static_cast<std::size_t>(end - rest.data());
  if (error != std::errc() || digits == 0 || !rest.substr(digits).starts_with('.')) {
    return std::nullopt;
  }
  found.fact = rest.substr(digits + 1);
  return found.fact.starts_with(kFact) ? std::optional(found) : std::nullopt;
}

constexpr std::string_view kAggregated = "samples.aggregated";

// What has no meaning once addresses and times are others, or is worked out anew.
bool is_of_one_capture(std::string_view key) {
  return key.starts_with("clock.") || key.starts_with("kernel.reference") ||
         key.starts_with("guest_kernel.") || key == kAggregated || key == capture::kIdentityKey ||
         key == capture::kTimeResolutionKey || key == capture::kWaitRulesKey ||
         key == capture::SyntheticFrames::kMetadataKey || key.starts_with(core::kUnitKey);
}

// Under which an event of an input is known; `NAME*10^-D` where its weights are scaled.
std::pair<std::string, bool> key_of(const Event& event, std::span<const MetadataEntry> metadata) {
  const std::string_view unit = value_of(metadata, std::string(core::kUnitKey) + event.name);
  const unsigned decimals = event.has_weight ? core::parse_unit(unit).decimals : 0;
  return {core::scaled_unit(event.name, decimals), event.has_weight};
}

std::uint64_t start_order(std::uint64_t start_ns) {
  return start_ns == kUnknownTime ? 0 : start_ns;
}

// By key, then start, each once: the first in the order of what else there is in a row.
template <typename Row, typename Key, typename Rest>
void put_in_order(std::vector<Row>& rows, Key key, Rest rest) {
  const auto order = [&](const Row& row) {
    return std::tuple(key(row), start_order(row.start_ns));
  };
  core::sort_rows(rows, [&](const Row& a, const Row& b) {
    const auto x = order(a);
    const auto y = order(b);
    return x != y ? x < y : rest(a) < rest(b);
  });
  const auto same = [&](const Row& a, const Row& b) {
    return key(a) == key(b) && a.start_ns == b.start_ns;
  };
  rows.erase(std::unique(rows.begin(), rows.end(), same), rows.end());
}

}  // namespace

bool SourceMetadata::has(std::string_view key) {
  return key.starts_with(kFact) || source_key(key).has_value();
}

void SourceMetadata::add(std::span<const MergedSource> sources,
                         std::span<const MetadataEntry> metadata) {
  const auto take = [this](const MergedSource& source, std::string_view fact,
                           const std::string& value) {
    std::string& known = facts_[source.id][std::string(fact)];
    known = std::max(known, value);
  };
  for (const MetadataEntry& entry : metadata) {
    if (entry.key.starts_with(kFact)) {
      for (const MergedSource& source : sources) {
        take(source, entry.key, entry.value);
      }
    } else if (const auto key = source_key(entry.key); key && key->row < sources.size()) {
      take(sources[key->row], key->fact, entry.value);
    }
  }
}

SourceMetadata::Facts SourceMetadata::common(std::span<const MergedSource> sources) const {
  Facts same;
  for (std::size_t row = 0; row < sources.size(); ++row) {
    const auto found = facts_.find(sources[row].id);
    if (found == facts_.end()) {
      return {};
    }
    if (row == 0) {
      same = found->second;
    }
    std::erase_if(same, [&found](const auto& fact) {
      const auto other = found->second.find(fact.first);
      return other == found->second.end() || other->second != fact.second;
    });
  }
  return same;
}

void SourceMetadata::tell(std::span<const MergedSource> sources,
                          std::map<std::string, std::string>& metadata) const {
  const Facts same = common(sources);
  metadata.insert(same.begin(), same.end());
  for (std::size_t row = 0; row < sources.size(); ++row) {
    const auto found = facts_.find(sources[row].id);
    if (found == facts_.end()) {
      continue;
    }
    for (const auto& [key, value] : found->second) {
      if (!same.contains(key)) {
        metadata.emplace(std::string(kSource) + std::to_string(row) + '.' + key, value);
      }
    }
  }
}

Status TableUnion::add(std::span<const Event> events, std::span<const MetadataEntry> metadata,
                       std::span<const MergedSource> sources) {
  const bool aggregated = value_of(metadata, kAggregated) == "1";
  if (any_input_ && aggregated != aggregated_) {
    return Error{ErrorCode::kUnsupported, kNoOffset,
                 "an imported profile does not merge with a capture: its samples have no times"};
  }
  aggregated_ = aggregated;
  time_resolution_ns_ = std::max(time_resolution_ns_, capture::time_resolution_of(metadata));
  synthetic_ |= value_of(metadata, capture::SyntheticFrames::kMetadataKey) == "1";
  for (const Event& event : events) {
    events_.emplace(std::pair(event.name, event.has_weight), 0);
    events_.emplace(key_of(event, metadata), 0);
  }
  number_events();
  of_sources_.add(sources, metadata);
  for (const MetadataEntry& entry : metadata) {
    if (entry.key.starts_with(core::kUnitKey)) {
      const std::string_view own = core::parse_unit(entry.value).unit;
      std::string& unit = units_.try_emplace(entry.key, own).first->second;
      unit = unit == own ? unit : "";
    }
  }
  if (!any_input_) {
    for (const MetadataEntry& entry : metadata) {
      if (!is_of_one_capture(entry.key) && !SourceMetadata::has(entry.key)) {
        common_.emplace(entry.key, entry.value);
      }
    }
  }
  any_input_ = true;
  std::erase_if(common_, [metadata](const auto& entry) {
    return std::none_of(metadata.begin(), metadata.end(), [&entry](const MetadataEntry& given) {
      return given.key == entry.first && given.value == entry.second;
    });
  });
  return {};
}

void TableUnion::add_intervals(std::span<const MetadataEntry> metadata) {
  has_intervals_ = true;
  has_old_intervals_ |= value_of(metadata, capture::kWaitRulesKey) != capture::kWaitRules;
}

// Scaled ones last: they are taken for others, whose numbers stay.
void TableUnion::number_events() {
  std::uint32_t number = 0;
  for (const bool scaled : {false, true}) {
    for (auto& [event, place] : events_) {
      const bool is_scaled = event.second && core::parse_unit(event.first).decimals != 0;
      place = is_scaled == scaled ? number++ : place;
    }
  }
}

std::vector<Event> TableUnion::events() const {
  std::vector<Event> events(events_.size());
  for (const auto& [event, place] : events_) {
    events[place] = {event.first, event.second};
  }
  return events;
}

std::vector<std::uint32_t> TableUnion::numbers_of(std::span<const Event> events,
                                                  std::span<const MetadataEntry> metadata) const {
  std::vector<std::uint32_t> numbers;
  for (const Event& event : events) {
    const auto found = events_.find(key_of(event, metadata));
    numbers.push_back(found == events_.end() ? 0 : found->second);
  }
  return numbers;
}

Status TableUnion::add_lives(const Reader& reader, const SourceClock& clock,
                             InputProcesses& processes) {
  const auto process_rows = reader.processes();
  const auto thread_rows = reader.threads();
  if (!process_rows) {
    return process_rows.error();
  }
  if (!thread_rows) {
    return thread_rows.error();
  }
  for (Process row : *process_rows) {
    const auto process = processes.find(row.pid);
    if (!process) {
      return process.error();
    }
    if (!process->wanted) {
      continue;
    }
    if (row.parent_pid != kUnknownId) {
      const auto parent = processes.find(row.parent_pid);
      if (!parent) {
        return parent.error();
      }
      row.parent_pid = parent->wanted ? parent->number : kUnknownId;
    }
    row.pid = process->number;
    row.start_ns = clock.time(row.start_ns);
    row.end_ns = clock.time(row.end_ns);
    tables_.processes.push_back(std::move(row));
  }
  for (Thread row : *thread_rows) {
    const auto process = processes.find(row.pid);
    if (!process) {
      return process.error();
    }
    if (process->wanted) {
      row.pid = process->number;
      row.start_ns = clock.time(row.start_ns);
      row.end_ns = clock.time(row.end_ns);
      tables_.threads.push_back(std::move(row));
    }
  }
  return {};
}

Status TableUnion::add_mapping(Module module, const SourceClock& clock, InputProcesses& processes) {
  if (module.pid == kKernelPid) {
    return {};  // of all sources or none: it cannot be kept
  }
  const auto process = processes.find(module.pid);
  if (!process) {
    return process.error();
  }
  if (process->wanted) {
    module.pid = process->number;
    module.start_ns = clock.time(module.start_ns);
    module.end_ns = clock.time(module.end_ns);
    tables_.modules.push_back(std::move(module));
  }
  return {};
}

// A row for what had no pid, so that every sample has a process.
void TableUnion::add_unnamed(const PidNumbers::Final& numbers,
                             const std::vector<MergedSource>& sources) {
  std::uint32_t first = 1;
  for (std::size_t rank = 0; rank < sources.size(); ++rank) {
    const std::vector<std::uint32_t>& pids = numbers.sources[rank];
    first += static_cast<std::uint32_t>(pids.size());
    if (!pids.empty() && pids.back() == kUnknownId) {
      Process row;
      row.pid = first - 1;
      tables_.processes.push_back(std::move(row));
    }
  }
}

std::vector<MetadataEntry> TableUnion::metadata(const std::vector<MergedSource>& sources) const {
  std::map<std::string, std::string> rows = common_;
  of_sources_.tell(sources, rows);
  for (const auto& [key, unit] : units_) {
    if (!unit.empty()) {
      rows.emplace(key, unit);
    }
  }
  if (aggregated_) {
    rows.emplace(kAggregated, "1");
  }
  if (has_intervals_ && !has_old_intervals_) {
    rows.emplace(capture::kWaitRulesKey, capture::kWaitRules);
  }
  if (synthetic_) {
    rows.emplace(capture::SyntheticFrames::kMetadataKey, "1");
  }
  if (std::all_of(sources.begin(), sources.end(),
                  [](const MergedSource& source) { return source.wall_offset_ns.has_value(); })) {
    rows.emplace(kWallOffsetKey, "0");
  }
  std::vector<MetadataEntry> entries;
  entries.reserve(rows.size());
  for (auto& [key, value] : rows) {
    entries.push_back({key, value});
  }
  return entries;
}

capture::SystemTables TableUnion::finish(const PidNumbers::Final& numbers,
                                         std::vector<MergedSource> sources,
                                         const ImageTable& images) && {
  const auto pid_of = [&numbers](std::uint32_t number) {
    return number == kUnknownId ? kUnknownId : numbers.pids[number];
  };
  for (Process& row : tables_.processes) {
    row.pid = pid_of(row.pid);
    row.parent_pid = pid_of(row.parent_pid);
  }
  for (Thread& row : tables_.threads) {
    row.pid = pid_of(row.pid);
  }
  for (Module& row : tables_.modules) {
    row.pid = pid_of(row.pid);
  }
  add_unnamed(numbers, sources);
  put_in_order(
      tables_.processes, [](const Process& row) { return row.pid; },
      [](const Process& row) {
        return std::tie(row.end_ns, row.parent_pid, row.inherits_mappings, row.name,
                        row.command_line);
      });
  put_in_order(
      tables_.threads, [](const Thread& row) { return std::pair(row.pid, row.tid); },
      [](const Thread& row) { return std::tie(row.end_ns, row.name); });
  // Not each once: a base may be mapped twice at a time.
  core::sort_rows(tables_.modules, [](const Module& a, const Module& b) {
    const auto order = [](const Module& row) {
      return std::tuple(row.pid, row.base, start_order(row.start_ns), row.end_ns, row.size,
                        row.file_offset, std::string_view(row.path));
    };
    return order(a) < order(b);
  });
  for (Module& row : images.modules()) {
    tables_.modules.push_back(std::move(row));
  }
  for (std::size_t rank = 0; rank < sources.size(); ++rank) {
    sources[rank].pids = numbers.sources[rank];
  }
  tables_.metadata = metadata(sources);
  tables_.sources = std::move(sources);
  return std::move(tables_);
}

}  // namespace stackpack::app
