#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "stackpack/convert.h"

namespace stackpack::cli {

inline constexpr const char* kMakingPage = "making the page";

/// A line at the bottom of a terminal that says what a command does which shows nothing yet, and
/// for how long it has been at work. It comes after half a second. clear() before anything else is
/// written to standard error.
///
/// Threads: one that draws; where the system refuses it, there is no line.
class ShownProgress {
 public:
  /// `wanted`: and only where standard error is a terminal that moves its cursor.
  explicit ShownProgress(bool wanted);
  ShownProgress(const ShownProgress&) = delete;
  ShownProgress& operator=(const ShownProgress&) = delete;
  ~ShownProgress();

  /// From now on it converts a capture, which counts in the result.
  ConvertProgress& begin_conversion();
  /// From now on it does `what`: "naming functions".
  void begin(std::string what);
  /// Takes the line away until something else begins.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void draw_until_ended();
  [[nodiscard]] std::string line() const;

  ConvertProgress conversion_;
  const Clock::time_point begin_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;    // empty: it converts
  bool hidden_ = true;  // nothing has begun
  bool drawn_ = false;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace stackpack::cli
