#pragma once

#include "app/symbolize/image_names.h"
#include "stackpack/names.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Gives functions that simpleperf recorded, by names as they are linked, those that people read.
/// As names of files they are made by a process of its own, since they are a stranger's; where it
/// fails they stay. Functions that have both already are left alone.
/// Errors: kResource: there can be no further process.
Status make_readable(Names& names, const NamingOptions& options);

}  // namespace stackpack::app
