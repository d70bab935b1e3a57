#include "formats/etl/event/doubtful_event.h"

#include "bytes/byte_cursor.h"
#include "formats/etl/event/etl_event_names.h"

namespace stackpack::etl {

namespace {

constexpr std::size_t kStackBytes = 16;  // of a stack event, before its frames or its key
// Stack events come this many ticks after their events at most, as far as doubts are concerned.
constexpr std::uint64_t kSoon = std::uint64_t{1} << 24;

// Whether a payload begins like that of a stack event: with a clock that was a moment ago.
bool begins_like_stack(const EventView& event) {
  bytes::ByteCursor in(event.payload, 0);
  const auto clock = in.read<std::uint64_t>();
  return event.payload.size() >= kStackBytes + event.pointer_size && clock <= event.clock &&
         clock > event.clock / 2 && event.clock - clock < kSoon;
}

}  // namespace

Doubt doubt_of(const EventView& event, EventRole role) {
  if (event.group == kGroupStackWalk) {
    if (role == EventRole::kIgnored) {
      return Doubt::kSure;
    }
    return role == EventRole::kStackDefinition && begins_like_stack(event) ? Doubt::kLikeStack
                                                                           : Doubt::kNone;
  }
  if (event.tid != kNoId || (role != EventRole::kPlain && role != EventRole::kHardwareConfig)) {
    return Doubt::kNone;  // headers of other families, or a kind that is read
  }
  if (event.payload.size() == std::size_t{event.pointer_size} + kProfileBytes &&
      !is_known_kernel_event(event.group, event.type)) {
    return Doubt::kLikeProfile;
  }
  return begins_like_stack(event) ? Doubt::kLikeStack : Doubt::kNone;
}

NamedEventPlace event_named_by(const EventView& event) {
  bytes::ByteCursor in(event.payload, 0);
  NamedEventPlace named;
  named.clock = in.read<std::uint64_t>();
  in.skip(4);  // process
  named.tid = in.read<std::uint32_t>();
  return named;
}

std::uint32_t thread_sampled_by(const EventView& event) {
  bytes::ByteCursor in(event.payload, 0);
  in.skip(event.pointer_size);
  const auto tid = in.read<std::uint32_t>();
  const auto count = in.read<std::uint16_t>();
  in.skip(1);  // in which interrupt, priority
  const auto rank = in.read<std::uint8_t>();
  return in.ok() && (count == 1 || rank == 0) ? tid : kNoId;
}

}  // namespace stackpack::etl
