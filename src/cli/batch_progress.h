#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/batch/batch.h"
#include "cli/json_text.h"

namespace stackpack::cli {

/// The object of `convert --json` for one input: the keys of docs/cli.md.
void write_conversion(JsonText& json, const app::BatchJob& job, const app::BatchResult& result);

/// `INPUT -> OUTPUT: 485,788 B to 12.3 KiB (38.6x), 2,351 samples, 661 callstacks, 0.02 s`.
std::string conversion_line(const app::BatchJob& job, const app::BatchResult& result);

/// The input as messages name it: with the member of an archive.
std::string input_name(const app::BatchJob& job);

/// What a conversion is doing and how far it is: `reading  45%  120 MB/s, 3 s left to read`,
/// `writing samples  30%`.
std::string progress_text(const app::BatchRunning& running);

/// Lines at the bottom of a terminal: one per conversion under way, one for the whole batch.
/// clear() before anything else is written to standard error.
class BatchProgress {
 public:
  /// `shown`: false makes every call do nothing.
  BatchProgress(const app::Batch& batch, bool shown);

  /// A job ended.
  void count(std::size_t job);

  /// Draws anew, at most some times a second.
  void draw();

  /// Removes the lines.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::string line_of(const app::BatchRunning& running) const;
  [[nodiscard]] std::string total_line() const;

  const app::Batch& batch_;
  const bool shown_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point drawn_{};
  std::size_t lines_ = 0;
  std::size_t ended_ = 0;
  std::uint64_t ended_bytes_ = 0;
  std::uint64_t ended_samples_ = 0;
};

}  // namespace stackpack::cli
