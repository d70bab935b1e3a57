// Pass 2: the events of all processors in the order of their clocks.
//
// One buffer per processor is open; the event with the smallest clock goes first, and between equal
// clocks the one whose buffer stands earlier in the file. While one processor's events stay below
// the next clock of all others, no comparison but one is made.
//
// Sessions in an appended file follow each other: their clocks have nothing to do with each other.
// The header buffer comes before all others of its session, since the clock of the log file header
// may be later than the first events. Should a clock go back inside one processor's stream (damage,
// several sessions glued together), it is counted and the events are given in the order in which
// they were found.
//
// A whole buffer whose clocks lie before those of the two before it begins another lap of its
// processor: traces glued together, one after the other. Laps follow each other like sessions, so
// that the processors of each part are merged among themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capture/byte_account.h"
#include "capture/loss_counters.h"
#include "capture/read_control.h"
#include "core/merge_heap.h"
#include "formats/etl/etl_losses.h"
#include "formats/etl/event/event_header.h"
#include "formats/etl/file/buffer_decoder.h"
#include "formats/etl/file/buffer_header.h"
#include "formats/etl/file/buffer_index.h"
#include "formats/etl/file/buffer_prefetch.h"
#include "formats/etl/file/parked_buffers.h"
#include "io/byte_source.h"
#include "io/directories.h"
#include "stackpack/result.h"

namespace stackpack::etl {

struct MergeLimits {
  /// Bytes of decoded buffers that may be open at a time. Processors beyond wait until others are
  /// through, and are counted.
  std::uint64_t max_open_bytes = 0;
  bool read_ahead = true;
  capture::ReadControl control;
  /// Bytes of decoded buffers that are in memory as a whole; of others that are open there is a
  /// window.
  std::uint64_t max_whole_bytes = 0;
  std::uint64_t window_bytes = 0;  ///< of all windows together
  std::string scratch_directory = io::temporary_directory();
};

/// Totals over all buffers that were read.
struct MergeTotals {
  std::uint64_t buffers = 0;
  std::uint64_t compressed_buffers = 0;
  std::uint64_t decoded_bytes = 0;
  std::uint64_t messages = 0;
};

class BufferMerge {
 public:
  /// All references must outlive the merge.
  BufferMerge(const BufferIndex& index, io::ByteSource& input, const BufferDecoder& decoder,
              const MergeLimits& limits, capture::LossCounters& losses,
              capture::ByteAccount& account);

  /// Goes to the next event; false at the end of the trace.
  /// Errors: kIo, kCancelled.
  Result<bool> next() {
    if (current_ != nullptr) [[likely]] {
      if (looked_ahead_) [[unlikely]] {
        looked_ahead_ = false;
        current_->event = following_;
      } else if (!current_->walker.next(current_->event)) [[unlikely]] {
        return next_of_any();
      }
      note_clock(*current_, current_->event.clock);
      return current_->event.clock < run_end_ ? true : go_on_after(*current_);
    }
    return next_of_any();
  }

  /// The event to which next() will go, if it stands in the same buffer as the present one and goes
  /// before those of all other processors for sure; else null. Both are valid until next().
  [[nodiscard]] const EventView* following() {
    looked_ahead_ = looked_ahead_ || current_->walker.next(following_);
    return looked_ahead_ && following_.clock < run_end_ ? &following_ : nullptr;
  }

  /// Takes the event that following() gave as well: next() goes to the one after it. Nothing but
  /// that may be called then.
  void pass_following() {
    looked_ahead_ = false;
    note_clock(*current_, following_.clock);
  }

  /// The event and the buffer it stands in, valid until the next call of next().
  [[nodiscard]] const EventView& event() const { return current_->event; }
  [[nodiscard]] std::uint16_t processor() const { return current_->processor; }

  /// Changes where one part of the trace (session or lap) ends and the next begins.
  [[nodiscard]] std::uint64_t part() const { return part_of(*current_); }

  /// Whether the bytes of the event are in the file as they are.
  [[nodiscard]] bool stored_plain() const { return current_->stored_plain; }

  /// Offset in the file: of the event itself, or of its buffer when that is compressed.
  [[nodiscard]] std::uint64_t file_offset() const {
    const Stream& stream = *current_;
    return stream.file_offset + (stream.stored_plain ? stream.event.position : 0);
  }

  /// Clocks between which events of a processor were lost, as the header of a buffer says that was
  /// opened since the last call.
  struct Lost {
    std::uint64_t from = 0;
    std::uint64_t until = 0;
    std::uint16_t processor = 0;
  };
  [[nodiscard]] bool has_lost() const { return !lost_.empty(); }
  [[nodiscard]] std::vector<Lost> take_lost() { return std::exchange(lost_, {}); }

  [[nodiscard]] const MergeTotals& totals() const { return totals_; }

 private:
  struct Stream {
    std::uint64_t next_buffer = 0;
    std::uint64_t end_buffer = 0;
    std::uint16_t processor = 0;
    std::unique_ptr<DecodedBuffer> buffer;
    EventWalker walker;            // over the window
    std::size_t window_begin = 0;  // in the events of the buffer
    std::size_t window_bytes = 0;
    std::uint64_t file_offset = 0;  // of the window; of the buffer when that is compressed
    bool stored_plain = false;
    EventView event;
    std::uint64_t last_clock = 0;
    bool lost_before = false;   // what comes next follows lost events
    std::uint16_t session = 0;  // of the open buffer
    std::uint32_t lap = 0;
    std::uint64_t before = 0;       // clock at the start of the open buffer, and
    std::uint64_t long_before = 0;  // of the one before it; 0: none in this lap
  };
  struct HeapEntry {
    std::uint64_t part;  // session and lap
    std::uint64_t clock;
    std::uint64_t offset;
    std::size_t stream;
  };
  struct Earlier {
    bool operator()(const HeapEntry& a, const HeapEntry& b) const {
      if (a.part != b.part) {
        return a.part < b.part;
      }
      return a.clock != b.clock ? a.clock < b.clock : a.offset < b.offset;
    }
  };
  [[nodiscard]] HeapEntry entry_of(const Stream& stream) const;
  static std::uint64_t part_of(const Stream& stream) {
    return (std::uint64_t{stream.session} << 32) | stream.lap;
  }

  // The event that the stream has come to may go back in time.
  void note_clock(Stream& stream, std::uint64_t clock) {
    if (clock < stream.last_clock) [[unlikely]] {
      losses_.add(loss::kClockWentBack, LossKind::kNotice, 1, stream.buffer->where.offset);
    }
    stream.last_clock = clock;
  }

  Result<bool> next_of_any();
  Result<bool> go_on_after(Stream& stream);
  Result<bool> make_current(Stream& stream);
  void locate_window(Stream& stream);
  Status open_waiting_streams();
  Result<bool> advance(Stream& stream);
  Result<bool> open_next_buffer(Stream& stream);
  Status park(Stream& stream);
  Result<bool> move_window(Stream& stream);
  void place_buffer(Stream& stream);
  void close_buffer(Stream& stream);
  void count_damage(const DecodedBuffer& buffer);
  void count_walked(const Stream& stream);
  void count_walk_end(const Stream& stream);
  void request_ahead(Stream& stream);
  [[nodiscard]] std::size_t number_of(const Stream& stream) const;

  const BufferIndex& index_;
  const MergeLimits limits_;
  capture::LossCounters& losses_;
  capture::ByteAccount& account_;
  BufferPrefetch prefetch_;
  ParkedBuffers parked_;
  std::size_t window_bytes_;
  std::vector<Stream> streams_;
  core::MergeHeap<HeapEntry, Earlier> heap_{
      Earlier{}};            // streams with an event, apart from the current one
  std::size_t waiting_ = 0;  // streams from here on have not been opened
  Stream* current_ = nullptr;
  // While the events of the current buffer are before this clock, no other stream's goes first.
  std::uint64_t run_end_ = 0;
  EventView
      following_;  // where looked_ahead_: the event of the current stream after its present one
  bool looked_ahead_ = false;
  std::uint64_t open_bytes_ = 0;
  std::uint64_t done_bytes_ = 0;
  MergeTotals totals_;
  std::vector<Lost> lost_;
};

}  // namespace stackpack::etl
