#pragma once

#include "capture/source_format.h"

namespace stackpack::jfr {

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::jfr
