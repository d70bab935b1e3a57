#include "formats/etl/stacks/stack_events.h"

#include <span>

#include "bytes/byte_cursor.h"
#include "formats/etl/etl_losses.h"
#include "formats/etl/event/payload_pointer.h"

namespace stackpack::etl {

namespace {

// What stands before the frames or the key.
Fragment read_fragment(bytes::ByteCursor& in, const EventView& event, const EventPlace& place) {
  Fragment fragment;
  fragment.event_clock = in.read<std::uint64_t>();
  fragment.own_clock = event.clock;
  fragment.pid = in.read<std::uint32_t>();
  fragment.tid = in.read<std::uint32_t>();
  fragment.processor = place.processor;
  fragment.file_offset = place.file_offset;
  return fragment;
}

}  // namespace

Status StackEvents::take(const EventView& event, const EventPlace& place, EventRole role) {
  bytes::ByteCursor in(event.payload, place.file_offset);
  if (role == EventRole::kStackDefinition) {
    const std::uint64_t key = read_pointer(in, event.pointer_size);
    if (!in.ok()) {
      losses_.add(loss::kBadStackEvents, LossKind::kDamage, 1, place.file_offset);
      return {};
    }
    return join_.definition(key, frames_.read(in.rest(), event.pointer_size), place.file_offset);
  }
  const Fragment fragment = read_fragment(in, event, place);
  const std::uint64_t key =
      role == EventRole::kStackInline ? 0 : read_pointer(in, event.pointer_size);
  if (!in.ok()) {
    losses_.add(loss::kBadStackEvents, LossKind::kDamage, 1, place.file_offset);
    return {};
  }
  if (role != EventRole::kStackInline) {
    return join_.keyed_fragment(fragment, key, role == EventRole::kStackRefKernel);
  }
  const std::span<const std::uint64_t> frames = frames_.read(in.rest(), event.pointer_size);
  const bool kernel = !frames.empty() && is_kernel_address(frames.back(), event.pointer_size);
  return join_.inline_fragment(fragment, frames, kernel);
}

Status StackEvents::take_halves(const EventView& kernel, const EventView& user,
                                const EventPlace& place, bool& taken) {
  taken = false;
  if (!has_frames(user) || is_kernel_address(last_frame(user), 8)) {
    return {};
  }
  bytes::ByteCursor in(kernel.payload, place.file_offset);
  bytes::ByteCursor user_in(user.payload, place.file_offset);
  const auto event_clock = in.read<std::uint64_t>();
  const auto owner = in.read<std::uint64_t>();  // process and thread
  if (user_in.read<std::uint64_t>() != event_clock || user_in.read<std::uint64_t>() != owner) {
    return {};
  }
  constexpr std::size_t kFrame = sizeof(std::uint64_t);
  const std::span<const std::byte> kernel_frames = in.read_bytes(in.remaining() / kFrame * kFrame);
  const std::span<const std::byte> user_frames =
      user_in.read_bytes(user_in.remaining() / kFrame * kFrame);
  if (is_kernel_address(bytes::ByteCursor(user_frames, 0).read<std::uint64_t>(), 8)) {
    return {};  // it is both halves
  }
  const Fragment fragment{event_clock,
                          user.clock,
                          static_cast<std::uint32_t>(owner),
                          static_cast<std::uint32_t>(owner >> 32),
                          place.processor,
                          place.file_offset};
  return join_.both_halves(fragment, kernel_frames, user_frames, taken);
}

}  // namespace stackpack::etl
