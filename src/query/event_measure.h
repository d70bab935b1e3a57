// What the figures of a report count.
#pragma once

#include <string>
#include <string_view>

#include "query/event_groups.h"
#include "stackpack/filter.h"

namespace stackpack::query {

struct Measure {
  bool weighted = false;         ///< the recorded weights of samples; else samples
  std::string unit = "samples";  ///< of a figure

  friend bool operator==(const Measure&, const Measure&) = default;
};

/// What figures of one group count, where `recorded_unit` is the unit of its weights that the
/// capture states, or empty. Without a word it is what the event measures: its weights where they
/// were recorded, samples where not.
Measure measure_of(const EventGroup& group, CountBy wanted, bool aggregated,
                   std::string_view recorded_unit);

}  // namespace stackpack::query
