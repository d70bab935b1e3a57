// What the payloads of the runtime's events consist of. The runtime leaves that out of what it
// writes, as it does with their names (runtime_events.h).
#pragma once

#include <cstdint>
#include <optional>

#include "capture/payload_schema.h"
#include "formats/dotnet/runtime_events.h"

namespace stackpack::dotnet {

/// The fields of an event in a version; without one, in the newest version. Empty: the event is not
/// known, or has no payload.
capture::PayloadSchema event_fields(Provider provider, std::uint32_t id,
                                    std::optional<unsigned> version);

}  // namespace stackpack::dotnet
