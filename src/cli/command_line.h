#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command_text.h"
#include "cli/invocation.h"

namespace stackpack::cli {

/// What is to be done: run the invocation, print a help text, or complain.
struct Parsed {
  enum class Kind { kRun, kHelp, kUsageError };
  Kind kind = Kind::kRun;
  std::string text;  ///< of kHelp: for standard output; of kUsageError: one line without its end
  bool has_standard_input = false;  ///< '-' is among the inputs
};

struct CommandDefinitions;

/// Reads the command line, and describes what can be written on it.
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
  std::string conflict();

  std::unique_ptr<CommandDefinitions> definitions_;
};

}  // namespace stackpack::cli
