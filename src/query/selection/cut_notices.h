// What a report of a capture does not show, since the capture does not have it.
#pragma once

#include <string>
#include <vector>

#include "stackpack/reader.h"

namespace stackpack::query {

/// A line each: that the capture is truncated or damaged, that samples were lost while it was
/// recorded, what share of callstacks does not reach its root, that its intervals are those of an
/// older program, and that switches were sampled. None of a sound capture.
std::vector<std::string> cut_notices(const Reader& reader);
/// The same of a file whose intervals are not old.
std::vector<std::string> cut_notices(const Statistics& statistics);

}  // namespace stackpack::query
