// A file that `stackpack mcp` has open, with what was counted of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/analysis/call_sums.h"
#include "app/analysis/call_tree.h"
#include "app/analysis/hot_spots.h"
#include "app/convert/packed_capture.h"
#include "app/listing/wait_sums.h"
#include "cli/arguments.h"
#include "cli/mcp/summary_text.h"
#include "cli/report_table.h"
#include "core/task_line.h"

namespace stackpack::cli {

/// Options that say where the names of a capture are from, which is the same for all that is asked
/// of an open file.
inline constexpr std::string_view kNoSymbols = "--no-symbolize";
inline constexpr std::string_view kKallsyms = "--kallsyms=";
inline constexpr std::string_view kPerfMap = "--perf-map=";

/// What was counted for a call: rows in their order, a tree, or waits.
struct McpReport {
  app::HotSpots spots;
  ReportCenter center;
  std::optional<app::CallTree> tree;
  std::optional<app::WaitTable> waits;

  [[nodiscard]] std::size_t rows() const;
};

/// What a file is, to see whether it was replaced.
struct FileVersion {
  std::uintmax_t bytes = 0;
  std::filesystem::file_time_type changed;

  friend bool operator==(const FileVersion&, const FileVersion&) = default;
};

/// An open file. The questions that come first are answered before they are asked, by the threads
/// of a line; one that nobody has begun is counted when it is asked.
///
/// Threads: all calls come from one thread; those of the line use the reader alone, and end soon
/// when the file is closed.
/// Memory: the pairs of calls (app::CallSums), and reports of at most kMostKeptRows rows each.
class McpFile {
 public:
  static constexpr std::size_t kMostRows = 1000;  // as many as a client can ask for
  static constexpr std::size_t kMostKeptRows = std::size_t{1} << 16;

  /// `asked`: as the client calls it. The line must outlive this; its work is run_early().
  McpFile(std::string asked, std::string path, FileVersion version, app::PackedCapture capture,
          core::TaskLine& line);
  McpFile(const McpFile&) = delete;
  McpFile& operator=(const McpFile&) = delete;
  ~McpFile();

  [[nodiscard]] const std::string& asked() const { return asked_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const FileVersion& version() const { return version_; }
  [[nodiscard]] bool is_made() const { return capture_.is_made(); }
  [[nodiscard]] const Reader& reader() const { return capture_.reader(); }

  /// Puts the first questions into the line; once.
  void begin_early();
  /// The work of the line.
  static Status run_early(core::TaskLine::Task& task);

  /// What was counted early for these words of a command without its file and rows; null: nothing.
  std::shared_ptr<const McpReport> early_report(std::span<const std::string> words);
  /// Counts what a call of a tool asks for that is a report.
  Status count(std::span<const std::string> words, const ReportArguments& arguments,
               McpReport& report);
  /// `whole`: as append_summary.
  Result<SummaryFigures> figures(bool whole);

 private:
  struct Early : core::TaskLine::Task {
    std::string key;
    std::function<Status()> work;
    std::shared_ptr<McpReport> report;  // of those that are reports
    bool in_line = false;
    bool is_good = false;
  };

  void add_early(const std::vector<std::string>& words);
  Early* finished(std::string_view key);
  const app::CallSums* calls();
  Status count_calls();
  Status count_now(const ReportArguments& arguments, McpReport& report) const;
  Status count_lines_of(const ReportArguments& arguments, McpReport& report);
  Result<std::optional<app::HotSpots>> rows_by(std::string_view word);

  std::string asked_;
  std::string path_;
  FileVersion version_;
  app::PackedCapture capture_;
  core::TaskLine& line_;
  std::atomic<bool> stopped_{false};
  std::deque<Early> early_;  // tasks stay where they are
  /// Functions by the samples of the file's own choice; null: not counted, or not to be had.
  std::unique_ptr<const app::CallSums> calls_;
  std::optional<SummaryFigures> facts_;  // without rows
};

}  // namespace stackpack::cli
