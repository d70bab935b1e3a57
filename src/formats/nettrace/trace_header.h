// The head of a stream: which version it is of, and the object or block that describes the trace.
//
//   versions 1-3 (.netperf)  u32 20 "!FastSerialization.1"
//   version 4                "Nettrace" u32 20 "!FastSerialization.1"; .NET 5 and later write it,
//   too version 6                "Nettrace" u32 0, u32 major, u32 minor
//
// The trace: versions 1 and 2 have u32 0 first; then 8 x u16 (year, month, day of the week, day,
// hour, minute, second, millisecond), i64 ticks at that time, i64 ticks in a second; from version 3
// on u32 pointer size; 3-5: u32 process, u32 processors, u32 rate; 6: u32 count of pairs of strings
// (varint size, UTF-8).
//
// Source: NetTraceFormat.md and NetPerfFormat.md of microsoft/perfview.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stackpack/result.h"

namespace stackpack::nettrace {

inline constexpr std::uint32_t kNewestVersion = 6;
inline constexpr std::size_t kStreamHeadBytes = 32;  ///< of the longest head

/// What the first bytes say.
struct StreamHead {
  std::uint32_t version = 0;  ///< 6; below: 4 with `is_nettrace`, and the trace object says more
  bool is_nettrace = false;
  std::size_t bytes = 0;
};

/// Whether a file begins like one, of whatever version.
bool looks_like_nettrace(std::span<const std::byte> head);

/// Errors: kUnsupported, kTruncated.
Result<StreamHead> read_stream_head(std::span<const std::byte> head);

/// Why a version is not read, with its number.
Error unknown_version(std::uint32_t version, std::uint64_t offset);

struct TraceHeader {
  std::uint32_t version = 0;
  unsigned pointer_size = 8;
  std::uint32_t pid = 0;  ///< of all events before version 6
  std::uint32_t processors = 0;
  std::int64_t sync_ns = 0;  ///< since 1970, at sync_ticks
  std::int64_t sync_ticks = 0;
  std::int64_t frequency = 1;
  std::vector<std::pair<std::string, std::string>> pairs;

  /// Nanoseconds since 1970; 0 for what is before that.
  [[nodiscard]] std::uint64_t unix_ns(std::uint64_t ticks) const;
  /// A distance, in nanoseconds; saturates.
  [[nodiscard]] std::uint64_t ns_of(std::uint64_t ticks) const;
};

/// Bytes of the trace object of versions 1-4.
constexpr std::size_t trace_object_bytes(std::uint32_t version) {
  return version >= 3 ? 48 : 36;
}

/// Errors: kTruncated; kCorrupt for a clock or a pointer size that nothing can be read with.
Result<TraceHeader> read_trace_header(std::uint32_t version, std::span<const std::byte> content,
                                      std::uint64_t offset);

}  // namespace stackpack::nettrace
