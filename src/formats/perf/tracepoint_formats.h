// TRACING_DATA: how the recording kernel lays out the payloads of its tracepoints.
//
// Magic "\x17\x08\x44tracing", version text and NUL, u8 big-endian, u8 size of long, u32 page
// size; "header_page" NUL, u64 size, bytes; "header_event" NUL, u64 size, bytes; u32 count of
// ftrace's own events, each u64 size and text; u32 systems, each a name and NUL, u32 count of
// events, each u64 size and text. (What follows, kallsyms and formats of printk, is not read.) A
// text has lines `name: N`, `ID: N`, `field:TYPE NAME; offset:N; size:N; signed:N;` and `print fmt:
// ...`. Source: trace-cmd.dat(5); tracefs, events/*/format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "bytes/byte_cursor.h"

namespace stackpack::perf {

/// What a field of a tracepoint is, by its declaration.
enum class TracepointContent : std::uint8_t {
  kNumber,
  kAddress,        ///< a pointer
  kText,           ///< char name[N]
  kTextElsewhere,  ///< __data_loc char[]: u32, offset in the payload and size << 16
  kTextAfter,      ///< __rel_loc char[]: the same, offset from the end of the field
  kOther,          ///< arrays of numbers, and what is wider than 8 bytes
};

/// Where a field lies in the payload of a tracepoint.
struct TracepointField {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  bool is_signed = false;
  TracepointContent content = TracepointContent::kNumber;
};

struct TracepointFormat {
  std::string system;  ///< sched
  std::string name;    ///< sched_switch
  std::map<std::string, TracepointField, std::less<>> fields;
  std::string print_format;

  /// A field of a payload, sign extended where it is signed; of at most 8 bytes. Nothing: there is
  /// none of that name, or the payload is shorter.
  [[nodiscard]] std::optional<std::uint64_t> read(bytes::ByteCursor payload,
                                                  std::string_view field) const;

  /// Where the field of that name lies; of no size: there is none of at most 8 bytes.
  [[nodiscard]] TracepointField place_of(std::string_view field) const;
};

/// The number in a field of at most 8 bytes, sign extended where it is signed. Nothing: the payload
/// is shorter, the field wider or of no size.
std::optional<std::uint64_t> read_tracepoint_field(bytes::ByteCursor payload,
                                                   const TracepointField& place);

/// Formats by the id that an attribute has as its config.
using TracepointFormats = std::map<std::uint64_t, TracepointFormat>;

/// Most formats that are kept, and fields of each.
inline constexpr std::size_t kMaxTracepointFormats = 16'384;
inline constexpr std::size_t kMaxTracepointFields = 256;

/// Reads TRACING_DATA, whose numbers are in its own byte order. `wanted` says of which system and
/// name a format is kept; the texts of all others are passed over.
/// Result: false when it is damaged; what was read before stays.
bool read_tracepoint_formats(bytes::ByteCursor in,
                             bool (*wanted)(std::string_view system, std::string_view name),
                             TracepointFormats& formats);

/// One text. Result: its id; nothing when it has none.
std::optional<std::uint64_t> read_tracepoint_format(std::string_view text,
                                                    TracepointFormat& format);

}  // namespace stackpack::perf
