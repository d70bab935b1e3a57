#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "app/diff/counted_side.h"
#include "app/diff/event_pairing.h"
#include "app/diff/figures_of_rows.h"
#include "app/diff/joint_callstacks.h"
#include "app/diff/renames.h"
#include "app/diff/row_sums.h"
#include "app/diff/row_table.h"
#include "app/diff/side_profile.h"
#include "core/guard.h"
#include "core/task_line.h"
#include "core/weight_scale.h"
#include "stackpack/diff.h"

namespace stackpack {

namespace {

using app::ProfileQuery;
using app::RowTable;
using app::SideProfile;
using app::SideSums;

using Files = std::span<const Reader* const>;

// Fewer stretches of time than this say nothing of scatter.
constexpr std::size_t kEnoughBlocks = 4;

Error usage(std::string_view what) {
  return {ErrorCode::kUsage, kNoOffset, what};
}

// Does `work(side)` for both sides, side by side.
Status for_both(const std::function<Status(std::size_t side)>& work) {
  core::TaskLine::Task second;
  core::TaskLine line(1, [&](unsigned, core::TaskLine::Task&) { return work(1); });
  line.submit(second);
  const Status first = core::guarded([&] { return work(0); });
  const Status other = line.collect(second, core::TaskLine::IfNotBegun::kRunHere);
  return first ? other : first;
}

/// Both sides of one event, read and paired.
struct Sides {
  std::array<SideProfile, 2> profiles;
  app::Renames renames;
  RowTable rows;
  std::array<std::vector<bool>, 2> inside;

  [[nodiscard]] bool any() const { return profiles[0].samples != 0 && profiles[1].samples != 0; }
};

Result<Sides> read_both(Files before, Files after, const ProfileQuery& query) {
  Sides sides;
  const Status read = for_both([&](std::size_t side) -> Status {
    const std::size_t first = side == 0 ? 0 : before.size();
    ProfileQuery own = query;
    if (!own.options.work_of_files.empty()) {
      const auto work = own.options.work_of_files.begin() + static_cast<std::ptrdiff_t>(first);
      const std::size_t count = side == 0 ? before.size() : after.size();
      own.work.assign(work, work + static_cast<std::ptrdiff_t>(count));
    }
    auto profile = app::read_side(side == 0 ? before : after, own);
    if (!profile) {
      return side == 0 ? profile.error() : app::in_after(profile.error(), before);
    }
    sides.profiles[side] = std::move(*profile);
    return {};
  });
  if (!read) {
    return read.error();
  }
  sides.renames = app::Renames::find(sides.profiles, query.options);
  auto inside = app::nodes_inside(sides.profiles, query.options, sides.renames);
  if (!inside) {
    return inside.error();
  }
  sides.inside = std::move(*inside);
  auto rows = app::pair_rows(sides.profiles, query.options.by, sides.renames);
  if (!rows) {
    return rows.error();
  }
  sides.rows = std::move(*rows);
  return sides;
}

// Share of the samples whose row is on this side alone.
double unpaired_of(const SideSums& sums, const SideSums& other, DiffUnit unit) {
  double count = 0;
  for (std::size_t row = 0; row < sums.self.size(); ++row) {
    count +=
        other.self[row] <= 0 && (other.total.empty() || other.total[row] <= 0) ? sums.self[row] : 0;
  }
  if (unit == DiffUnit::kRun) {
    return sums.count > 0 ? count / sums.count : 0;
  }
  return sums.size > 0 ? count / sums.size * sums.per_size : 0;
}

DiffSide side_of(const SideProfile& profile, const SideSums& sums, DiffUnit unit) {
  DiffSide side;
  side.runs = profile.runs;
  side.runs_left_out = profile.runs_left_out;
  side.idle = profile.idle;
  side.samples = profile.samples;
  side.seconds = profile.seconds;
  side.value = (unit == DiffUnit::kRun ? sums.count : sums.size / sums.per_size) / sums.scale;
  side.work = unit == DiffUnit::kRun ? sums.work : 0;
  return side;
}

// So much that the costs of both sides are small parts of it: counts are those of Poisson then.
double size_of_work(const std::array<SideProfile, 2>& sides) {
  constexpr double kRoom = 1e4;
  double most = 0;
  for (const SideProfile& side : sides) {
    double value = 0;
    double work = 0;
    for (const app::ProfileUnit& unit : side.units) {
      value += unit.value;
      work += unit.work;
    }
    most = work > 0 ? std::max(most, value / work) : most;
  }
  return most > 0 ? kRoom * most : 1;
}

void note_cost(EventDiff& event, const Sides& sides, const DiffOptions& options) {
  event.work = !options.work.empty() ? options.work : options.runs_by.empty() ? "run" : "iteration";
  event.doubts = app::doubts_of(sides.profiles[0].facts, sides.profiles[1].facts,
                                event.measure == "ns" || event.measure == "samples");
  const std::size_t left_out = event.old_side.runs_left_out + event.new_side.runs_left_out;
  if (left_out != 0) {
    event.doubts.push_back(
        fmt::format("runs without selected samples of the event ({})", left_out));
  }
}

// Figures of sides whose sums are known.
Result<EventDiff> compare_sums(const Sides& sides, const std::array<SideSums, 2>& sums,
                               const DiffOptions& options, EventDiff event) {
  if (sums[0].size <= 0 || sums[1].size <= 0) {
    return usage(options.unit == DiffUnit::kTime
                     ? "the files have no times to compare by"
                     : "no sample of a side lies in what is to be the whole");
  }
  event.renames = sides.renames.list();
  event.old_side = side_of(sides.profiles[0], sums[0], event.unit);
  event.new_side = side_of(sides.profiles[1], sums[1], event.unit);
  event.old_side.unpaired = unpaired_of(sums[0], sums[1], event.unit);
  event.new_side.unpaired = unpaired_of(sums[1], sums[0], event.unit);
  if (event.unit == DiffUnit::kRun) {
    note_cost(event, sides, options);
  }
  const Status filled = app::fill_rows(event, sides.rows, sums[0], sums[1], options);
  return filled ? Result<EventDiff>(std::move(event)) : filled.error();
}

bool has_one_run_a_side(const Sides& sides) {
  return sides.profiles[0].runs == 1 && sides.profiles[1].runs == 1;
}

Result<EventDiff> compare_event(Sides& sides, const ProfileQuery& query,
                                const app::PairedEvent& compared) {
  EventDiff event;
  event.event = compared.name;
  event.unit = compared.unit;
  event.measure = compared.measure;
  std::array<SideSums, 2> sums;
  const Status summed = for_both([&](std::size_t side) -> Status {
    const auto& nodes = side == 0 ? sides.rows.old_rows : sides.rows.new_rows;
    sums[side] = app::sum_rows(sides.profiles[side], nodes, sides.rows.size(),
                               {query.options, sides.inside[side], size_of_work(sides.profiles)});
    return {};
  });
  if (!summed) {
    return summed.error();
  }
  if (has_one_run_a_side(sides)) {
    event.blocks = std::min(sums[0].filled_units, sums[1].filled_units);
    event.scatter = event.blocks >= kEnoughBlocks ? DiffScatter::kBlocks : DiffScatter::kAssumed;
  }
  return compare_sums(sides, sums, query.options, std::move(event));
}

Status check_work(const DiffOptions& options, std::size_t files) {
  const bool any =
      !options.work.empty() || !options.work_of_files.empty() || !options.runs_by.empty();
  if (any && options.unit != DiffUnit::kRun) {
    return usage("units of work go with costs for each of them: --per run");
  }
  const bool all = options.work_of_files.empty() || options.work_of_files.size() == files;
  const bool positive = std::all_of(options.work_of_files.begin(), options.work_of_files.end(),
                                    [](double work) { return std::isfinite(work) && work > 0; });
  return all && positive ? Status{} : usage("each file has an amount of work above 0");
}

Status check_rates(const DiffOptions& options) {
  if (!(options.rate > 0 && options.rate < 1)) {
    return usage("the rate of mistakes lies between 0 and 1");
  }
  if (!(options.run_variation >= 0 && options.run_variation < 1)) {
    return usage("the variation from run to run lies between 0 and 1");
  }
  return {};
}

Status check(Files before, Files after, const DiffOptions& options) {
  if (before.empty() || after.empty()) {
    return usage("a comparison needs files on both sides");
  }
  const Status rates = check_rates(options);
  return !rates ? rates : check_work(options, before.size() + after.size());
}

Result<ProfileQuery> query_of(Files before, Files after, const DiffOptions& options) {
  ProfileQuery query;
  query.options = options;
  query.iterations_are_runs = before.size() == 1 && after.size() == 1;
  if (query.iterations_are_runs && options.runs_by.empty()) {
    const Result<std::size_t> blocks = app::block_count(*before.front(), *after.front());
    if (!blocks) {
      return blocks.error();
    }
    query.blocks = *blocks;
  }
  return query;
}

Result<DiffReport> compare(Files before, Files after, const DiffOptions& options) {
  const auto events = app::pair_events(before, after, options);
  if (!events) {
    return events.error();
  }
  DiffReport report;
  report.by = options.by;
  report.unit = options.unit;
  report.events_left_out = events->one_sided;
  const bool one = !options.all_events && options.filter.events.empty();
  auto planned = query_of(before, after, options);
  if (!planned) {
    return planned.error();
  }
  ProfileQuery query = std::move(*planned);
  for (const app::PairedEvent& compared : events->common) {
    if (one && !report.events.empty()) {
      report.events_left_out.push_back(compared.name);
      continue;
    }
    query.event_key = compared.key;
    query.options.unit = compared.unit;
    query.weighted = compared.weighted;
    query.weight_decimals = compared.weight_decimals;
    auto sides = read_both(before, after, query);
    if (!sides) {
      return sides.error();
    }
    if (!sides->any()) {
      report.events_left_out.push_back(compared.name);
      continue;
    }
    auto event = compare_event(*sides, query, compared);
    if (!event) {
      return event.error();
    }
    report.unit = report.events.empty() ? event->unit : report.unit;
    report.events.push_back(std::move(*event));
  }
  if (report.events.empty()) {
    return usage("no event has selected samples on both sides");
  }
  return report;
}

// Sums of totals stand where a side of callstacks has them.
Result<EventDiff> compare_counted(const std::array<std::span<const CountedRun>, 2>& runs,
                                  std::span<const CountedFunction> functions, EventDiff event,
                                  const DiffOptions& options) {
  Sides sides;
  std::array<SideProfile, 2> totals;
  for (std::size_t side = 0; side < 2; ++side) {
    auto self = app::counted_side(runs[side], functions, app::CountedSum::kSelf);
    auto total = app::counted_side(runs[side], functions, app::CountedSum::kTotal);
    if (!self || !total) {
      return !self ? self.error() : total.error();
    }
    sides.profiles[side] = std::move(*self);
    totals[side] = std::move(*total);
  }
  if (!sides.any()) {
    return usage("no run of a side has samples");
  }
  sides.renames = app::Renames::find(sides.profiles, options);
  auto rows = app::pair_rows(sides.profiles, options.by, sides.renames);
  if (!rows) {
    return rows.error();
  }
  sides.rows = std::move(*rows);
  std::array<SideSums, 2> sums;
  for (std::size_t side = 0; side < 2; ++side) {
    const auto& nodes = side == 0 ? sides.rows.old_rows : sides.rows.new_rows;
    const app::RowQuery query{options, {}, 1};
    sums[side] = app::sum_rows(sides.profiles[side], nodes, sides.rows.size(), query);
    SideSums through = app::sum_rows(totals[side], nodes, sides.rows.size(), query);
    sums[side].total = std::move(through.self);
    for (std::size_t unit = 0; unit < sums[side].units.size(); ++unit) {
      sums[side].units[unit].total = std::move(through.units[unit].self);
    }
  }
  event.scatter = has_one_run_a_side(sides) ? DiffScatter::kAssumed : DiffScatter::kRuns;
  return compare_sums(sides, sums, options, std::move(event));
}

app::JointCallstacks joined(Sides&& sides, const app::PairedEvent& event) {
  app::JointCallstacks joint;
  joint.event = event.name;
  joint.unit =
      core::scaled_unit(event.weighted ? event.measure : "samples", sides.profiles[0].decimals);
  joint.values.resize(sides.rows.size());
  for (std::size_t side = 0; side < 2; ++side) {
    const auto& nodes = side == 0 ? sides.rows.old_rows : sides.rows.new_rows;
    joint.runs[side] = sides.profiles[side].runs;
    joint.samples[side] = sides.profiles[side].samples;
    joint.idle[side] = sides.profiles[side].idle;
    for (const app::ProfileUnit& unit : sides.profiles[side].units) {
      for (std::size_t i = 0; i < unit.nodes.size(); ++i) {
        if (sides.inside[side].empty() || sides.inside[side][unit.nodes[i]]) {
          joint.values[nodes[unit.nodes[i]]][side] += unit.values[i];
        }
      }
    }
  }
  joint.rows = std::move(sides.rows);
  joint.rows.old_rows = {};
  joint.rows.new_rows = {};
  return joint;
}

std::string folded_text(const app::JointCallstacks& joint) {
  std::vector<std::string> lines;
  const unsigned decimals = core::parse_unit(joint.unit).decimals;
  for (std::uint32_t row = 0; row < joint.values.size(); ++row) {
    const auto [before, after] = joint.values[row];
    if (before != 0 || after != 0) {
      std::string path = joint.rows.path_text(row);
      std::replace(path.begin(), path.end(), '\n', ' ');
      lines.push_back(fmt::format("{} {} {}\n", path, core::decimal_text(before, decimals),
                                  core::decimal_text(after, decimals)));
    }
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) {
    text += line;
  }
  return text;
}

}  // namespace

Result<DiffReport> compare_profiles(std::span<const Reader* const> before,
                                    std::span<const Reader* const> after,
                                    const DiffOptions& options) {
  return core::guarded([&]() -> Result<DiffReport> {
    const Status checked = check(before, after, options);
    return checked ? compare(before, after, options) : Result<DiffReport>(checked.error());
  });
}

Result<EventDiff> compare_counts(std::span<const CountedRun> before,
                                 std::span<const CountedRun> after,
                                 std::span<const CountedFunction> functions,
                                 const CountedEvent& event, const DiffOptions& options) {
  return core::guarded([&]() -> Result<EventDiff> {
    if (const Status checked = check_rates(options); !checked) {
      return checked.error();
    }
    if (event.unit != DiffUnit::kSamples && event.unit != DiffUnit::kWeight) {
      return usage("sums are compared by samples or by weights");
    }
    DiffOptions own;
    own.unit = event.unit;
    own.rate = options.rate;
    own.run_variation = options.run_variation;
    own.accept_single_run = options.accept_single_run;
    own.renames = options.renames;
    EventDiff result;
    result.event = event.name;
    result.unit = event.unit;
    result.measure = event.measure;
    return compare_counted({before, after}, functions, std::move(result), own);
  });
}

Result<std::string> folded_differences(std::span<const Reader* const> before,
                                       std::span<const Reader* const> after,
                                       const DiffOptions& options) {
  return core::guarded([&]() -> Result<std::string> {
    const auto joint = app::joint_callstacks(before, after, options);
    return joint ? folded_text(*joint) : Result<std::string>(joint.error());
  });
}

Result<app::JointCallstacks> app::joint_callstacks(std::span<const Reader* const> before,
                                                   std::span<const Reader* const> after,
                                                   const DiffOptions& options) {
  if (const Status checked = check(before, after, options); !checked) {
    return checked.error();
  }
  const auto events = app::pair_events(before, after, options);
  if (!events) {
    return events.error();
  }
  ProfileQuery query;
  query.options = options;
  query.options.by = DiffGrain::kCallstack;
  for (const app::PairedEvent& compared : events->common) {
    query.event_key = compared.key;
    query.options.unit = compared.unit;
    query.weighted = compared.weighted;
    query.weight_decimals = compared.weight_decimals;
    auto sides = read_both(before, after, query);
    if (!sides) {
      return sides.error();
    }
    if (sides->any()) {
      return joined(std::move(*sides), compared);
    }
  }
  return usage("no event has selected samples on both sides");
}

}  // namespace stackpack
