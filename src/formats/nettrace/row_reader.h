// Rows of events.
//
//   versions 1-3  u32 size (without itself), u32 metadata, u32 thread, u64 ticks, 32 bytes, u32 n,
//                 n bytes payload, u32 m, m bytes callstack
//   version 4, 6  a block: u16 size of its head, u16 flags (1: compressed rows), u64 first and u64
//                 last ticks, ...; rows
//   compressed    u8 fields, then those fields that are not as in the row before; all are 0 at
//   first:
//                 1 metadata | 2 number - last - 1, capturing thread, processor; without it the
//                 number is one more (version 4: where there is metadata) | 4 thread | 8 stack |
//                 always: ticks - last | version 4: 10 and 20: 16 bytes each | version 6: 10 labels
//                 | 80 size of the payload | payload
//   plain         version 4: u32 size (without itself), u32 metadata and bit 31, u32 number, u64
//                 thread, u64 capturing thread, u32 processor, u32 stack, u64 ticks, 32 bytes, u32
//                 n, n bytes, padded to a multiple of 4 of the file offset; 6: u32 labels for the
//                 32 bytes, not padded
//
// Source: NetTraceFormat.md, NetTraceFormat_v5.md and NetPerfFormat.md of microsoft/perfview.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bytes/byte_cursor.h"
#include "formats/nettrace/trace_blocks.h"

namespace stackpack::nettrace {

struct EventRow {
  std::uint32_t metadata = 0;
  std::uint32_t number = 0;          ///< of the capturing thread's events; version 4 and later
  std::uint64_t capture_thread = 0;  ///< who wrote it
  std::uint64_t thread = 0;          ///< whose event it is
  std::uint32_t processor = 0;       ///< of the capturing thread; version 4 and later
  std::uint32_t stack = 0;           ///< 0: none
  std::uint64_t ticks = 0;
  std::span<const std::byte> payload;
  std::span<const std::byte> inline_stack;  ///< versions 1-3
  std::uint64_t offset = 0;                 ///< of the row in the file
  std::uint64_t payload_offset = 0;
};

/// Reads the rows of one block. Whatever the bytes: a row that cannot be read ends the block.
class RowReader {
 public:
  enum class End : std::uint8_t { kNotYet, kClean, kBadHeader, kBadRow, kCutRow };

  RowReader(const Block& block, std::uint32_t version);

  bool next(EventRow& row);

  /// How the block ended; after next() gave false.
  [[nodiscard]] End end() const { return end_; }
  [[nodiscard]] std::uint64_t offset() const { return in_.offset(); }

 private:
  bool next_old(EventRow& row);
  bool next_compressed(EventRow& row);
  bool next_plain(EventRow& row);
  bool times_hold(EventRow& row);
  bool stop(End end);
  bool cut_or_bad() { return stop(whole_ ? End::kBadRow : End::kCutRow); }

  bytes::ByteCursor in_;
  std::uint32_t version_;
  bool whole_;
  bool compressed_ = false;
  bool has_times_ = false;
  std::uint64_t first_ticks_ = 0;
  std::uint64_t last_ticks_ = 0;
  EventRow last_;  // the values that the next row may leave out
  std::uint32_t payload_bytes_ = 0;
  End end_ = End::kNotYet;
};

}  // namespace stackpack::nettrace
