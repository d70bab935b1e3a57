// Rows of a reader that calls, as batches that somebody else asks for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>

#include "arrow/arrow_batch.h"
#include "capture/read_control.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Lets a source that pushes its rows fill the batches of a stream: it runs on a thread of its own,
/// one batch ahead, and waits while that is not taken.
///
/// Memory:  two batches, besides the one that the stream gives away.
/// Threads: next() and the destructor belong to the stream's thread, all else to the filling one.
class BatchProducer {
 public:
  /// Puts rows into batch(), each of them ended by end_row(), whose failure it passes on. Stops
  /// soon, with any result, when the control asks for it.
  using Fill = std::function<Status(BatchProducer& rows, const capture::ReadControl& control)>;

  /// A batch has at most `batch_rows` rows.
  BatchProducer(arrow::Projection projection, std::size_t batch_rows, Fill fill);
  BatchProducer(const BatchProducer&) = delete;
  BatchProducer& operator=(const BatchProducer&) = delete;

  /// Stops the filling, and waits for it.
  ~BatchProducer();

  /// Puts the next rows into a batch of the same columns, which is empty; none: the end. The first
  /// call starts the thread. Errors: those of the filling; kResource: the system has no thread.
  Status next(arrow::Batch& batch);

  [[nodiscard]] arrow::Batch& batch() { return filling_; }
  /// Errors: kCancelled, nobody wants the rows any more.
  Status end_row();

 private:
  void run();
  Status hand_over();

  const arrow::Projection projection_;
  const std::size_t batch_rows_;
  const Fill fill_;
  arrow::Batch filling_;  // the filling thread's
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  arrow::Batch ready_;  // guarded by mutex_, as all that follows; empty: it was taken
  bool ended_ = false;
  Status status_;       // of the filling, when it has ended
  std::thread thread_;  // last: it uses everything above
};

}  // namespace stackpack::app
