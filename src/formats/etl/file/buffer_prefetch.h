#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/task_line.h"
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
  /// With as many bytes of buffers waiting to be taken, the second thread begins no other one.
  static constexpr std::size_t kMostReadyBytes = std::size_t{3} << 20;

  /// The second thread sleeps until as many requests wait, or a quarter of the streams has one:
  /// decoding a plain buffer takes little more than the waking.
  static constexpr std::size_t kMostAsleep = 8;

  /// `background` false: everything is decoded in take(), and no thread is started.
  BufferPrefetch(const BufferDecoder& decoder, std::size_t streams, bool background);

  void request(std::size_t stream, const IndexedBuffer& buffer);

  /// The requested buffer of the stream. Waits for it when the other thread is at it.
  Result<std::unique_ptr<DecodedBuffer>> take(std::size_t stream);

  /// Gives the memory of a buffer back for later ones.
  void recycle(std::unique_ptr<DecodedBuffer> buffer);

 private:
  struct Slot : core::TaskLine::Task {
    IndexedBuffer what;
    std::unique_ptr<DecodedBuffer> buffer;
  };

  Status decode(Slot& slot);
  std::unique_ptr<DecodedBuffer> blank();

  const BufferDecoder& decoder_;
  std::unique_ptr<Slot[]> slots_;  // by stream
  std::mutex mutex_;
  std::vector<std::unique_ptr<DecodedBuffer>> free_;  // guarded by mutex_
  core::TaskLine line_;                               // last: its thread uses everything above
};

}  // namespace stackpack::etl
