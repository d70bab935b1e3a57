#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "stackpack/result.h"

namespace stackpack::etl {

/// Bits of LogFileHeader::mode (LogFileMode).
enum LogFileModes : std::uint32_t {
  kModeCircular = 0x2,
  kModeAppend = 0x4,
  kModeCompressed = 0x04000000,
};

/// Ways in which the body of a buffer can be compressed (COMPRESSION_FORMAT_*).
enum class CompressionFormat : std::uint16_t {
  kNone = 0,
  kLznt1 = 2,
  kXpress = 3,
  kXpressHuffman = 4,
};

/// What the first event of the first buffer has on the session (TRACE_LOGFILE_HEADER).
struct LogFileHeader {
  std::uint32_t buffer_size = 0;  ///< bytes of a whole buffer, decompressed
  std::uint8_t version[4] = {};   ///< major, minor, sub, subminor
  std::uint32_t build = 0;        ///< Windows build number
  std::uint32_t processors = 0;   ///< a hint: processor numbers come from the buffers
  std::uint64_t end_filetime = 0;
  std::uint32_t timer_resolution = 0;  ///< 100 ns
  std::uint32_t mode = 0;
  std::uint32_t buffers_written = 0;
  std::uint32_t declared_pointer_size = 0;
  std::uint32_t events_lost = 0;
  std::uint32_t cpu_mhz = 0;
  std::int32_t minutes_west = 0;
  std::uint64_t boot_filetime = 0;
  std::uint64_t frequency = 0;  ///< ticks per second of the performance counter
  std::uint64_t start_filetime = 0;
  std::uint32_t clock_type = 0;  ///< 1 performance counter, 2 FILETIME, 3 cycle counter
  std::uint32_t buffers_lost = 0;
  std::string logger_name;
  std::string file_name;

  std::uint8_t pointer_size = 8;   ///< by the form of the header: 4 or 8
  std::uint64_t clock_origin = 0;  ///< clock of this event, which goes with start_filetime
  std::uint32_t header_state = 0;  ///< State of the header buffer: names the compression
  std::uint16_t header_processor = 0;

  /// What the file says of its compression; kNone when it says that it is not compressed.
  [[nodiscard]] CompressionFormat named_compression() const;
};

/// Bytes of a capture that looks_like_etl() wants to see.
inline constexpr std::size_t kDetectBytes = 128;

/// Recognizes an .etl file by the header of its first buffer and the marker of its first event.
bool looks_like_etl(std::span<const std::byte> head);

/// Reads the header from the first buffer of a file.
///
/// Input:  `head` begins with the first byte of the file and holds the first buffer, or as much of
///         it as there is.
/// Result: kUnsupported when this is no .etl file (no header buffer, no log file header event);
///         kTruncated when the structure is cut.
Result<LogFileHeader> parse_log_file_header(std::span<const std::byte> head);

}  // namespace stackpack::etl
