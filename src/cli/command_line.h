#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/command_text.h"

namespace stackpack::cli {

enum class Command {
  kConvert,
  kStats,
  kDump,
  kShow,
  kTop,
  kCallers,
  kCallees,
  kExport,
  kVerify,
  kHelp
};

/// A command with its arguments; those of the other commands have no meaning.
struct Invocation {
  Command command = Command::kHelp;
  ConvertArguments convert;
  StatsArguments stats;
  DumpArguments dump;
  ShowArguments show;
  ReportArguments report;
  ExportArguments exporting;
  VerifyArguments verify;
  HelpArguments help;
};

/// What is to be done: run the invocation, print a help text, or complain.
struct Parsed {
  enum class Kind { kRun, kHelp, kUsageError };
  Kind kind = Kind::kRun;
  std::string text;  ///< of kHelp: for standard output; of kUsageError: one line without its end
};

struct CommandDefinitions;

/// Reads the command line, and tells what there is to write on it.
class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  /// Fills invocation(). `arguments`: without the program's name. Call it once.
  Parsed parse(std::vector<std::string> arguments);

  [[nodiscard]] const Invocation& invocation() const;
  [[nodiscard]] std::vector<CommandText> describe() const;

 private:
  std::unique_ptr<CommandDefinitions> definitions_;
};

}  // namespace stackpack::cli
