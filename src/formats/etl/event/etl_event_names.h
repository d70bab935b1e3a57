#pragma once

#include <cstdint>
#include <string>

namespace stackpack::etl {

/// The name of a group of kernel events ("PerfInfo"), or its number when it has none.
std::string group_name(std::uint8_t group);

/// The name of a kernel event as the tools around ETW spell it ("PerfInfo/SampledProfile"), or
/// group and number ("Pool/99") when it has none.
std::string kernel_event_name(std::uint8_t group, std::uint8_t type);

/// Whether kernel_event_name() knows the event by name.
bool is_known_kernel_event(std::uint8_t group, std::uint8_t type);

}  // namespace stackpack::etl
