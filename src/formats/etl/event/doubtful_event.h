#pragma once

#include "formats/etl/event/event_header.h"
#include "formats/etl/event/event_kinds.h"

namespace stackpack::etl {

/// Bytes of a profile event's payload, besides the instruction pointer.
inline constexpr std::size_t kProfileBytes = 8;

/// Whether a kernel event of a kind that takes no samples is most likely one that does, or a stack,
/// whose kind is damaged: nobody knows such a kind, and yet it has the payload of a profile event;
/// or it has that of a stack event, whose kinds are all known.
bool is_doubtful(const EventView& event, EventRole role);

}  // namespace stackpack::etl
