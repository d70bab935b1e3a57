#pragma once

#include "formats/etl/event/event_header.h"
#include "formats/etl/event/event_kinds.h"

namespace stackpack::etl {

/// Bytes of a profile event's payload, besides the instruction pointer.
inline constexpr std::size_t kProfileBytes = 8;

/// What is to be thought of a kernel event of a kind that takes no samples: its kind may be
/// damaged, and a sample or a stack lost.
enum class Doubt : std::uint8_t {
  kNone,
  kSure,         ///< nobody knows such a kind of stack event
  kLikeProfile,  ///< nobody knows such a kind, and its payload is as long as that of a profile
                 ///< event
  kLikeStack,    ///< its payload begins like that of a stack event, and of other kinds, too
};

Doubt doubt_of(const EventView& event, EventRole role);

/// Which event the payload of a stack event names.
struct NamedEventPlace {
  std::uint64_t clock = 0;
  std::uint32_t tid = kNoId;
};

/// Of an event of Doubt::kLikeStack.
NamedEventPlace event_named_by(const EventView& event);

/// The thread that an event of Doubt::kLikeProfile was sampled in, if it was; kNoId when the rest
/// of its payload is not that of a profile event.
std::uint32_t thread_sampled_by(const EventView& event);

}  // namespace stackpack::etl
