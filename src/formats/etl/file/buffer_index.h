// Pass 1: where the buffers are, and in which order each processor filled them.
//
// An .etl file is nothing but buffers laid end to end; each has its own size, and nothing else
// says where the next one begins. Across processors the order of the file is far from the order of
// time (up to half of the file would have to be held to sort it), but within one processor buffers
// follow each other without overlap. So pass 1 walks over the 72-byte headers alone and keeps 32
// bytes of each, on disk where they are many; pass 2 opens one buffer per processor at a time.
//
// Damage: a header whose size cannot be is not the end of the file. The walk looks for the next
// place which begins like a buffer whose sequence number continues the walk, and goes on there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "capture/byte_account.h"
#include "capture/loss_counters.h"
#include "capture/read_control.h"
#include "formats/etl/file/log_file_header.h"
#include "io/byte_source.h"
#include "scratch/spill_records.h"
#include "scratch/spill_space.h"
#include "stackpack/result.h"

namespace stackpack::etl {

/// One buffer, in 32 bytes.
struct IndexedBuffer {
  std::uint64_t offset = 0;
  std::uint64_t sequence = 0;
  /// On disk, header included: never less than the header. It may reach past the end of the file.
  std::uint32_t size = 0;
  std::uint16_t processor = 0;
  /// Twice the number of sessions before its own (an appended file holds several), plus 1 for all
  /// but the header buffer: sessions follow each other, whatever their clocks say.
  std::uint16_t session = 0;
  /// Of its first event; kNoClock where there is none, or nobody wanted to know.
  std::uint64_t first_clock = kNoClock;

  static constexpr std::uint64_t kNoClock = ~std::uint64_t{0};
};
static_assert(sizeof(IndexedBuffer) == 32);

/// The buffers of one processor: a range of BufferIndex::buffers.
struct ProcessorRange {
  std::uint16_t processor = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool disputed = false;  ///< file order and sequence numbers disagree
};

struct BufferIndex {
  explicit BufferIndex(scratch::SpillSpace& space) : buffers(space) {}

  scratch::SpillArray<IndexedBuffer> buffers;  ///< by processor, then in the order to read them
  std::uint64_t count = 0;                     ///< of buffers
  std::vector<ProcessorRange> processors;
  std::vector<IndexedBuffer> first_compressed;  ///< a few, in file order
};

struct IndexLimits {
  std::uint64_t max_buffer_bytes = 0;
  capture::ReadControl control;
};

/// Walks over all buffers of `input` (seekable, of known size) and sorts them by processor; within
/// one, by session and file position, and where the sequence numbers give another order the range
/// is marked as disputed.
///
/// Output: counts what is missing, damaged or remarkable in `losses`; adds the bytes after the
///         last buffer to `account`. The index is kept in `space`, which must outlive it.
/// Errors: kIo, kCancelled.
Result<BufferIndex> index_buffers(io::ByteSource& input, const LogFileHeader& header,
                                  const IndexLimits& limits, scratch::SpillSpace& space,
                                  capture::LossCounters& losses, capture::ByteAccount& account);

/// The order of the sequence numbers within their session.
bool sequence_less(const IndexedBuffer& a, const IndexedBuffer& b);

}  // namespace stackpack::etl
