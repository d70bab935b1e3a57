#pragma once

#include "capture/system_recorder.h"
#include "formats/etl/trace_summary.h"

namespace stackpack::etl {

/// Keeps the totals of a trace as metadata, so that they can be compared with other readers of the
/// same trace: keys "etl.total.NAME", and "etl.event.KIND" for the number of events by kind.
void keep_trace_totals(const TraceSummary& summary, capture::SystemRecorder& system);

}  // namespace stackpack::etl
