// What each command is called and what its options mean, as plain data: --help, the man page and
// the shell completions are all made of this, and this is made of the definitions the parser uses.
#pragma once

#include <string>
#include <vector>

namespace stackpack::cli {

struct OptionText {
  std::vector<std::string> names;  ///< -o, --output; empty for a positional argument
  std::string value;               ///< what follows: FILE, SIZE, auto|perf|etl; empty for a flag
  std::string text;
  std::string group;
  std::string preset;  ///< the default, empty when there is none worth telling

  [[nodiscard]] bool positional() const { return names.empty(); }
  /// The words of a value of the form a|b|c; empty for any other.
  [[nodiscard]] std::vector<std::string> choices() const;
};

struct ExampleText {
  std::string text;
  std::string command;
};

struct CommandText {
  std::string name;
  std::string summary;
  std::vector<std::string> usage;
  std::vector<OptionText> options;  ///< positional arguments first
  std::vector<ExampleText> examples;
  std::string notes;  ///< paragraphs, separated by empty lines
};

/// Help of one command for a terminal: all of it.
std::string command_help(const CommandText& command);

/// The same on one screen of 25 lines: the ten options that people use most, an example.
std::string command_screen(const CommandText& command);

/// Help of the program: its commands.
std::string overview_help(const std::vector<CommandText>& commands);

/// The same on one screen: the commands that people use most.
std::string overview_screen(const std::vector<CommandText>& commands);

/// The man page, as roff.
std::string man_page(const std::vector<CommandText>& commands);

/// Completions. Options, their fixed values, commands; files where a file is wanted.
std::string bash_completions(const std::vector<CommandText>& commands);
std::string zsh_completions(const std::vector<CommandText>& commands);
std::string fish_completions(const std::vector<CommandText>& commands);

}  // namespace stackpack::cli
