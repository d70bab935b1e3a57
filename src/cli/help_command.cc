#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/help_topics.h"
#include "cli/suggestion.h"

namespace stackpack::cli {

namespace {

int print_completions(const std::vector<std::string>& words,
                      const std::vector<CommandText>& commands, const Messages& messages) {
  const std::string shell = words.size() > 1 ? words[1] : "";
  if (shell == "bash") {
    return print(bash_completions(commands), messages);
  }
  if (shell == "zsh") {
    return print(zsh_completions(commands), messages);
  }
  if (shell == "fish") {
    return print(fish_completions(commands), messages);
  }
  messages.error("help completions", "name a shell: bash, zsh or fish");
  return kExitUsage;
}

}  // namespace

int run_help(const HelpArguments& arguments, const std::vector<CommandText>& commands,
             const Messages& messages) {
  if (arguments.topic.empty()) {
    return print(overview_help(commands), messages);
  }
  const std::string& word = arguments.topic.front();
  for (const CommandText& command : commands) {
    if (command.name == word) {
      return print(command_help(command), messages);
    }
  }
  if (word == "man") {
    return print(man_page(commands), messages);
  }
  if (word == "completions") {
    return print_completions(arguments.topic, commands, messages);
  }
  const std::string_view text = topic_text(word);
  if (!text.empty()) {
    return print(std::string(text), messages);
  }
  std::vector<std::string> known = topic_names();
  for (const CommandText& command : commands) {
    known.push_back(command.name);
  }
  messages.error("", fmt::format("help: no topic '{}'{}", word, did_you_mean(word, known)));
  return kExitUsage;
}

}  // namespace stackpack::cli
