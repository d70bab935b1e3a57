#pragma once

#include <cstddef>
#include <cstdint>

#include "bytes/byte_cursor.h"
#include "capture/loss_counters.h"
#include "formats/etl/event/event_header.h"
#include "formats/etl/event/event_kinds.h"
#include "formats/etl/event/events_not_kept.h"
#include "formats/etl/stacks/frame_list.h"
#include "formats/etl/stacks/stack_join.h"
#include "stackpack/result.h"

namespace stackpack::etl {

/// The StackWalk events of a trace: reads what they say and hands it to the join.
class StackEvents {
 public:
  /// Both must outlive this. `pointer_size` is the file's.
  StackEvents(StackJoin& join, capture::LossCounters& losses, std::uint8_t pointer_size)
      : join_(join), losses_(losses), pointer_size_(pointer_size) {}

  /// An event whose role is one of kStackInline, kStackRefKernel, kStackRefUser, kStackDefinition.
  Status take(const EventView& event, const EventPlace& place, EventRole role);

  /// Whether an event may be the first of two for take_halves(): it carries frames of 64 bits, of
  /// which the last one is the kernel's.
  [[nodiscard]] bool may_be_kernel_half(const EventView& event) const {
    return has_frames(event) && is_kernel_address(last_frame(event), 8);
  }

  /// `kernel`, which may_be_kernel_half(), at `place`, and `user`, the event right after it on the
  /// same processor. Where they are the two halves of one event's callstack, both are `taken`, as
  /// they would be one after the other. Where not, nothing was done.
  Status take_halves(const EventView& kernel, const EventView& user, const EventPlace& place,
                     bool& taken);

 private:
  static constexpr std::uint8_t kInlineType = 32;
  static constexpr std::size_t kStackBytes = 16;  // before the frames

  [[nodiscard]] bool has_frames(const EventView& event) const {
    return event.group == kGroupStackWalk && event.type == kInlineType &&
           event.cls == EventClass::kKernel && event.pointer_size == 8 && pointer_size_ == 8 &&
           event.payload.size() >= kStackBytes + sizeof(std::uint64_t);
  }
  static std::uint64_t last_frame(const EventView& event) {
    bytes::ByteCursor in(event.payload, 0);
    in.seek((event.payload.size() - sizeof(std::uint64_t)) / sizeof(std::uint64_t) *
            sizeof(std::uint64_t));
    return in.read<std::uint64_t>();
  }

  StackJoin& join_;
  capture::LossCounters& losses_;
  std::uint8_t pointer_size_;
  FrameList frames_;
};

}  // namespace stackpack::etl
