#include "app/diff/event_pairing.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include "app/diff/side_profile.h"
#include "core/weight_scale.h"
#include "query/event_groups.h"

namespace stackpack::app {

namespace {

using query::EventGroup;

/// The files of one side.
struct SideEvents {
  std::vector<std::vector<EventGroup>> groups;  // by file
  std::vector<ComparedEvents> files;
};

Result<SideEvents> events_of_side(std::span<const Reader* const> files,
                                  const DiffOptions& options) {
  SideEvents side;
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto events = compared_events(*files[i], options);
    if (!events) {
      Error error = events.error();
      error.part = static_cast<std::uint32_t>(i);
      return error;
    }
    side.groups.push_back(events->groups);
    side.files.push_back(std::move(*events));
  }
  return side;
}

bool has(const std::vector<EventGroup>& groups, const std::string& key) {
  return std::any_of(groups.begin(), groups.end(),
                     [&key](const EventGroup& group) { return group.key == key; });
}

// What the weights of a group are counted in, and the most digits behind the point; no unit where
// the files do not agree.
core::ScaledUnit unit_of_weights(const std::array<SideEvents, 2>& sides, const std::string& key) {
  std::vector<std::string_view> units;
  unsigned decimals = 0;
  for (const SideEvents& side : sides) {
    for (const ComparedEvents& file : side.files) {
      for (std::size_t i = 0; i < file.groups.size(); ++i) {
        if (file.groups[i].key == key && file.groups[i].samples != 0) {
          const core::ScaledUnit unit = core::parse_unit(file.units[i]);
          units.push_back(unit.unit);
          decimals = std::max(decimals, unit.decimals);
        }
      }
    }
  }
  const bool same =
      std::adjacent_find(units.begin(), units.end(), std::not_equal_to<>()) == units.end();
  return {same && !units.empty() ? units.front() : std::string_view(), decimals};
}

PairedEvent paired(const EventGroup& group, const std::array<SideEvents, 2>& sides,
                   const DiffOptions& options) {
  const bool aggregated = std::any_of(sides.begin(), sides.end(), [](const SideEvents& side) {
    return std::any_of(side.files.begin(), side.files.end(),
                       [](const ComparedEvents& file) { return file.aggregated; });
  });
  PairedEvent event{group.key, group.name, options.unit, "samples", false, 0};
  const auto [unit, decimals] = unit_of_weights(sides, group.key);
  event.weight_decimals = decimals;
  const bool measured = (group.has_weight || aggregated) && !unit.empty();
  if (options.unit == DiffUnit::kMeasure) {
    event.unit = measured ? DiffUnit::kWeight : DiffUnit::kSamples;
  }
  event.weighted = event.unit == DiffUnit::kWeight || (event.unit == DiffUnit::kRun && measured);
  if (event.weighted) {
    event.measure = unit.empty() ? "events" : std::string(unit);
  } else if (event.unit == DiffUnit::kTime) {
    event.measure = "seconds";
  }
  return event;
}

}  // namespace

Error in_after(Error error, std::span<const Reader* const> before) {
  if (error.part != kMainPart) {
    error.part += static_cast<std::uint32_t>(before.size());
  }
  return error;
}

Result<PairedEvents> pair_events(std::span<const Reader* const> before,
                                 std::span<const Reader* const> after, const DiffOptions& options) {
  std::array<SideEvents, 2> sides;
  std::array<std::vector<EventGroup>, 2> joint;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    auto events = events_of_side(side == 0 ? before : after, options);
    if (!events) {
      return side == 0 ? events.error() : in_after(events.error(), before);
    }
    sides[side] = std::move(*events);
    joint[side] = query::joint_groups(sides[side].groups);
  }
  PairedEvents result;
  for (const EventGroup& group : query::joint_groups(joint)) {
    if (has(joint[0], group.key) && has(joint[1], group.key)) {
      result.common.push_back(paired(group, sides, options));
    } else {
      result.one_sided.push_back(group.name);
    }
  }
  return result;
}

}  // namespace stackpack::app
