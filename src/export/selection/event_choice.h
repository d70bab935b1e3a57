#pragma once

#include <cstdint>
#include <vector>

#include "export/selection/capture_view.h"
#include "stackpack/export.h"

namespace stackpack::exporting {

/// The rows of the event table in the order in which an export that shows one event takes them:
/// first those which sample where time goes (clocks, cycles), then other counts of work, then the
/// rest; within each in the order of the table. Events known to have no samples come last.
std::vector<std::uint32_t> events_by_preference(const CaptureView& view);

/// Whether an export of this form adds samples up, so that it should be about one event.
bool shows_one_event(const CaptureView& view, const ExportOptions& options);

}  // namespace stackpack::exporting
