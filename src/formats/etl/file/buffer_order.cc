#include "formats/etl/file/buffer_order.h"

#include <cstddef>
#include <cstdint>

#include "formats/etl/etl_losses.h"
#include "formats/etl/event/event_header.h"
#include "scratch/spill_records.h"

namespace stackpack::etl {

namespace {

std::size_t count_inversions(const scratch::SpillArray<IndexedBuffer>& buffers, std::uint64_t begin,
                             std::uint64_t end) {
  std::size_t inversions = 0;
  std::uint64_t last = 0;
  for (std::uint64_t i = begin; i < end; ++i) {
    const std::uint64_t clock = buffers.get(i).first_clock;
    if (clock == IndexedBuffer::kNoClock) {
      continue;
    }
    inversions += clock < last ? 1U : 0U;
    last = clock;
  }
  return inversions;
}

}  // namespace

Status settle_buffer_order(BufferIndex& index, const BufferDecoder& decoder,
                           const capture::ReadControl& control, capture::LossCounters& losses) {
  DecodedBuffer decoded;
  for (const ProcessorRange& range : index.processors) {
    if (!range.disputed) {
      continue;
    }
    scratch::SpillArray<IndexedBuffer> by_sequence(index.buffers.space());
    const std::uint64_t count = range.end - range.begin;
    for (std::uint64_t i = 0; i < count; ++i) {
      IndexedBuffer buffer = index.buffers.get(range.begin + i);
      if (control.stop_requested()) {
        return Error{ErrorCode::kCancelled, buffer.offset, "etl: cancelled"};
      }
      if (const Status read = decoder.decode(buffer, decoded); !read) {
        return read;
      }
      EventWalker walker(decoded.events());
      EventView event;
      if (walker.next(event)) {
        buffer.first_clock = event.clock;
      }
      index.buffers.set(range.begin + i, buffer);
      by_sequence.set(i, buffer);
    }
    losses.add(loss::kProcessorsOutOfSequence, LossKind::kNotice, 1,
               index.buffers.get(range.begin).offset);
    scratch::spill_sort(by_sequence, 0, count, sequence_less);
    if (count_inversions(index.buffers, range.begin, range.end) >=
        count_inversions(by_sequence, 0, count)) {
      for (std::uint64_t i = 0; i < count; ++i) {
        index.buffers.set(range.begin + i, by_sequence.get(i));
      }
    }
    by_sequence.clear();
  }
  return index.buffers.space().status();
}

}  // namespace stackpack::etl
