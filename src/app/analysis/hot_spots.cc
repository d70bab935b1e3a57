#include "app/analysis/hot_spots.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "app/analysis/callstack_rows.h"
#include "app/analysis/sample_counting.h"
#include "core/index_table.h"
#include "core/saturating.h"
#include "core/sort_rows.h"
#include "core/weight_scale.h"
#include "query/function_pattern.h"
#include "query/selection/latency_samples.h"

namespace stackpack::app {

namespace {

using query::Group;
using query::GroupBy;

// The name that threads of one pool share: worker-1 and worker-40 are worker-<N>, as the key
// comm_nodigit of perf report has it.
std::string pool_of(std::string_view name) {
  std::string pool;
  while (!name.empty()) {
    const std::size_t digit = name.find_first_of("0123456789");
    pool += name.substr(0, digit);
    if (digit == std::string_view::npos) {
      break;
    }
    pool += "<N>";
    const std::size_t after = name.find_first_not_of("0123456789", digit);
    name.remove_prefix(std::min(after, name.size()));
  }
  return pool;
}

bool by_frames(HotSpotKind by) {
  return by == HotSpotKind::kFunction || by == HotSpotKind::kModule ||
         by == HotSpotKind::kPackage || by == HotSpotKind::kLine || by == HotSpotKind::kFile ||
         by == HotSpotKind::kUnlinedAddress || by == HotSpotKind::kCodeAddress;
}

GroupBy group_by(HotSpotKind by) {
  GroupBy keys;
  keys.context = by_frames(by) || by == HotSpotKind::kCallstack;
  keys.event = by == HotSpotKind::kEvent;
  keys.track = by == HotSpotKind::kProcess || by == HotSpotKind::kThread ||
               by == HotSpotKind::kComm || by == HotSpotKind::kPool || by == HotSpotKind::kSource;
  keys.stack = !keys.event && !keys.track;
  return keys;
}

// The row of a group that is not counted by its frames.
std::string title_of(const SampleCounting& counting, HotSpotKind by, const Group& group) {
  const query::SampleSelection& selection = counting.selection();
  if (group_by(by).track) {
    const query::Track& track = selection.tracks()[group.key.track];
    if (const auto title = query::clock_title(track.pid, track.tid); !title.empty()) {
      return std::string(title);
    }
  }
  switch (by) {
    case HotSpotKind::kEvent:
      return selection.choice().name_of(group.key.event);
    case HotSpotKind::kProcess: {
      const query::Track& track = selection.tracks()[group.key.track];
      return id_text(selection.process_name(track), track.pid);
    }
    case HotSpotKind::kSource:
      return counting.source_title(selection.tracks()[group.key.track].pid);
    case HotSpotKind::kComm: {
      const std::string_view name = selection.thread_name(selection.tracks()[group.key.track]);
      return name.empty() ? "[no name]" : std::string(name);
    }
    case HotSpotKind::kPool: {
      const std::string_view name = selection.thread_name(selection.tracks()[group.key.track]);
      return name.empty() ? "[no name]" : pool_of(name);
    }
    case HotSpotKind::kThread: {
      const query::Track& track = selection.tracks()[group.key.track];
      return id_text(selection.thread_name(track), track.tid);
    }
    case HotSpotKind::kField:
    case HotSpotKind::kType:
      return std::string(counting.type_title(group));
    case HotSpotKind::kControlGroup:
      return counting.control_group_title(group);
    case HotSpotKind::kWaker:
    case HotSpotKind::kReason: {
      const std::string_view label = counting.wait_label(group.key.stack);
      return label.empty() ? "[no wait]" : std::string(label);
    }
    default:
      return std::string(counting.wait_label(group.key.stack));
  }
}

// The parts of both, each once.
void add_parts(std::vector<std::string>& parts, const std::vector<std::string>& more) {
  for (const std::string& part : more) {
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) {
      parts.push_back(part);
    }
  }
}

std::uint64_t hash_of(const HotSpot& row) {
  const std::hash<std::string_view> hash;
  return core::mix_bits(hash(row.name) +
                        core::mix_bits(hash(row.module) + core::mix_bits(hash(row.place))));
}

bool is_same(const HotSpot& a, const HotSpot& b) {
  return a.name == b.name && a.module == b.module && a.place == b.place;
}

// Rows with the same names become one, where the first of them is.
void join_equal(std::vector<HotSpot>& rows) {
  core::IndexTable known;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t at = known.find_or_insert(
        hash_of(rows[i]), static_cast<std::uint32_t>(kept),
        [&](std::uint32_t other) { return is_same(rows[other], rows[i]); },
        [&](std::uint32_t other) { return hash_of(rows[other]); });
    if (at != kept) {
      core::add_saturating(rows[at].self, rows[i].self);
      core::add_saturating(rows[at].total, rows[i].total);
    } else if (kept++ != i) {
      rows[at] = std::move(rows[i]);
    }
  }
  rows.resize(kept);
}

// Time on the clock that is of no code, whatever rows are.
bool is_no_code(const SampleCounting& counting, const HotSpotQuery& query, const Group& group) {
  const std::vector<std::string>& events = query.filters.filter.events;
  return events.size() == 1 && events.front() == query::kLatencyEvent && by_frames(query.by) &&
         !counting.wait_label(group.key.stack).empty();
}

using TitledValues = std::unordered_map<std::string, std::uint64_t>;

// Values become rows one by one: there may be a row for each of very many threads.
void take_titled(TitledValues& values, std::vector<HotSpot>& rows) {
  rows.reserve(rows.size() + values.size());
  while (!values.empty()) {
    auto titled = values.extract(values.begin());
    rows.push_back({std::move(titled.key()), "", "", titled.mapped(), titled.mapped()});
  }
}

}  // namespace

namespace {

// Gives values as many digits behind the point.
void scale_to(unsigned decimals, HotSpots& spots) {
  const auto [unit, own] = core::parse_unit(spots.unit);
  if (own >= decimals) {
    return;
  }
  spots.value = core::shifted(spots.value, decimals - own);
  for (HotSpot& row : spots.rows) {
    row.self = core::shifted(row.self, decimals - own);
    row.total = core::shifted(row.total, decimals - own);
  }
  spots.unit = core::scaled_unit(std::string(unit), decimals);
}

}  // namespace

void HotSpots::add(HotSpots other) {
  const bool first = samples == 0;
  const unsigned most =
      std::max(core::parse_unit(unit).decimals, core::parse_unit(other.unit).decimals);
  scale_to(first ? 0 : most, *this);
  scale_to(first ? 0 : most, other);
  event = first || event == other.event ? other.event : event;
  unit = first ? other.unit : unit;
  add_parts(parts, other.parts);
  events_left_out = events_left_out.empty() ? other.events_left_out : events_left_out;
  idle.samples += other.idle.samples;
  idle.value += other.idle.value;
  idle.whole += other.idle.whole;
  idle.pools = idle.pools || other.idle.pools;
  notices.insert(notices.end(), other.notices.begin(), other.notices.end());
  samples += other.samples;
  rows_left_out += other.rows_left_out;
  core::add_saturating(value, other.value);
  if (rows.empty()) {
    rows = std::move(other.rows);
  } else {
    rows.insert(rows.end(), std::move_iterator(other.rows.begin()),
                std::move_iterator(other.rows.end()));
  }
  join_equal(rows);
}

Result<HotSpots> hot_spots(const Reader& reader, const HotSpotQuery& query) {
  const auto counting = SampleCounting::open(reader, query);
  if (!counting) {
    return counting.error();
  }
  HotSpots result;
  EntitySums sums;
  TitledValues titled;
  CallstackRows callstacks;
  Status counted;
  do {
    counted = (*counting)->each_group(
        group_by(query.by), [&](const Group& group, std::span<const std::uint32_t> stack) {
          const std::uint64_t value = (*counting)->value_of(group);
          result.samples += group.count;
          core::add_saturating(result.value, value);
          if (query.by == HotSpotKind::kCallstack) {
            callstacks.add(stack, (*counting)->entities().all(), value, group.key.stack);
            return;
          }
          if (!by_frames(query.by) || is_no_code(**counting, query, group)) {
            std::uint64_t& sum = titled[title_of(**counting, query.by, group)];
            core::add_saturating(sum, value);
            return;
          }
          sums.begin_stack();
          if (!stack.empty()) {
            sums.add_self(stack.front(), value);
          }
          for (const std::uint32_t entity : stack) {
            sums.add_total(entity, value);
          }
        });
  } while (counted && result.samples == 0 && (*counting)->choose_next_event());
  if (!counted) {
    return counted.error();
  }
  (*counting)->describe(result);
  sums.list(result.rows,
            [&](std::uint32_t entity) { return spot_of((*counting)->entities().all()[entity]); });
  take_titled(titled, result.rows);
  result.rows_left_out = callstacks.list(query.most_callstacks, result.rows);
  if (result.samples == 0 && result.idle.samples == 0) {
    return Error(kNothingSelected);
  }
  return result;
}

Status keep_functions(std::vector<HotSpot>& rows, const std::string& function) {
  if (function.empty()) {
    return {};
  }
  const auto pattern = query::FunctionPattern::parse(function);
  if (!pattern) {
    return pattern.error();
  }
  std::vector<query::FunctionPattern::Fit> fits;
  fits.reserve(rows.size());
  for (const HotSpot& row : rows) {
    fits.push_back(pattern->fit(row.name, row.module, row.aliases));
  }
  const std::vector<bool> best = query::best_fits(fits);
  std::vector<HotSpot> kept;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (best[i]) {
      kept.push_back(std::move(rows[i]));
    }
  }
  rows = std::move(kept);
  return {};
}

void sort_hot_spots(std::vector<HotSpot>& rows, bool by_self) {
  core::sort_rows(rows, [by_self](const HotSpot& a, const HotSpot& b) {
    const auto key = [by_self](const HotSpot& row) {
      const unsigned rank = query::clock_rank(row.name);
      return by_self ? std::tuple(rank, ~row.self, ~row.total)
                     : std::tuple(rank, ~row.total, ~row.self);
    };
    return std::tuple(key(a), std::tie(a.name, a.module, a.place)) <
           std::tuple(key(b), std::tie(b.name, b.module, b.place));
  });
}

}  // namespace stackpack::app
