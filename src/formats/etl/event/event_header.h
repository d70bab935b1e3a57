// Events inside a buffer: six families of headers, one view.
//
// The first 32-bit word of an event is its marker. Its top byte says whether it is an event header
// (0xC0) or a WPP trace message (0x90); the byte below says which header. The size field is at
// byte 0 or at byte 4, depending on that. Events are padded to eight bytes, counted from the start
// of the buffer; the 72 bytes of the buffer header are a multiple of eight, so that counting from
// the first event gives the same.
//
// The same kernel event can come in three clothes: PERFINFO or SYSTEM with group and type, or FULL
// with the GUID of its class. All three become EventClass::kKernel with group and type here, and
// nothing beyond this file knows the difference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/etl/event/guid.h"

namespace stackpack::etl {

enum class EventClass : std::uint8_t {
  kKernel,    ///< group and type
  kClass,     ///< class GUID and type (EVENT_TRACE_HEADER of a class which is not the kernel's)
  kProvider,  ///< provider GUID, id, opcode and version (EVENT_HEADER)
};

/// Groups of kernel events which this reader looks into.
enum KernelGroups : std::uint8_t {
  kGroupEventTrace = 0,
  kGroupProcess = 3,
  kGroupThread = 5,
  kGroupConfig = 11,
  kGroupPerfInfo = 15,
  kGroupImage = 20,
  kGroupStackWalk = 24,
};

/// Thread or process id of events whose header names none.
inline constexpr std::uint32_t kNoId = 0xFFFFFFFF;

/// One event. The spans point into the buffer it was read from.
struct EventView {
  std::uint64_t clock = 0;
  std::uint32_t tid = kNoId;
  std::uint32_t pid = kNoId;
  EventClass cls = EventClass::kKernel;
  std::uint8_t group = 0;         ///< kKernel
  std::uint8_t type = 0;          ///< kKernel and kClass: the type; kProvider: the opcode
  std::uint8_t pointer_size = 8;  ///< of the payload: 4 or 8
  std::uint16_t version = 0;
  std::uint16_t id = 0;  ///< kProvider
  Guid guid;             ///< kClass and kProvider
  std::span<const std::byte> payload;
  std::span<const std::byte> extended;  ///< extended data items of EVENT_HEADER, or empty
  std::uint32_t position = 0;           ///< of the event, in bytes from the first event
  std::uint32_t payload_position = 0;
};

/// One extended data item.
struct ExtendedItem {
  std::uint16_t type = 0;
  std::span<const std::byte> data;
};

/// Kinds of extended data items.
enum ExtendedTypes : std::uint16_t {
  kExtendedSchema = 0xB,  ///< the name of an event of TraceLogging
  kExtendedStack32 = 5,
  kExtendedStack64 = 6,
  kExtendedStackKey32 = 0x10,
  kExtendedStackKey64 = 0x11,
};

/// Walks over the extended items of one event.
class ExtendedItems {
 public:
  explicit ExtendedItems(std::span<const std::byte> extended) : rest_(extended) {}

  /// Takes the next item; false at the end.
  bool next(ExtendedItem& item);

 private:
  std::span<const std::byte> rest_;
};

/// Why an event walk ended.
enum class WalkEnd : std::uint8_t {
  kNotYet,
  kClean,        ///< the event stream is used up
  kUnusedRest,   ///< a marker of all zeros or all ones: nothing was written after it
  kBadMarker,    ///< no event header that can be known
  kOldHeader,    ///< a header type which has been out of use for decades
  kBadSize,      ///< the event is shorter than its header, or longer than the buffer
  kBadExtended,  ///< an extended item reaches past its event
};

/// Walks over the events of one decompressed buffer.
class EventWalker {
 public:
  EventWalker() = default;
  explicit EventWalker(std::span<const std::byte> events) : events_(events) {}

  /// Reads the next event; false at the end, and then end() says why.
  bool next(EventView& event);

  [[nodiscard]] WalkEnd end() const { return end_; }

  /// Bytes up to the event that could not be read, or all of them.
  [[nodiscard]] std::size_t position() const { return position_; }

  /// Events so far whose payload ends with whole events: their size is damaged, and has grown over
  /// those that follow.
  [[nodiscard]] std::uint64_t overlong() const { return overlong_; }

  /// WPP trace messages passed over so far.
  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  [[nodiscard]] std::uint64_t message_bytes() const { return message_bytes_; }

 private:
  bool stop(WalkEnd why);
  bool next_short(EventView& event);
  bool skip_message(std::uint32_t marker);

  std::span<const std::byte> events_;
  std::size_t position_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t message_bytes_ = 0;
  std::uint64_t overlong_ = 0;
  WalkEnd end_ = WalkEnd::kNotYet;
};

}  // namespace stackpack::etl
