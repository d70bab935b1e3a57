#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/mcp/allowed_folders.h"
#include "app/redact/redact.h"
#include "cli/arguments.h"
#include "cli/command_line.h"
#include "cli/mcp/mcp_file.h"
#include "cli/mcp/tool_table.h"
#include "cli/messages.h"
#include "core/task_line.h"

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
        messages_(messages),
        line_(std::make_unique<core::TaskLine>(
            kEarlyThreads,
            [](unsigned, core::TaskLine::Task& task) { return McpFile::run_early(task); })) {}

  McpAnswer call(const Tool& tool, const ToolWords& words);

 private:
  static constexpr std::size_t kMostFiles = 8;
  static constexpr unsigned kEarlyThreads = 2;
  static constexpr std::size_t kMostReports = 32;
  static constexpr std::size_t kMostReportRows = 200'000;  // of all reports that are kept

  using File = std::shared_ptr<McpFile>;
  struct Kept {
    std::string key;
    File file;
    std::shared_ptr<const McpReport> report;
  };
  /// A call about one file, as the program's own parser reads it.
  struct Call {
    File file;
    ToolWords words;
    CommandLine line;
  };

  Result<File> open(const std::string& asked);
  McpAnswer list_files();
  McpAnswer summarize(const std::string& file, bool whole);
  McpAnswer report(const ToolWords& words);
  McpAnswer show(const ToolWords& words);
  std::optional<McpAnswer> open_sides(ToolWords& words, std::vector<File>& files);
  McpAnswer diff(const ToolWords& words);
  McpAnswer waits(const ToolWords& words);
  McpAnswer event_report(const ToolWords& words);
  McpAnswer page(const ToolWords& words);
  [[nodiscard]] McpAnswer answer_of(std::string text, bool is_object,
                                    std::vector<std::string> command) const;
  [[nodiscard]] McpAnswer not_opened(const std::string& asked, const Error& error) const;
  /// Opens the file and reads the words of a call. What is wrong with it; nothing: it is good.
  std::optional<McpAnswer> read_call(const ToolWords& given, std::string_view rows_option,
                                     Call& call);
  /// What was counted for the same words before, or what `count` fills in now.
  Result<std::shared_ptr<const McpReport>> counted(const Call& call,
                                                   const std::function<Status(McpReport&)>& count);
  /// Tells a command about captures where their names are from.
  void say_naming(std::span<const File> files, ToolWords& words) const;
  void keep(Kept kept);

  McpArguments arguments_;
  app::AllowedFolders folders_;
  std::optional<app::RedactOptions> redaction_;
  const Messages& messages_;
  std::unique_ptr<core::TaskLine> line_;  // files give it tasks: it goes after them
  std::deque<File> files_;                // used last: first
  std::vector<FormatTried> tried_;        // of the latest file that was not opened
  std::list<Kept> reports_;
};

}  // namespace stackpack::cli
