#include "query/event_measure.h"

namespace stackpack::query {

namespace {

// The spelling of an imported profile's units.
std::string short_unit(std::string_view unit, const EventGroup& group) {
  return unit == "nanoseconds" ? "ns" : unit == "count" ? group.name : std::string(unit);
}

}  // namespace

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
