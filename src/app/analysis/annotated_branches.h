#pragma once

#include "app/analysis/annotation.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Adds to lines and instructions how often their branches were taken and mispredicted, of all
/// events and the whole capture: branches are sums, which no filter takes apart. Nothing in a file
/// without branches. Call it after add_code(). Errors: those of the reader.
Status add_branches(const Reader& reader, Annotation& annotation);

}  // namespace stackpack::app
