#pragma once

#include "capture/source_format.h"

namespace stackpack::perf_script {

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::perf_script
