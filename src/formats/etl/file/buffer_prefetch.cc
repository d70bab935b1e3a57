#include "formats/etl/file/buffer_prefetch.h"

#include <utility>

namespace stackpack::etl {

BufferPrefetch::BufferPrefetch(const BufferDecoder& decoder, std::size_t streams, bool background)
    : decoder_(decoder), background_(background), slots_(streams) {}

BufferPrefetch::~BufferPrefetch() {
  if (worker_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    work_ready_.notify_one();
    worker_.join();
  }
}

std::unique_ptr<DecodedBuffer> BufferPrefetch::blank() {
  if (free_.empty()) {
    return std::make_unique<DecodedBuffer>();
  }
  std::unique_ptr<DecodedBuffer> buffer = std::move(free_.back());
  free_.pop_back();
  return buffer;
}

void BufferPrefetch::request(std::size_t stream, const IndexedBuffer& buffer) {
  {
    const std::lock_guard lock(mutex_);
    slots_[stream].state = SlotState::kQueued;
    slots_[stream].what = buffer;
    if (background_) {
      queue_.push_back(stream);
    }
  }
  if (!background_) {
    return;
  }
  if (!worker_.joinable()) {
    worker_ = std::thread([this] { work(); });
  }
  work_ready_.notify_one();
}

void BufferPrefetch::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_ready_.wait(lock, [this] { return stopping_ || may_begin(); });
    if (stopping_) {
      return;
    }
    Slot& slot = slots_[queue_.front()];
    queue_.pop_front();
    if (slot.state != SlotState::kQueued) {
      continue;
    }
    slot.state = SlotState::kRunning;
    const IndexedBuffer what = slot.what;
    std::unique_ptr<DecodedBuffer> buffer = blank();
    lock.unlock();
    const Status status = decoder_.decode(what, *buffer);
    lock.lock();
    ready_bytes_ += buffer->memory_bytes();
    slot.buffer = std::move(buffer);
    slot.error = status ? nullptr : std::make_unique<Error>(status.error());
    slot.state = SlotState::kReady;
    buffer_ready_.notify_one();
  }
}

Result<std::unique_ptr<DecodedBuffer>> BufferPrefetch::take(std::size_t stream) {
  std::unique_lock lock(mutex_);
  Slot& slot = slots_[stream];
  if (slot.state == SlotState::kQueued) {  // not begun: faster here than waiting for it
    slot.state = SlotState::kIdle;
    const IndexedBuffer what = slot.what;
    std::unique_ptr<DecodedBuffer> buffer = blank();
    lock.unlock();
    if (const Status status = decoder_.decode(what, *buffer); !status) {
      return status.error();
    }
    return buffer;
  }
  buffer_ready_.wait(lock, [&slot] { return slot.state == SlotState::kReady; });
  slot.state = SlotState::kIdle;
  const bool was_full = ready_bytes_ >= kMostReadyBytes;
  ready_bytes_ -= slot.buffer->memory_bytes();
  if (was_full) {
    work_ready_.notify_one();
  }
  if (slot.error != nullptr) {
    return *slot.error;
  }
  return std::move(slot.buffer);
}

void BufferPrefetch::recycle(std::unique_ptr<DecodedBuffer> buffer) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(buffer));
}

}  // namespace stackpack::etl
