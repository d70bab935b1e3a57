#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stackpack::etl {

/// Bytes of the header with which every buffer of an .etl file begins (WMI_BUFFER_HEADER).
inline constexpr std::uint32_t kBufferHeaderBytes = 0x48;

/// Bits of BufferHeader::flags.
enum BufferFlags : std::uint16_t {
  kBufferEventsLost = 0x02,
  kBufferBufferLost = 0x04,
  kBufferWideProcessor = 0x20,
  kBufferCompressed = 0x40,
};

/// Values of BufferHeader::type.
enum BufferTypes : std::uint16_t {
  kBufferGeneric = 0,
  kBufferRundown = 1,
  kBufferContextSwitch = 2,
  kBufferReferenceTime = 3,
  kBufferLogHeader = 4,
  kBufferBatched = 5,
  kBufferEmptyMarker = 6,
  kBufferDebugInfo = 7,
};

/// The fields of a buffer header that mean something to a reader of files.
struct BufferHeader {
  std::uint32_t size = 0;          ///< bytes on disk, header included
  std::uint32_t saved_offset = 0;  ///< valid bytes after decompression, header included, or 0
  std::uint64_t sequence = 0;
  std::uint16_t processor = 0;
  std::uint32_t state = 0;
  std::uint32_t offset = 0;  ///< stands in for saved_offset where that is 0 (Windows 7 and older)
  std::uint16_t flags = 0;
  std::uint16_t type = 0;

  [[nodiscard]] bool compressed() const { return (flags & kBufferCompressed) != 0; }

  /// Bytes of the event stream after the header, once decompressed.
  [[nodiscard]] std::uint32_t event_bytes() const {
    const std::uint32_t end = saved_offset >= kBufferHeaderBytes ? saved_offset : offset;
    return end >= kBufferHeaderBytes ? end - kBufferHeaderBytes : 0;
  }

  /// Whether the two fields that say where the events end say different things. They are one, but
  /// in header buffers and where the first is 0.
  [[nodiscard]] bool sizes_disagree() const {
    return type != kBufferLogHeader && saved_offset >= kBufferHeaderBytes &&
           offset >= kBufferHeaderBytes && saved_offset != offset;
  }

  /// Whether the buffer holds events (the other types hold what no event reader understands).
  [[nodiscard]] bool holds_events() const {
    return type == kBufferGeneric || type == kBufferRundown || type == kBufferLogHeader ||
           type == kBufferBatched;
  }
};

/// Takes the fields from the 72 bytes of a buffer header; bytes.size() >= kBufferHeaderBytes.
/// Without the 16-bit flag the processor is one byte, and its neighbour an alignment.
BufferHeader parse_buffer_header(std::span<const std::byte> bytes);

}  // namespace stackpack::etl
