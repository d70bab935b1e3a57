// Which event a report is about when it is about one: the same rule for every command.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "query/event_traits.h"
#include "stackpack/filter.h"
#include "stackpack/model.h"
#include "stackpack/stats.h"

namespace stackpack::query {

/// Events that count the same thing, which a report takes for one.
struct EventGroup {
  EventTraits traits;
  std::string key;                    ///< the same in other files
  std::string name;                   ///< of its event; of several what they count
  std::vector<std::uint32_t> events;  ///< rows of the event table, most samples first
  std::uint64_t samples = 0;
  bool is_default = false;  ///< the file says that it is shown first
  bool has_weight = false;  ///< of all of them: weights of samples are recorded periods

  [[nodiscard]] bool has(std::uint32_t event) const;
};

/// What a file says of its events.
struct EventFacts {
  std::span<const Event> events;
  /// Samples of each; empty: nobody counted, and each may have some.
  std::span<const std::uint64_t> samples;
  /// EventTraits::same_as of which events of one capture are there. They counted side by side on
  /// the same processors, so that each of them is an event of its own: together they would count
  /// everything twice.
  std::set<std::string> kept_apart;
  /// The event that the file itself says to show first; empty: it does not say.
  std::string_view default_event;
};

/// Groups of the events for which `wanted` is true, the preferred one first: that of the default
/// event, then by kind, then most samples, then the order of the table. Groups without samples come
/// last.
std::vector<EventGroup> event_groups(const EventFacts& facts, const std::vector<bool>& wanted);

/// The groups of several files as one list in the same order: groups of one key are one. `events`
/// of the result are empty.
std::vector<EventGroup> joint_groups(std::span<const std::vector<EventGroup>> files);

/// What a report of the first group does not show: the others, as far as they have samples.
std::vector<EventCount> groups_left_out(std::span<const EventGroup> groups);

// What the figures of a report count.

struct Measure {
  bool weighted = false;         ///< the recorded weights of samples; else samples
  std::string unit = "samples";  ///< of a figure; `bytes*10^-2`: it is a hundred times as large

  friend bool operator==(const Measure&, const Measure&) = default;
};

/// What figures of one group count, where `recorded_unit` is the unit of its weights that the
/// capture states, or empty. Without a word it is what the event measures: its weights where they
/// were recorded, samples where not.
Measure measure_of(const EventGroup& group, CountBy wanted, bool aggregated,
                   std::string_view recorded_unit);

}  // namespace stackpack::query
