#include "formats/etl/event/event_header.h"

#include <algorithm>
#include <array>

#include "bytes/byte_cursor.h"
#include "bytes/word_search.h"

namespace stackpack::etl {

namespace {

enum class Family : std::uint8_t {
  kUnknown,
  kOld,
  kSystem,
  kCompact,
  kFull,
  kInstance,
  kPerfInfo,
  kEventHeader
};

struct HeaderForm {
  Family family = Family::kUnknown;
  std::uint8_t header_bytes = 0;
  std::uint8_t pointer_size = 8;
};

constexpr HeaderForm form_of(std::size_t header_type) {
  switch (header_type) {
    case 0x01:
      return {Family::kSystem, 0x20, 4};
    case 0x02:
      return {Family::kSystem, 0x20, 8};
    case 0x03:
      return {Family::kCompact, 0x18, 4};
    case 0x04:
      return {Family::kCompact, 0x18, 8};
    case 0x0A:
      return {Family::kFull, 0x30, 4};
    case 0x14:
      return {Family::kFull, 0x30, 8};
    case 0x0B:
      return {Family::kInstance, 0x48, 4};
    case 0x15:
      return {Family::kInstance, 0x48, 8};
    case 0x10:
      return {Family::kPerfInfo, 0x10, 4};
    case 0x11:
      return {Family::kPerfInfo, 0x10, 8};
    case 0x12:
      return {Family::kEventHeader, 0x50, 4};
    case 0x13:
      return {Family::kEventHeader, 0x50, 8};
    case 0x0C:
    case 0x0D:
    case 0x0E:
      return {Family::kOld, 0, 8};
    default:
      return {};
  }
}

constexpr std::size_t kHeaderTypes = 256;

// By header type.
constexpr std::array<HeaderForm, kHeaderTypes> kForms = [] {
  std::array<HeaderForm, kHeaderTypes> forms{};
  for (std::size_t type = 0; type < kHeaderTypes; ++type) {
    forms[type] = form_of(type);
  }
  return forms;
}();

struct KernelClass {
  Guid guid;
  std::uint8_t group;
};

constexpr KernelClass kKernelClasses[] = {
    {make_guid(0x68fdd900, 0x4a3e, 0x11d1, 0x84f4, 0x0000f80464e3), kGroupEventTrace},
    {make_guid(0x3d6fa8d0, 0xfe05, 0x11d0, 0x9dda, 0x00c04fd7ba7c), kGroupProcess},
    {make_guid(0x3d6fa8d1, 0xfe05, 0x11d0, 0x9dda, 0x00c04fd7ba7c), kGroupThread},
    {make_guid(0xce1dbfb4, 0x137e, 0x4da6, 0x87b0, 0x3f59aa102cbc), kGroupPerfInfo},
    {make_guid(0x2cb15d1d, 0x5fc1, 0x11d2, 0xabe1, 0x00a0c911f518), kGroupImage},
    {make_guid(0xdef2fe46, 0x7bd6, 0x4b80, 0xbd94, 0xf57fe20d0ce3), kGroupStackWalk},
    {make_guid(0x01853a65, 0x418f, 0x4f36, 0xaefc, 0xdc0f1d2fd235), kGroupConfig},
};

// What the first eight bytes of an event say.
struct EventStart {
  WalkEnd refused = WalkEnd::kNotYet;  // why no event begins so
  HeaderForm form;
  bool by_group = false;
  std::size_t size = 0;
  std::size_t header_bytes = 0;
};

inline EventStart read_start(std::uint32_t marker, std::uint16_t size_at_4) {
  EventStart start;
  start.form = kForms[(marker >> 16) & 0xFF];
  const Family family = start.form.family;
  if ((marker & 0xC0000000) != 0xC0000000 || family == Family::kUnknown) {
    start.refused = WalkEnd::kBadMarker;
    return start;
  }
  if (family == Family::kOld) {
    start.refused = WalkEnd::kOldHeader;
    return start;
  }
  start.by_group =
      family == Family::kSystem || family == Family::kCompact || family == Family::kPerfInfo;
  start.size = start.by_group ? size_at_4 : marker & 0xFFFF;
  start.header_bytes = start.form.header_bytes;
  if (family == Family::kPerfInfo) {  // counters may stand between header and payload
    start.header_bytes += std::size_t{8} * ((marker >> 8) & 7) + ((marker & 0x8000) != 0 ? 8 : 0);
  }
  return start;
}

constexpr std::size_t round_up_8(std::size_t value) {
  return (value + 7) & ~std::size_t{7};
}

// SYSTEM, COMPACT and PERFINFO: identity by group and type. Field by field would take longer than
// all else here.
inline void read_kernel_header(bytes::ByteCursor in, Family family, EventView& event) {
  const auto first = in.read<std::uint64_t>();
  event.cls = EventClass::kKernel;
  event.version = static_cast<std::uint8_t>(first);
  event.type = static_cast<std::uint8_t>(first >> 48);
  event.group = static_cast<std::uint8_t>(first >> 56);
  if (family != Family::kPerfInfo) {
    event.tid = in.read<std::uint32_t>();
    event.pid = in.read<std::uint32_t>();
  } else {
    event.tid = kNoId;
    event.pid = kNoId;
  }
  event.clock = in.read<std::uint64_t>();
}

// FULL, INSTANCE and EVENT_HEADER: identity by GUID.
void read_guid_header(bytes::ByteCursor in, Family family, EventView& event) {
  in.seek(4);
  const auto type = in.read<std::uint8_t>();
  in.skip(1);
  const auto version = in.read<std::uint16_t>();
  event.tid = in.read<std::uint32_t>();
  event.pid = in.read<std::uint32_t>();
  event.clock = in.read<std::uint64_t>();
  event.guid = read_guid(in);
  if (family == Family::kEventHeader) {
    event.cls = EventClass::kProvider;
    event.id = in.read<std::uint16_t>();
    event.version = in.read<std::uint8_t>();
    in.skip(2);  // channel, level
    event.type = in.read<std::uint8_t>();
    return;
  }
  event.type = type;
  event.version = version;
  event.cls = EventClass::kClass;
  for (const KernelClass& kernel : kKernelClasses) {
    if (kernel.guid == event.guid) {
      event.cls = EventClass::kKernel;
      event.group = kernel.group;
    }
  }
}

// Bytes of the extended items at the front of `rest`, or false when one reaches past the event.
// Each item is aligned to eight bytes from the start of the event, as `rest` is.
bool measure_extended(std::span<const std::byte> rest, std::size_t& bytes) {
  bytes = 0;
  for (;;) {
    bytes::ByteCursor in(rest, 0);
    in.seek(bytes);
    const auto total = in.read<std::uint16_t>();
    in.skip(2);  // type
    const auto linkage = in.read<std::uint16_t>();
    const auto data = in.read<std::uint16_t>();
    if (!in.ok() || data > in.remaining()) {
      return false;
    }
    const std::size_t size = std::max<std::size_t>(total, std::size_t{8} + data);
    bytes = round_up_8(bytes + size);
    if ((linkage & 1) == 0) {
      bytes = std::min(bytes, rest.size());
      return true;
    }
    if (bytes > rest.size()) {
      return false;
    }
  }
}

// Whether events follow each other from `at` to the end of `bytes`.
bool events_fill(std::span<const std::byte> bytes, std::size_t at) {
  while (bytes.size() - at >= 8) {
    bytes::ByteCursor in(bytes.subspan(at), at);
    const auto marker = in.read<std::uint32_t>();
    const EventStart start = read_start(marker, in.read<std::uint16_t>());
    if (start.refused != WalkEnd::kNotYet || start.size < start.header_bytes ||
        start.size > bytes.size() - at) {
      return false;
    }
    at = std::min(at + round_up_8(start.size), bytes.size());
  }
  return at == bytes.size();
}

// Whether the payload of `event`, padding included, ends with whole events, as it does when its
// size has grown.
inline bool ends_with_events(std::span<const std::byte> event, std::size_t header_bytes) {
  constexpr std::uint32_t kMarkerBits = 0xFF000000;
  constexpr std::uint32_t kMarker = 0xC0000000;
  std::size_t at = std::min(round_up_8(header_bytes), event.size());
  if (bytes::has_no_word(event, at, kMarkerBits, kMarker)) [[likely]] {
    return false;
  }
  for (;;) {
    at = bytes::find_word(event, at, kMarkerBits, kMarker);
    if (at == event.size()) {
      return false;
    }
    if (events_fill(event, at)) {
      return true;
    }
    at += 8;
  }
}

// The header of an event, and where its payload is. `whole` lies at `position` of the buffer.
inline void read_event(std::span<const std::byte> whole, std::size_t position,
                       const EventStart& start, EventView& event) {
  const bytes::ByteCursor header(whole, position);
  const HeaderForm form = start.form;
  event.pointer_size = form.pointer_size;
  event.position = static_cast<std::uint32_t>(position);
  event.extended = {};
  if (start.by_group) {
    read_kernel_header(header, form.family, event);
  } else {
    read_guid_header(header, form.family, event);
  }
  event.payload = whole.subspan(start.header_bytes);
  event.payload_position = event.position + static_cast<std::uint32_t>(start.header_bytes);
}

// Takes the extended items off the front of the payload. False: they do not fit in it.
bool split_extended(EventView& event) {
  std::size_t bytes = 0;
  if (!measure_extended(event.payload, bytes)) {
    return false;
  }
  event.extended = event.payload.first(bytes);
  event.payload = event.payload.subspan(bytes);
  event.payload_position += static_cast<std::uint32_t>(bytes);
  return true;
}

}  // namespace

bool ExtendedItems::next(ExtendedItem& item) {
  if (rest_.empty()) {
    return false;
  }
  bytes::ByteCursor in(rest_, 0);
  const auto total = in.read<std::uint16_t>();
  item.type = in.read<std::uint16_t>();
  const auto linkage = in.read<std::uint16_t>();
  const auto data = in.read<std::uint16_t>();
  item.data = in.read_bytes(data);
  if (!in.ok()) {
    rest_ = {};
    return false;
  }
  const std::size_t size = round_up_8(std::max<std::size_t>(total, std::size_t{8} + data));
  rest_ = (linkage & 1) == 0 || size >= rest_.size() ? std::span<const std::byte>{}
                                                     : rest_.subspan(size);
  return true;
}

bool EventWalker::stop(WalkEnd why) {
  end_ = why;
  return false;
}

bool EventWalker::skip_message(std::uint32_t marker) {
  const std::size_t size = marker & 0xFFFF;
  if (size < 8 || size > events_.size() - position_) {
    return stop(WalkEnd::kBadSize);
  }
  ++messages_;
  message_bytes_ += size;
  position_ = std::min(position_ + round_up_8(size), events_.size());
  return true;
}

// Nearly all events: of the kernel's shortest header, and without counters. False: it is another
// one, or something is wrong with it.
inline bool EventWalker::next_short(EventView& event) {
  constexpr std::size_t kHeader = 0x10;
  constexpr std::uint64_t kFixedBits = 0xFFFE8700;  // all but version and pointer size
  constexpr std::uint64_t kShort = 0xC0100000;
  const std::span<const std::byte> rest = events_.subspan(position_);
  bytes::ByteCursor in(rest, position_);
  const auto first = in.read<std::uint64_t>();
  const auto clock = in.read<std::uint64_t>();
  const std::size_t size = (first >> 32) & 0xFFFF;
  if ((first & kFixedBits) != kShort || size < kHeader || size > rest.size() || !in.ok()) {
    return false;
  }
  const std::size_t padded = std::min(round_up_8(size), rest.size());
  if (ends_with_events(rest.first(padded), kHeader)) [[unlikely]] {
    ++overlong_;
  }
  event.clock = clock;
  event.tid = kNoId;
  event.pid = kNoId;
  event.cls = EventClass::kKernel;
  event.group = static_cast<std::uint8_t>(first >> 56);
  event.type = static_cast<std::uint8_t>(first >> 48);
  event.pointer_size = (first & 0x10000) != 0 ? 8 : 4;
  event.version = static_cast<std::uint8_t>(first);
  event.payload = rest.subspan(kHeader, size - kHeader);
  event.extended = {};
  event.position = static_cast<std::uint32_t>(position_);
  event.payload_position = static_cast<std::uint32_t>(position_ + kHeader);
  position_ += padded;
  return true;
}

bool EventWalker::next(EventView& event) {
  if (end_ == WalkEnd::kNotYet && next_short(event)) {
    return true;
  }
  for (;;) {
    if (end_ != WalkEnd::kNotYet) {
      return false;
    }
    if (events_.size() - position_ < 8) {
      return stop(WalkEnd::kClean);
    }
    bytes::ByteCursor in(events_.subspan(position_), position_);
    const auto marker = in.read<std::uint32_t>();
    const auto size_at_4 = in.read<std::uint16_t>();
    if (marker == 0 || marker == 0xFFFFFFFF) {
      return stop(WalkEnd::kUnusedRest);
    }
    if ((marker & 0xD0000000) == 0x90000000) {
      if (!skip_message(marker)) {
        return false;
      }
      continue;
    }
    const EventStart start = read_start(marker, size_at_4);
    if (start.refused != WalkEnd::kNotYet) {
      return stop(start.refused);
    }
    if (start.size < start.header_bytes || start.size > events_.size() - position_) {
      return stop(WalkEnd::kBadSize);
    }
    const std::size_t padded = std::min(round_up_8(start.size), events_.size() - position_);
    if (ends_with_events(events_.subspan(position_, padded), start.header_bytes)) [[unlikely]] {
      ++overlong_;
    }
    read_event(events_.subspan(position_, start.size), position_, start, event);
    if (start.form.family == Family::kEventHeader && (size_at_4 & 1) != 0 &&
        !split_extended(event)) {
      return stop(WalkEnd::kBadExtended);
    }
    position_ += padded;
    return true;
  }
}

}  // namespace stackpack::etl
