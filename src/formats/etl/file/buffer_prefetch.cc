#include "formats/etl/file/buffer_prefetch.h"

#include <algorithm>
#include <utility>

namespace stackpack::etl {

BufferPrefetch::BufferPrefetch(const BufferDecoder& decoder, std::size_t streams, bool background)
    : decoder_(decoder),
      slots_(std::make_unique<Slot[]>(streams)),
      line_(
          background ? 1 : 0,
          [this](unsigned, core::TaskLine::Task& task) { return decode(static_cast<Slot&>(task)); },
          kMostReadyBytes, std::clamp<std::size_t>(streams / 4, 1, kMostAsleep)) {}

std::unique_ptr<DecodedBuffer> BufferPrefetch::blank() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    return std::make_unique<DecodedBuffer>();
  }
  std::unique_ptr<DecodedBuffer> buffer = std::move(free_.back());
  free_.pop_back();
  return buffer;
}

Status BufferPrefetch::decode(Slot& slot) {
  slot.buffer = blank();
  const Status decoded = decoder_.decode(slot.what, *slot.buffer);
  slot.set_weight(slot.buffer->memory_bytes());
  return decoded;
}

void BufferPrefetch::request(std::size_t stream, const IndexedBuffer& buffer) {
  slots_[stream].what = buffer;
  line_.submit(slots_[stream]);
}

Result<std::unique_ptr<DecodedBuffer>> BufferPrefetch::take(std::size_t stream) {
  // A buffer that is not begun is decoded faster here than waited for.
  const Status decoded = line_.collect(slots_[stream], core::TaskLine::IfNotBegun::kRunHere);
  if (!decoded) {
    return decoded.error();
  }
  return std::move(slots_[stream].buffer);
}

void BufferPrefetch::recycle(std::unique_ptr<DecodedBuffer> buffer) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(buffer));
}

}  // namespace stackpack::etl
