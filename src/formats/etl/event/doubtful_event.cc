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

bool is_doubtful(const EventView& event, EventRole role) {
  if (event.group == kGroupStackWalk) {
    return role == EventRole::kIgnored ||
           (role == EventRole::kStackDefinition && begins_like_stack(event));
  }
  if (event.tid != kNoId || (role != EventRole::kPlain && role != EventRole::kHardwareConfig)) {
    return false;  // headers of other families, or a kind that is read
  }
  if (event.payload.size() == std::size_t{event.pointer_size} + kProfileBytes &&
      !is_known_kernel_event(event.group, event.type)) {
    return true;
  }
  return event.group != kGroupPerfInfo && begins_like_stack(event);
}

}  // namespace stackpack::etl
