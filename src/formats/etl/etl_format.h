#pragma once

#include "capture/source_format.h"

namespace stackpack::etl {

/// This format, for the registry of all.
extern const capture::SourceFormat kFormat;

}  // namespace stackpack::etl
