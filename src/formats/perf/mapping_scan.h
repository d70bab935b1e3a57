#pragma once

#include "capture/read_control.h"
#include "capture/system_tables.h"
#include "formats/perf/perf_input.h"
#include "stackpack/result.h"

namespace stackpack::perf {

/// Reads a whole capture for its processes and mappings alone: what must be known of all of it
/// before the first dump is unwound. The sources must be seekable.
/// Errors: as read_capture(). Damage is not counted: the reading after this one counts it.
Result<capture::SystemTables> scan_mappings(Input& input, const capture::ReadControl& control);

}  // namespace stackpack::perf
