#pragma once

#include <string>

#include "formats/perf/attr.h"

namespace stackpack::perf {

/// The name which the perf tool gives to an event that nobody named: cpu-clock, cycles:u,
/// L1-dcache-load-misses, r1a8. A tracepoint has its number alone: tracepoint:314.
std::string derive_event_name(const Attr& attr);

}  // namespace stackpack::perf
