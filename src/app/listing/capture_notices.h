// What a report says of a capture that is not whole.
#pragma once

#include "query/selection/cut_notices.h"
#include "stackpack/diff.h"
#include "stackpack/export.h"

namespace stackpack::app {

using query::cut_notices;

/// Of the samples that a comparison counts.
inline std::vector<std::string> cut_notices(const Reader& reader, const DiffOptions& options) {
  ExportOptions counted;
  counted.filter = options.filter;
  counted.all_events = options.all_events;
  return query::cut_notices(reader, counted, {.is_report = true, .event_key = {}});
}

}  // namespace stackpack::app
