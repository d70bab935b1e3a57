#pragma once

#include <string>
#include <vector>

#include "cli/option_rows.h"

namespace stackpack::cli {

/// What became of the words after a command.
struct OptionsParsed {
  enum class Kind {
    kDone,        ///< the rows have taken their values
    kScreen,      ///< -h is among them
    kHelp,        ///< --help is among them
    kUsageError,  ///< `text` says what is wrong, without the command's name
  };
  Kind kind = Kind::kDone;
  std::string text;
  std::vector<std::string> filters{};  ///< that were given, as words: --pid=7
  bool has_standard_input = false;     ///< '-' is among the arguments
};

/// Parses what follows the command's name and hands the values to its rows, in the order of the
/// rows.
OptionsParsed parse_options(const CommandRow& command, std::vector<std::string> words);

}  // namespace stackpack::cli
