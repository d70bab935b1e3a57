#include "query/selection/event_choice.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "core/weight_scale.h"
#include "query/event_traits.h"
#include "query/name_pattern.h"
#include "stackpack/sample_cursor.h"

namespace stackpack::query {

namespace {

Error bad_choice(std::string_view what) {
  return {ErrorCode::kUsage, kNoOffset, what};
}

// Finds the events of which one capture has several that count the same thing, on the same
// processors as far as is known.
class SideBySide {
 public:
  SideBySide(const CaptureView& view, bool processors_apart) : view_(view) {
    for (std::uint32_t event = 0; event < view.events.size(); ++event) {
      EventTraits traits = traits_of(view.events[event].name);
      same_as_.push_back(std::move(traits.same_as));
      processors_.push_back(processors_apart ? "" : std::move(traits.processors));
      if (view.samples_of_event(event) != 0) {
        rows_[same_as_.back()].push_back(event);
      }
    }
    std::erase_if(rows_, [this](const auto& entry) { return !any_collides(entry.second); });
  }

  Result<std::set<std::string>> find() {
    if (view_.source_firsts.empty()) {
      for (const auto& [same_as, rows] : rows_) {
        apart_.insert(same_as);
      }
    } else if (!rows_.empty()) {
      const Status read = view_.has_samples ? read_samples() : read_counts();
      if (!read) {
        return read.error();
      }
    }
    return std::move(apart_);
  }

 private:
  Status read_samples() {
    SampleScan scan;
    scan.query.any_order = true;
    scan.columns = kPidColumn | kEventColumn;
    return view_.columns(scan, [this](const SampleColumns& samples) {
      for (std::size_t i = 0; i < samples.rows; ++i) {
        see(samples.pid[i], samples.event[i]);
      }
      return apart_.size() < rows_.size();
    });
  }

  Status read_counts() {
    for (const StackCount& row : view_.stack_counts) {
      see(row.pid, row.event);
    }
    return {};
  }

  using Seen = std::map<std::string_view, std::uint32_t>;  // an event by its processors

  // Whether the event counts what another one has counted that was seen.
  [[nodiscard]] bool collides(std::uint32_t event, Seen& seen) const {
    const auto [known, fresh] = seen.try_emplace(processors_[event], event);
    return (!fresh && known->second != event) || (seen.size() > 1 && seen.contains(""));
  }

  [[nodiscard]] bool any_collides(const std::vector<std::uint32_t>& events) const {
    Seen seen;
    return std::any_of(events.begin(), events.end(),
                       [&](std::uint32_t event) { return collides(event, seen); });
  }

  void see(std::uint32_t pid, std::uint32_t event) {
    if (event >= same_as_.size() || !rows_.contains(same_as_[event])) {
      return;
    }
    const auto after = std::upper_bound(view_.source_firsts.begin(), view_.source_firsts.end(),
                                        std::uint64_t{pid});
    const auto source = static_cast<std::size_t>(after - view_.source_firsts.begin());
    if (collides(event, seen_[{source, same_as_[event]}])) {
      apart_.insert(same_as_[event]);
    }
  }

  const CaptureView& view_;
  std::vector<std::string> same_as_;     // by event
  std::vector<std::string> processors_;  // by event
  std::map<std::string, std::vector<std::uint32_t>> rows_;
  std::map<std::pair<std::size_t, std::string>, Seen> seen_;  // by source and same_as_
  std::set<std::string> apart_;
};

// What events count whose weights have different digits behind the point: they do not add up.
std::set<std::string> of_mixed_scales(const CaptureView& view) {
  std::set<std::string> mixed;
  std::map<std::string, unsigned> decimals;
  for (std::uint32_t event = 0; event < view.events.size(); ++event) {
    const std::string& name = view.events[event].name;
    const std::string_view unit = view.fact(std::string(kUnitKey) + name);
    if (view.samples_of_event(event) != 0) {
      const std::string same_as = traits_of(name).same_as;
      const unsigned own = core::parse_unit(unit).decimals;
      if (decimals.try_emplace(same_as, own).first->second != own) {
        mixed.insert(same_as);
      }
    }
  }
  return mixed;
}

// Marks the events that fit a pattern by their names, or by what they count. False: none does.
bool mark(const CaptureView& view, const std::string& pattern, bool by_name,
          std::vector<bool>& marked) {
  bool any = false;
  for (std::size_t event = 0; event < marked.size(); ++event) {
    const std::string& name = view.events[event].name;
    if (fits_pattern(by_name ? name : traits_of(name).same_as, pattern)) {
      marked[event] = true;
      any = true;
    }
  }
  return any;
}

Result<std::vector<bool>> events_named(const CaptureView& view,
                                       const std::vector<std::string>& patterns) {
  std::vector<bool> named(view.events.size(), patterns.empty());
  for (const std::string& pattern : patterns) {
    if (!mark(view, pattern, true, named) && !mark(view, pattern, false, named)) {
      return bad_choice("the file has no event of this name; dump --events lists them");
    }
  }
  return named;
}

}  // namespace

bool shows_one_event(const CaptureView& view, const ExportOptions& options) {
  if (options.all_events || !options.filter.events.empty()) {
    return false;
  }
  switch (options.format) {
    case ExportFormat::kFolded:
    case ExportFormat::kCpuprofile:
      return true;
    case ExportFormat::kPprof:
      return !view.aggregated();
    case ExportFormat::kSpeedscope:
      return options.speedscope.aggregate || view.aggregated();
    case ExportFormat::kFirefox:
    case ExportFormat::kOtlp:
    case ExportFormat::kPerfetto:
    case ExportFormat::kCsv:
    case ExportFormat::kHtml:
      break;
  }
  return false;
}

Result<std::vector<EventGroup>> wanted_groups(const CaptureView& view, const SampleFilter& filter,
                                              bool processors_apart) {
  auto wanted = events_named(view, filter.events);
  if (!wanted) {
    return wanted.error();
  }
  for (std::size_t event = 0; event < view.events.size(); ++event) {
    if (fits_any(view.events[event].name, filter.excluded_events)) {
      (*wanted)[event] = false;
    }
  }
  if (!view.events.empty() && std::find(wanted->begin(), wanted->end(), true) == wanted->end()) {
    return bad_choice("every event of the file is excluded");
  }
  auto apart = SideBySide(view, processors_apart).find();
  if (!apart) {
    return apart.error();
  }
  apart->merge(of_mixed_scales(view));
  return event_groups(
      {view.events, view.event_samples, std::move(*apart), view.fact(kDefaultEventKey)}, *wanted);
}

Result<EventChoice> EventChoice::create(const CaptureView& view, const ExportOptions& options,
                                        const SelectionRules& rules) {
  auto groups = wanted_groups(view, options.filter, rules.processors_apart);
  if (!groups) {
    return groups.error();
  }
  EventChoice choice;
  choice.groups_ = std::move(*groups);
  if (!rules.event_key.empty()) {
    std::erase_if(choice.groups_,
                  [&rules](const EventGroup& group) { return group.key != rules.event_key; });
  }
  choice.group_of_.resize(view.events.size(), static_cast<std::uint32_t>(choice.groups_.size()));
  choice.joined_.resize(view.events.size());
  std::iota(choice.joined_.begin(), choice.joined_.end(), 0U);
  choice.wanted_.resize(view.events.size());
  choice.weighted_.resize(view.events.size());
  for (std::uint32_t group = 0; group < choice.groups_.size(); ++group) {
    const std::vector<std::uint32_t>& events = choice.groups_[group].events;
    for (const std::uint32_t event : events) {
      choice.group_of_[event] = group;
      choice.joined_[event] = *std::min_element(events.begin(), events.end());
      choice.wanted_[event] = true;
    }
  }
  choice.chooses_ = shows_one_event(view, options) && choice.groups_.size() > 1;
  if (choice.chooses_) {
    choice.want_chosen();
  }
  const Status measured = choice.choose_measures(view, options);
  return measured ? Result<EventChoice>(std::move(choice)) : measured.error();
}

// Where all wanted groups go into one sum they count the same: weights of one unit, or samples.
Status EventChoice::choose_measures(const CaptureView& view, const ExportOptions& options) {
  const bool aggregated = view.aggregated();
  for (const EventGroup& group : groups_) {
    const std::string_view unit =
        view.fact(std::string(kUnitKey) + view.events[group.events.front()].name);
    measures_.push_back(query::measure_of(group, options.count, aggregated, unit));
    weight_units_.push_back(query::measure_of(group, CountBy::kWeight, aggregated, unit).unit);
  }
  measures_.emplace_back();
  weight_units_.emplace_back();
  const auto has_samples = [this](std::size_t group) { return groups_[group].samples != 0; };
  const bool one_sum = !chooses_ && (options.format == ExportFormat::kFolded ||
                                     options.format == ExportFormat::kCpuprofile);
  bool same = true;
  std::size_t first = groups_.size();
  for (std::size_t group = 0; one_sum && group < groups_.size(); ++group) {
    if (has_samples(group)) {
      first = std::min(first, group);
      same = same && measures_[group] == measures_[first];
    }
  }
  if (!same && options.count != CountBy::kSamples &&
      (aggregated || options.count == CountBy::kWeight)) {
    return bad_choice("weights of several events do not add up; choose an event");
  }
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    measures_[group] = same ? measures_[group] : Measure{};
    for (const std::uint32_t event : groups_[group].events) {
      weighted_[event] = measures_[group].weighted;
    }
  }
  return {};
}

// The number of its group, or that of none.
std::size_t EventChoice::group_of(std::uint32_t event) const {
  return event < group_of_.size() ? group_of_[event] : groups_.size();
}

const std::string& EventChoice::name_of(std::uint32_t event) const {
  static const std::string none;
  return group_of(event) < groups_.size() ? groups_[group_of(event)].name : none;
}

const std::string& EventChoice::key_of(std::uint32_t event) const {
  static const std::string none;
  return group_of(event) < groups_.size() ? groups_[group_of(event)].key : none;
}

const Measure& EventChoice::measure_of(std::uint32_t event) const {
  return measures_[group_of(event)];
}

const std::string& EventChoice::weight_unit(std::uint32_t event) const {
  return weight_units_[group_of(event)];
}

void EventChoice::want_chosen() {
  wanted_.assign(wanted_.size(), false);
  for (const std::uint32_t event : groups_[chosen_].events) {
    wanted_[event] = true;
  }
}

bool EventChoice::choose_next() {
  if (!chooses_ || chosen_ + 1 == groups_.size()) {
    return false;
  }
  ++chosen_;
  want_chosen();
  return true;
}

bool EventChoice::any_weighted() const {
  for (std::size_t event = 0; event < wanted_.size(); ++event) {
    if (wanted_[event] && weighted_[event]) {
      return true;
    }
  }
  return false;
}

std::vector<EventCount> EventChoice::left_out() const {
  std::vector<EventCount> others;
  for (std::size_t group = 0; chooses_ && group < groups_.size(); ++group) {
    if (group != chosen_ && groups_[group].samples != 0) {
      others.push_back({groups_[group].name, groups_[group].samples});
    }
  }
  return others;
}

}  // namespace stackpack::query
