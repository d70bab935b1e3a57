#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "app/convert/archive_members.h"
#include "app/symbolize/symbolize.h"
#include "stackpack/convert.h"
#include "stackpack/result.h"

namespace stackpack::app {

struct BatchJob {
  std::string input;
  std::string member;  ///< of a zip archive; else empty
  std::string output;
  std::optional<Error> problem = std::nullopt;  ///< why it cannot be converted; known beforehand
  /// All inputs, the one above first, when they are one recording session; else empty.
  std::vector<std::string> session{};
};

struct BatchOptions {
  ConvertOptions convert;      ///< memory_limit is the total of all workers
  unsigned workers = 1;        ///< conversions at a time; fewer where the limit asks for it
  bool skip_existing = false;  ///< leave outputs alone whose fingerprint fits
  std::optional<SymbolizeOptions> symbolize{};  ///< name the outputs, too
  bool rebase = false;                          ///< make their frames independent of mappings
};

/// How many conversions run at a time: no more than `workers`, than there are `jobs`, and than get
/// Batch::kLeastMemoryLimit each of the memory limit. Makes of `convert`, whose limit is that of
/// all, the options of one of them.
unsigned share_out(ConvertOptions& convert, unsigned workers, std::size_t jobs,
                   unsigned processors);

enum class BatchOutcome { kWaiting, kConverted, kSkipped, kFailed };

struct BatchResult {
  BatchOutcome outcome = BatchOutcome::kWaiting;
  Error error;                     ///< of kFailed
  std::vector<FormatTried> tried;  ///< of kFailed, as ConvertProgress has it
  ConvertReport report;            ///< of kConverted
  double seconds = 0;
};

/// A conversion under way, for a display of progress.
struct BatchRunning {
  std::size_t job = 0;
  double seconds = 0;
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;  ///< 0: not known
  std::uint64_t samples = 0;
  ConvertStage stage = ConvertStage::kReading;
  std::uint64_t samples_written = 0;
};

/// Converts many captures, some at a time. A job that fails does not stop the others.
///
/// Output:  each job's file depends on its input and the options alone, not on the workers.
/// Threads: the workers are the batch's own; the public functions are for one thread.
class Batch {
 public:
  /// What each worker gets of the memory limit is never below this; rather there are fewer workers.
  static constexpr std::uint64_t kLeastMemoryLimit = std::uint64_t{16} << 20;

  Batch(std::vector<BatchJob> jobs, const BatchOptions& options);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch();  ///< cancels what is still running and waits for it

  /// Starts the workers; fewer than planned where the system refuses threads.
  /// Errors: kResource when it refuses the first one; nothing runs then.
  Status start();

  /// Waits until a job ends or the time is over. Result: the jobs that ended since the last call,
  /// in the order in which they ended; valid as long as the batch.
  std::span<const std::size_t> wait(std::chrono::milliseconds longest);

  /// No worker is left. Every job that was begun has a result, and wait() has given them all when
  /// it returned nothing afterwards.
  [[nodiscard]] bool done() const;

  /// Makes running jobs end with kCancelled; those not begun stay kWaiting.
  void cancel();

  [[nodiscard]] std::vector<BatchRunning> running() const;
  [[nodiscard]] const std::vector<BatchJob>& jobs() const { return jobs_; }

  /// Of a job that wait() gave.
  [[nodiscard]] const BatchResult& result(std::size_t job) const { return results_[job]; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Slot {
    bool active = false;
    std::size_t job = 0;
    Clock::time_point begin;
    ConvertProgress progress;
  };

  void work(std::size_t worker);
  BatchResult run(const BatchJob& job, ConvertProgress& progress) const;

  const std::vector<BatchJob> jobs_;
  BatchOptions options_;
  ArchiveOfBatch archive_;
  std::vector<BatchResult> results_;
  std::vector<std::thread> threads_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t workers_ = 0;
  std::unique_ptr<Slot[]> slots_;   // one per worker
  std::vector<std::size_t> ended_;  // in the order in which they ended; has room for all
  std::size_t reported_ = 0;        // of them, by wait()
  std::size_t next_ = 0;
  std::size_t active_ = 0;
  bool cancelled_ = false;
};

}  // namespace stackpack::app
