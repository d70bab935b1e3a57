#pragma once

#include "capture/system_recorder.h"
#include "formats/etl/etl_source.h"

namespace stackpack::app {

/// Keeps the totals of a trace as metadata, so that they can be compared with other readers of the
/// same trace: keys "etl.total.NAME", and "etl.event.KIND" for the number of events by kind.
void keep_trace_totals(const etl::TraceSummary& summary, capture::SystemRecorder& system);

}  // namespace stackpack::app
