// What a report of a capture does not show, since the capture does not have it.
#pragma once

#include <string>
#include <vector>

#include "stackpack/stats.h"

namespace stackpack::query {

/// A line each: that the capture is truncated or damaged, that samples were lost while it was
/// recorded, and what share of callstacks does not reach its root. None of a sound capture.
std::vector<std::string> cut_notices(const Statistics& statistics);

}  // namespace stackpack::query
