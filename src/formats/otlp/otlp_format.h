#pragma once

#include "capture/source_format.h"

namespace stackpack::otlp {

/// This format, for the registry of all.
extern const capture::SourceFormat source_format;

}  // namespace stackpack::otlp
