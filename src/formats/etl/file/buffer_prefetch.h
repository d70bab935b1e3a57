#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "formats/etl/file/buffer_decoder.h"

namespace stackpack::etl {

/// Decodes the next buffer of each stream on a second thread, while the first one walks over the
/// current ones.
///
/// Streams: numbered 0 .. n-1; each has at most one request under way.
/// Result:  take() gives the very buffer that was requested, decoded by whichever thread came
///          first: the outcome does not depend on timing.
/// Threads: one owner calls request(), take() and recycle().
class BufferPrefetch {
 public:
  /// With as many bytes of buffers waiting to be taken, no other one is begun.
  static constexpr std::size_t kMostReadyBytes = std::size_t{3} << 20;

  /// `background` false: everything is decoded in take(), and no thread is started.
  BufferPrefetch(const BufferDecoder& decoder, std::size_t streams, bool background);
  BufferPrefetch(const BufferPrefetch&) = delete;
  BufferPrefetch& operator=(const BufferPrefetch&) = delete;
  ~BufferPrefetch();

  void request(std::size_t stream, const IndexedBuffer& buffer);

  /// The requested buffer of the stream. Waits for it when the other thread is at it.
  Result<std::unique_ptr<DecodedBuffer>> take(std::size_t stream);

  /// Gives the memory of a buffer back for later ones.
  void recycle(std::unique_ptr<DecodedBuffer> buffer);

 private:
  enum class SlotState : std::uint8_t { kIdle, kQueued, kRunning, kReady };
  struct Slot {
    SlotState state = SlotState::kIdle;
    IndexedBuffer what;
    std::unique_ptr<DecodedBuffer> buffer;
    std::unique_ptr<Error> error;
  };

  void work();
  std::unique_ptr<DecodedBuffer> blank();
  [[nodiscard]] bool may_begin() const { return !queue_.empty() && ready_bytes_ < kMostReadyBytes; }

  const BufferDecoder& decoder_;
  const bool background_;
  std::mutex mutex_;
  std::condition_variable work_ready_;
  std::condition_variable buffer_ready_;
  std::vector<Slot> slots_;        // guarded by mutex_
  std::size_t ready_bytes_ = 0;    // guarded by mutex_
  std::deque<std::size_t> queue_;  // guarded by mutex_; may name slots that were taken since
  std::vector<std::unique_ptr<DecodedBuffer>> free_;  // guarded by mutex_
  bool stopping_ = false;                             // guarded by mutex_
  std::thread worker_;                                // started by the first request
};

}  // namespace stackpack::etl
