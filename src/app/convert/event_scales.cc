#include "app/convert/event_scales.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/weight_scale.h"

namespace stackpack::app {

namespace {

constexpr double kMostSum = 9.0e18;  // below 2^63
constexpr std::string_view kPlainUnit = "count";

// The event that a row belongs to, and its digits.
core::ScaledUnit event_of(const Event& row) {
  return row.has_weight ? core::parse_unit(row.name) : core::ScaledUnit{row.name, 0};
}

}  // namespace

// The most digits of rows with samples, as far as there is room for the sum.
void EventScales::choose_decimals(const std::vector<Event>& rows) {
  std::vector<double> sums(joined_.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const unsigned decimals = event_of(rows[row]).decimals;
    Joined& event = joined_[places_[row].event];
    event.decimals = std::max(event.decimals, sums_[row] != 0 ? decimals : 0);
    sums[places_[row].event] += sums_[row] / std::pow(10.0, decimals);
  }
  for (std::size_t i = 0; i < joined_.size(); ++i) {
    while (joined_[i].decimals > 0 && sums[i] * std::pow(10.0, joined_[i].decimals) > kMostSum) {
      --joined_[i].decimals;
    }
  }
}

void EventScales::settle(std::vector<Event>& events) {
  const auto is_scaled = [](const Event& row) { return event_of(row).decimals != 0; };
  if (std::none_of(events.begin(), events.end(), is_scaled)) {
    return;
  }
  for (const Event& row : events) {
    const std::string_view name = event_of(row).unit;
    const bool joins = std::any_of(events.begin(), events.end(), [&](const Event& other) {
      return is_scaled(other) && event_of(other).unit == name && row.has_weight;
    });
    const auto known = std::find_if(joined_.begin(), joined_.end(), [&](const Joined& other) {
      return joins && other.has_weight && other.name == name;
    });
    places_.push_back({static_cast<std::uint32_t>(known - joined_.begin()), 0, 0});
    if (known == joined_.end()) {
      joined_.push_back({std::string(name), row.has_weight, 0});
    }
  }
  choose_decimals(events);
  for (std::size_t row = 0; row < events.size(); ++row) {
    const unsigned own = event_of(events[row]).decimals;
    const unsigned most = joined_[places_[row].event].decimals;
    places_[row].up = most > own ? most - own : 0;
    places_[row].down = own > most ? own - most : 0;
  }
  events.clear();
  for (const Joined& event : joined_) {
    events.push_back({event.name, event.has_weight});
  }
}

void EventScales::apply(Sample& sample) {
  const Place& place = places_[sample.event];
  sample.event = place.event;
  if (place.down != 0) {
    const std::uint64_t unit = core::power_of_ten(place.down);
    rounded_ += static_cast<std::uint64_t>(sample.weight % unit != 0);
    sample.weight = sample.weight / unit + (sample.weight % unit >= unit - unit / 2 ? 1 : 0);
  } else {
    sample.weight = core::shifted(sample.weight, place.up);
  }
}

void EventScales::mark_units(std::vector<MetadataEntry>& metadata) const {
  for (const Joined& event : joined_) {
    if (event.decimals == 0) {
      continue;
    }
    const std::string key = std::string(core::kUnitKey) + event.name;
    auto found = std::lower_bound(
        metadata.begin(), metadata.end(), key,
        [](const MetadataEntry& entry, const std::string& wanted) { return entry.key < wanted; });
    if (found == metadata.end() || found->key != key) {
      found = metadata.insert(found, {key, std::string(kPlainUnit)});
    }
    found->value = core::scaled_unit(core::parse_unit(found->value).unit, event.decimals);
  }
}

}  // namespace stackpack::app
