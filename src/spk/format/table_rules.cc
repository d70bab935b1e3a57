#include "spk/format/table_rules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

constexpr std::size_t kPdbIdBytes = 20;  // GUID and age

Error broken(std::string_view rule) {
  return {ErrorCode::kCorrupt, kNoOffset, rule};
}

// Alive when the capture began: before everything with a known time.
std::uint64_t order_of(std::uint64_t start_ns) {
  return start_ns == kUnknownTime ? 0 : start_ns;
}

template <typename Row>
bool ends_before_start(const Row& row) {
  return row.start_ns != kUnknownTime && row.end_ns < row.start_ns;
}

// Whether no two neighbours stand in `relation`.
template <typename Row, typename Relation>
bool none_adjacent(std::span<const Row> rows, Relation relation) {
  return std::adjacent_find(rows.begin(), rows.end(), relation) == rows.end();
}

// Keys in ascending order, each once.
template <typename Row, typename Key>
bool ascending(std::span<const Row> rows, Key key) {
  return none_adjacent(rows, [&key](const Row& a, const Row& b) {
    return std::invoke(key, a) >= std::invoke(key, b);
  });
}

bool has_fitting_build_id(const Module& module) {
  switch (module.build_id_kind) {
    case BuildIdKind::kNone:
      return module.build_id.empty();
    case BuildIdKind::kPdb:
      return module.build_id.size() == kPdbIdBytes;
    case BuildIdKind::kGnu:
      break;
  }
  return true;
}

// Of a table of lives: what to say when it breaks a rule.
struct LifeRules {
  std::string_view order;
  std::string_view once;
  std::string_view time;
};

// By key, then start; key and start come once; no life ends before it begins.
template <typename Row, typename Key>
Status check_lives(std::span<const Row> rows, Key key, const LifeRules& rules) {
  const auto rank = [&key](const Row& row) { return std::tuple(key(row), order_of(row.start_ns)); };
  if (!none_adjacent(rows, [&](const Row& a, const Row& b) { return rank(a) > rank(b); })) {
    return broken(rules.order);
  }
  const auto same = [&key](const Row& a, const Row& b) {
    return key(a) == key(b) && a.start_ns == b.start_ns;
  };
  if (!rules.once.empty() && !none_adjacent(rows, same)) {
    return broken(rules.once);
  }
  return std::none_of(rows.begin(), rows.end(), ends_before_start<Row>)
             ? Status{}
             : Status{broken(rules.time)};
}

// Whether the parts are the whole; a sum past 2^64 is not.
bool adds_up(std::span<const std::uint64_t> parts, std::uint64_t whole) {
  for (const std::uint64_t part : parts) {
    if (part > whole) {
      return false;
    }
    whole -= part;
  }
  return whole == 0;
}

// Sections with their share of the directory.
std::uint64_t stored_bytes(const Directory& directory, std::span<const SectionKind> kinds) {
  std::uint64_t sum = 0;
  for (const SectionKind kind : kinds) {
    if (const SectionRecord* const section = directory.find(kind); section != nullptr) {
      sum +=
          section->stored_bytes + kSectionRecordBytes + section->blocks.size() * kBlockRecordBytes;
    }
  }
  return sum;
}

}  // namespace

Status check_processes(std::span<const Process> rows) {
  return check_lives(
      rows, [](const Process& row) { return row.pid; },
      {"spk: processes are not in order", "spk: two processes have the same id and start",
       "spk: a process ends before it starts"});
}

Status check_threads(std::span<const Thread> rows) {
  return check_lives(
      rows, [](const Thread& row) { return std::pair(row.pid, row.tid); },
      {"spk: threads are not in order", "spk: two threads have the same ids and start",
       "spk: a thread ends before it starts"});
}

// One base may be mapped twice at a time: the later row is the one that is found.
Status check_modules(std::span<const Module> rows) {
  if (const Status lives =
          check_lives(rows, [](const Module& row) { return std::pair(row.pid, row.base); },
                      {"spk: modules are not in order", "", "spk: a module ends before it starts"});
      !lives) {
    return lives;
  }
  return std::all_of(rows.begin(), rows.end(), has_fitting_build_id)
             ? Status{}
             : Status{broken("spk: a module's build id is not of its kind")};
}

Status check_metadata(std::span<const MetadataEntry> rows) {
  return ascending(rows, &MetadataEntry::key) ? Status{}
                                              : Status{broken("spk: metadata keys do not ascend")};
}

Status check_control_groups(std::span<const ControlGroup> rows) {
  std::set<std::pair<std::string_view, std::uint64_t>> seen;
  return std::all_of(
             rows.begin(), rows.end(),
             [&seen](const ControlGroup& row) { return seen.emplace(row.path, row.id).second; })
             ? Status{}
             : Status{broken("spk: a control group comes twice")};
}

Status take_module_files(std::span<const ModuleFile> rows, std::span<Module> modules) {
  if (!ascending(rows, &ModuleFile::module)) {
    return broken("spk: files of modules do not ascend");
  }
  for (const ModuleFile& row : rows) {
    if (row.module >= modules.size() || row.inode == 0 ||
        modules[row.module].build_id_kind != BuildIdKind::kNone) {
      return broken("spk: a file of a module that has none");
    }
    modules[row.module].file = {row.device_major, row.device_minor, row.inode, row.generation};
  }
  return {};
}

Status check_stack_counts(std::span<const StackCount> rows) {
  const auto key = [](const StackCount& row) {
    return std::tuple(row.stack, row.event, row.pid, row.origin);
  };
  if (!ascending(rows, key)) {
    return broken("spk: counts of callstacks do not ascend");
  }
  return std::none_of(rows.begin(), rows.end(),
                      [](const StackCount& row) { return row.samples == 0; })
             ? Status{}
             : Status{broken("spk: count of no samples")};
}

Status check_sources(std::span<const SourceRow> rows) {
  const Result<std::vector<MergedSource>> sources = sources_of(rows);
  return sources ? Status{} : Status{sources.error()};
}

Status check_wait_reasons(std::span<const std::string> reasons) {
  return reasons.size() <= kMaxWaitReasons ? Status{}
                                           : Status{broken("spk: too many reasons of waits")};
}

Status check_value_kinds(std::span<const ValueSchema> kinds) {
  const auto fits = [](const ValueSchema& kind) {
    return kind.name.size() <= kMaxValueNameBytes && kind.fields.size() <= kMaxValueFields &&
           std::all_of(kind.fields.begin(), kind.fields.end(), [](const ValueField& field) {
             return field.name.size() <= kMaxValueNameBytes;
           });
  };
  return kinds.size() <= kMaxValueKinds && std::all_of(kinds.begin(), kinds.end(), fits)
             ? Status{}
             : Status{broken("spk: too many or too large kinds of event values")};
}

Status check_value_texts(std::span<const std::string> texts) {
  return std::all_of(texts.begin(), texts.end(),
                     [](const std::string& text) { return text.size() <= kMaxNameBytes; })
             ? Status{}
             : Status{broken("spk: a text of event values is too long")};
}

Status check_summary(const Statistics& statistics) {
  if (!ascending(std::span(statistics.losses), &LossCounter::name)) {
    return broken("spk: names of losses do not ascend");
  }
  if (!ascending(std::span(statistics.source_skipped_by_reason), &SkippedBytesCount::reason)) {
    return broken("spk: reasons of skipped bytes do not ascend");
  }
  for (const std::size_t rows : {statistics.events.size(), statistics.losses.size(),
                                 statistics.source_skipped_by_reason.size()}) {
    if (rows > kMaxSummaryRows) {
      return broken("spk: too many events or losses");
    }
  }
  const std::array parts{statistics.source_parsed_bytes, statistics.source_padding_bytes,
                         statistics.source_skipped_bytes};
  const bool given = std::any_of(parts.begin(), parts.end(), [](auto part) { return part != 0; });
  if (given && !adds_up(parts, statistics.source_bytes)) {
    return broken("spk: parsed, padding and skipped bytes are not those of the capture");
  }
  std::vector<std::uint64_t> reasons;
  for (const SkippedBytesCount& skip : statistics.source_skipped_by_reason) {
    reasons.push_back(skip.bytes);
  }
  return reasons.empty() || adds_up(reasons, statistics.source_skipped_bytes)
             ? Status{}
             : broken("spk: skipped bytes do not add up");
}

Status check_stored_bytes(const Statistics& statistics, const Directory& directory) {
  constexpr std::array kDag{SectionKind::kFrames, SectionKind::kEdges, SectionKind::kPages,
                            SectionKind::kPageIndex};
  constexpr std::array kSamples{SectionKind::kSamples, SectionKind::kSampleIndex,
                                SectionKind::kStackCounts};
  return statistics.dag.stored_bytes == stored_bytes(directory, kDag) &&
                 statistics.sample_stream_bytes == stored_bytes(directory, kSamples)
             ? Status{}
             : broken("spk: statistics do not fit the sections");
}

}  // namespace stackpack::spk
