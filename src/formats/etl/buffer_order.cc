#include "formats/etl/buffer_order.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "formats/etl/event_header.h"

namespace stackpack::etl {

namespace {

using ClockByOffset = std::unordered_map<std::uint64_t, std::uint64_t>;

std::size_t count_inversions(const std::vector<IndexedBuffer>& buffers,
                             const ClockByOffset& clocks) {
  std::size_t inversions = 0;
  std::uint64_t last = 0;
  for (const IndexedBuffer& buffer : buffers) {
    const auto found = clocks.find(buffer.offset);
    if (found == clocks.end()) {
      continue;
    }
    inversions += found->second < last ? 1U : 0U;
    last = found->second;
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
    const auto begin = index.buffers.begin() + static_cast<std::ptrdiff_t>(range.begin);
    const auto end = index.buffers.begin() + static_cast<std::ptrdiff_t>(range.end);
    const std::vector<IndexedBuffer> by_position(begin, end);
    ClockByOffset clocks;
    for (const IndexedBuffer& buffer : by_position) {
      if (control.stop_requested()) {
        return Error{ErrorCode::kCancelled, buffer.offset, "etl: cancelled"};
      }
      if (const Status read = decoder.decode(buffer, decoded); !read) {
        return read;
      }
      EventWalker walker(decoded.events());
      EventView event;
      if (walker.next(event)) {
        clocks.emplace(buffer.offset, event.clock);
      }
    }
    sort_by_sequence(index, range);
    const std::vector<IndexedBuffer> by_sequence(begin, end);
    losses.add("processors_out_of_sequence", LossKind::kNotice, 1, by_position.front().offset);
    if (count_inversions(by_position, clocks) < count_inversions(by_sequence, clocks)) {
      std::copy(by_position.begin(), by_position.end(), begin);
    }
  }
  return {};
}

}  // namespace stackpack::etl
