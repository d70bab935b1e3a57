// Files that a command shows: .spk files as they are, captures packed and named unasked.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/convert/packed_capture.h"
#include "app/listing/capture_notices.h"
#include "app/symbolize/debuginfod.h"
#include "cli/arguments.h"
#include "cli/messages.h"
#include "stackpack/convert.h"
#include "stackpack/reader.h"

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

/// How captures are packed for a command: with callstacks of their dumps and names of this machine,
/// unless the arguments say otherwise. `path`: of the capture. The messages must outlive it: they
/// say what hides the names of the kernel. So must `progress`, which may be null.
app::PackingOptions packing_of(const CaptureArguments& arguments, const std::string& path,
                               const Messages& messages, ShownProgress* progress = nullptr);

/// Says why a file cannot be shown: what its conversion says. Of a folder, that files are wanted.
void explain_unread(const std::string& path, const Error& error, const ConvertProgress& conversion,
                    const Messages& messages);

/// Opens what a command shows. Of what can not be opened it says why, in `exit_code`, too.
std::optional<app::PackedCapture> open_shown(const std::string& path,
                                             const CaptureArguments& arguments,
                                             const Messages& messages, int& exit_code,
                                             ShownProgress* progress = nullptr);

/// The same for a page of several: paths of .spk files. Empty: it was said why.
std::vector<app::PackedFile> pack_all(const std::vector<std::string>& paths,
                                      const CaptureArguments& arguments, const Messages& messages,
                                      int& exit_code, ShownProgress* progress = nullptr);

/// What is missing of a file in what the options show of it, a line each: app::cut_notices, and
/// what a capture that was made into one has no readable names of.
template <typename Packed, typename Options>
std::vector<std::string> notices_of_shown(const Packed& file, const Reader& reader,
                                          const Options& options) {
  std::vector<std::string> notices = app::cut_notices(reader, options);
  notices.insert(notices.end(), file.notices().begin(), file.notices().end());
  return notices;
}

/// What --debuginfod fetched for a capture.
void note_fetched(const std::string& path, const app::FetchReport& fetch, const Messages& messages);

/// Of a .spk file whose functions nobody looked up: says by which command they get names, when
/// standard error is a terminal.
void note_missing_names(const std::string& path, const Reader& reader, const Messages& messages);

}  // namespace stackpack::cli
