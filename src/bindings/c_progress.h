#pragma once

#include "stackpack/c_api.h"
#include "stackpack/convert.h"

// The handle by which another thread watches a conversion or a merge.
struct stackpack_progress {  // NOLINT(readability-identifier-naming): a C name
  stackpack::ConvertProgress state;
};
