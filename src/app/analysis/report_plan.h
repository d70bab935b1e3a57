// What several files are counted by in one report.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/analysis/hot_spot_query.h"
#include "query/event_groups.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// The query with what `by` asks of waits; of `blocked` where it asks for that and names no event.
HotSpotQuery with_wait_event(HotSpotQuery query);

/// What a file offers to a report of several.
struct FileEvents {
  std::vector<query::EventGroup> groups;  ///< that the filters let through
  bool aggregated = false;
};
/// Errors: as hot_spots.
Result<FileEvents> events_of_file(const Reader& reader, const HotSpotQuery& query);

/// What several files are counted by so that their figures add up: one event, one measure.
struct ReportPlan {
  std::string event_key;  ///< empty: of all events
  std::string event;
  CountBy count = CountBy::kAuto;
  std::vector<EventCount> events_left_out;

  /// Whether a file has what the report is about.
  [[nodiscard]] bool takes(const FileEvents& file) const;
};
ReportPlan plan_report(std::span<const FileEvents> files, const HotSpotQuery& query);

}  // namespace stackpack::app
