#include "query/event_groups.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/sort_rows.h"
#include "core/weight_scale.h"

namespace stackpack::query {

namespace {

std::uint64_t samples_of(const EventFacts& facts, std::uint32_t event) {
  return facts.samples.empty() ? 1 : event < facts.samples.size() ? facts.samples[event] : 0;
}

void put_in_order(std::vector<EventGroup>& groups) {
  const auto place = [](const EventGroup& group) {
    return std::tuple(group.samples == 0, !group.is_default, group.traits.kind, ~group.samples);
  };
  core::sort_rows(
      groups, [&place](const EventGroup& a, const EventGroup& b) { return place(a) < place(b); });
}

// Groups, found by their keys.
class GroupList {
 public:
  EventGroup& at(const std::string& key, const EventTraits& traits) {
    const auto [known, fresh] = numbers_.try_emplace(key, groups_.size());
    if (fresh) {
      EventGroup& group = groups_.emplace_back();
      group.traits = traits;
      group.key = key;
      group.has_weight = true;
    }
    return groups_[known->second];
  }
  std::vector<EventGroup> take() {
    put_in_order(groups_);
    return std::move(groups_);
  }

 private:
  std::vector<EventGroup> groups_;
  std::map<std::string, std::size_t> numbers_;
};

// The spelling of an imported profile's units; those of scaled weights say so.
std::string short_unit(std::string_view unit, const EventGroup& group) {
  const auto [name, decimals] = core::parse_unit(unit);
  return core::scaled_unit(name == "nanoseconds" ? "ns"
                           : name == "count"     ? std::string_view(group.name)
                                                 : name,
                           decimals);
}

}  // namespace

bool EventGroup::has(std::uint32_t event) const {
  return std::find(events.begin(), events.end(), event) != events.end();
}

std::vector<EventGroup> event_groups(const EventFacts& facts, const std::vector<bool>& wanted) {
  GroupList list;
  for (std::uint32_t event = 0; event < facts.events.size(); ++event) {
    if (!wanted[event]) {
      continue;
    }
    const Event& row = facts.events[event];
    const EventTraits traits = traits_of(row.name);
    const std::uint64_t samples = samples_of(facts, event);
    // One without samples adds nothing, and must not give another one its name.
    const bool apart = facts.kept_apart.contains(traits.same_as) || samples == 0;
    EventGroup& group = list.at(apart ? '=' + row.name : traits.same_as, traits);
    group.name = group.events.empty() || group.name == row.name ? row.name : traits.same_as;
    group.events.push_back(event);
    group.samples += samples;
    group.is_default = group.is_default || row.name == facts.default_event;
    group.has_weight = group.has_weight && row.has_weight;
  }
  std::vector<EventGroup> groups = list.take();
  for (EventGroup& group : groups) {
    core::sort_rows(group.events, [&facts](std::uint32_t a, std::uint32_t b) {
      return samples_of(facts, a) > samples_of(facts, b);
    });
  }
  return groups;
}

std::vector<EventGroup> joint_groups(std::span<const std::vector<EventGroup>> files) {
  GroupList list;
  for (const std::vector<EventGroup>& file : files) {
    for (const EventGroup& group : file) {
      if (group.samples == 0) {
        continue;
      }
      EventGroup& joint = list.at(group.key, group.traits);
      joint.name =
          joint.samples == 0 || joint.name == group.name ? group.name : group.traits.same_as;
      joint.samples += group.samples;
      joint.is_default = joint.is_default || group.is_default;
      joint.has_weight = joint.has_weight && group.has_weight;
    }
  }
  return list.take();
}

std::vector<EventCount> groups_left_out(std::span<const EventGroup> groups) {
  std::vector<EventCount> others;
  for (std::size_t i = 1; i < groups.size(); ++i) {
    if (groups[i].samples != 0) {
      others.push_back({groups[i].name, groups[i].samples});
    }
  }
  return others;
}

Measure measure_of(const EventGroup& group, CountBy wanted, bool aggregated,
                   std::string_view recorded_unit) {
  Measure measure;
  measure.weighted =
      wanted == CountBy::kWeight || (wanted == CountBy::kAuto && (group.has_weight || aggregated));
  if (!measure.weighted) {
    return measure;
  }
  if (!recorded_unit.empty()) {
    measure.unit = short_unit(recorded_unit, group);
  } else if (!aggregated) {
    // Where no period was recorded each sample weighs 1.
    measure.unit = group.has_weight ? group.traits.unit : "samples";
  }
  return measure;
}

}  // namespace stackpack::query
