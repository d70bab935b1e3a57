#include "cli/shown_progress.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/console.h"
#include "cli/human_text.h"

namespace stackpack::cli {

namespace {

constexpr std::chrono::milliseconds kPatience{500};
constexpr std::chrono::milliseconds kPause{200};

std::string text_of(const ConvertProgress& conversion) {
  const std::uint64_t total = conversion.bytes_total;
  if (total == 0 && conversion.samples == 0) {
    return "reading";
  }
  switch (conversion.stage) {
    case ConvertStage::kReading:
      return total == 0 ? fmt::format("reading, {} samples", grouped(conversion.samples))
                        : fmt::format("reading, {:.0f} % of {}",
                                      100.0 * static_cast<double>(conversion.bytes_done) /
                                          static_cast<double>(total),
                                      human_bytes(total));
    case ConvertStage::kCallstacks:
    case ConvertStage::kSamples:
    case ConvertStage::kFinishing:
      break;
  }
  return fmt::format("packing {} samples", grouped(conversion.samples));
}

}  // namespace

ShownProgress::ShownProgress(bool wanted) {
  if (!wanted || !app::terminal_moves_cursor(app::Stream::kStandardError)) {
    return;
  }
  try {
    thread_ = std::thread([this] { draw_until_ended(); });
  } catch (const std::system_error&) {
    // No line then.
  }
}

ShownProgress::~ShownProgress() {
  if (!thread_.joinable()) {
    return;
  }
  clear();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

ConvertProgress& ShownProgress::begin_conversion() {
  begin({});
  return conversion_;
}

void ShownProgress::begin(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  hidden_ = false;
}

void ShownProgress::clear() {
  const std::lock_guard lock(mutex_);
  hidden_ = true;
  if (drawn_) {
    app::write_standard_error("\r\033[K");
    drawn_ = false;
  }
}

std::string ShownProgress::line() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const std::string what = what_.empty() ? text_of(conversion_) : what_;
  return fmt::format("{}; {:.1f} s", what, seconds);
}

void ShownProgress::draw_until_ended() {
  std::unique_lock lock(mutex_);
  std::chrono::milliseconds pause = kPatience;
  while (!changed_.wait_for(lock, pause, [this] { return ended_; })) {
    if (!hidden_) {
      app::write_standard_error("\r\033[K" + line());
      drawn_ = true;
    }
    pause = kPause;
  }
}

}  // namespace stackpack::cli
