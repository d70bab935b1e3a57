#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/analysis/call_sums.h"
#include "app/analysis/call_tree.h"
#include "app/analysis/hot_spots.h"
#include "app/convert/packed_capture.h"
#include "app/listing/wait_sums.h"
#include "app/mcp/allowed_folders.h"
#include "app/redact/redact.h"
#include "cli/arguments.h"
#include "cli/command_line.h"
#include "cli/mcp/summary_text.h"
#include "cli/mcp/tool_table.h"
#include "cli/messages.h"
#include "cli/report_table.h"

namespace stackpack::cli {

/// What a tool says.
struct McpAnswer {
  std::string text;
  bool is_error = false;
  /// Whether the text is an object of JSON, whole.
  bool is_object = false;
  /// The words of a command line that prints the same; empty where no command does.
  std::vector<std::string> command;
};

/// Answers calls of tools. Files stay open, the last answers stay counted.
class McpSession {
 public:
  /// The messages must outlive this.
  /// `redaction`: what is done to files before anything is said of them; nothing: they are as they
  /// are.
  McpSession(const McpArguments& arguments, app::AllowedFolders folders,
             std::optional<app::RedactOptions> redaction, const Messages& messages)
      : arguments_(arguments),
        folders_(std::move(folders)),
        redaction_(std::move(redaction)),
        messages_(messages) {}

  McpAnswer call(const Tool& tool, const ToolWords& words);

 private:
  static constexpr std::size_t kMostFiles = 8;
  static constexpr std::size_t kMostReports = 32;
  static constexpr std::size_t kMostReportRows = 200'000;  // of all reports that are kept

  /// A file that is open, as it was when it was opened.
  struct OpenFile {
    std::string asked;  // as the client calls it
    std::string path;
    std::uintmax_t bytes = 0;
    std::filesystem::file_time_type changed;
    app::PackedCapture capture;
    /// Functions by the samples of the file's own choice; null: not counted, or not to be had.
    std::unique_ptr<const app::CallSums> calls = nullptr;
    bool calls_were_counted = false;
    // Once they were asked for: of `open`, and of `summary`.
    std::optional<SummaryFigures> figures = std::nullopt;
    std::optional<SummaryFigures> figures_of_whole = std::nullopt;
  };
  using File = std::shared_ptr<OpenFile>;
  /// What was counted for a call: rows in their order, a tree, or waits.
  struct Report {
    std::string key;
    File file;
    app::HotSpots spots;
    ReportCenter center;
    std::optional<app::CallTree> tree;
    std::optional<app::WaitTable> waits;
  };
  /// A call about one file, as the program's own parser reads it.
  struct Call {
    File file;
    ToolWords words;
    CommandLine line;
  };

  Result<File> open(const std::string& asked);
  /// The calls of a file, counted now if it was not before; null where there is none.
  static const app::CallSums* calls_of(OpenFile& file);
  /// Counts what a call of top, callers or callees asks for.
  static Status count_report(const Call& call, const ReportArguments& arguments, Report& report);
  McpAnswer list_files();
  McpAnswer summarize(const std::string& file, bool whole);
  McpAnswer report(const ToolWords& words);
  McpAnswer show(const ToolWords& words);
  McpAnswer diff(const ToolWords& words);
  McpAnswer waits(const ToolWords& words);
  McpAnswer page(const ToolWords& words);
  [[nodiscard]] McpAnswer answer_of(std::string text, bool is_object,
                                    std::vector<std::string> command) const;
  [[nodiscard]] McpAnswer not_opened(const std::string& asked, const Error& error) const;
  /// Opens the file and reads the words of a call. What is wrong with it; nothing: it is good.
  std::optional<McpAnswer> read_call(const ToolWords& given, std::string_view rows_option,
                                     Call& call);
  /// What was counted for the same words before, or what `count` fills in now.
  Result<std::shared_ptr<const Report>> counted(const Call& call,
                                                const std::function<Status(Report&)>& count);
  /// Whether a command has to be told to leave the names of a capture as they are here.
  [[nodiscard]] bool says_no_symbols(const OpenFile& file) const {
    return !arguments_.symbolize && !redaction_ && file.capture.is_made();
  }
  void keep(std::shared_ptr<const Report> report);
  static std::size_t rows_of(const Report& report);

  McpArguments arguments_;
  app::AllowedFolders folders_;
  std::optional<app::RedactOptions> redaction_;
  const Messages& messages_;
  std::deque<File> files_;  // used last: first
  std::list<std::shared_ptr<const Report>> reports_;
};

}  // namespace stackpack::cli
