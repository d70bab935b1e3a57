// Shell completions, made of the definitions of the command line.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command_text.h"

namespace stackpack::cli {

namespace {

std::vector<std::string> option_names(const CommandText& command) {
  std::vector<std::string> names;
  for (const OptionText& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<std::string> command_names(const std::vector<CommandText>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CommandText& command : commands) {
    names.push_back(command.name);
  }
  return names;
}

bool wants_directory(const OptionText& option) {
  return option.value == "DIR";
}

bool wants_file(const OptionText& option) {
  return option.value.find("FILE") != std::string::npos ||
         option.value.find("INPUT") != std::string::npos ||
         option.value.find("LIST") != std::string::npos;
}

// The words after an option in bash: its choices, directories, files, or nothing.
std::string bash_words(const OptionText& option) {
  if (const std::vector<std::string> choices = option.choices(); !choices.empty()) {
    return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", fmt::join(choices, " "));
  }
  if (wants_directory(option)) {
    return "COMPREPLY=($(compgen -d -- \"$word\"))";
  }
  return wants_file(option) ? "COMPREPLY=($(compgen -f -- \"$word\"))" : "COMPREPLY=()";
}

std::string single_quoted(std::string_view text, std::string_view quote_escape) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\'') {
      out += quote_escape;
    } else {
      out += letter;
    }
  }
  return out;
}

// In an _arguments specification brackets and colons mean something.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char letter : single_quoted(text, "'\\''")) {
    if (letter == '[' || letter == ']' || letter == ':') {
      out += '\\';
    }
    out += letter;
  }
  return out;
}

std::string zsh_action(const OptionText& option) {
  if (const std::vector<std::string> choices = option.choices(); !choices.empty()) {
    return fmt::format("({})", fmt::join(choices, " "));
  }
  if (wants_directory(option)) {
    return "_directories";
  }
  return wants_file(option) ? "_files" : "";
}

}  // namespace

std::string bash_completions(const std::vector<CommandText>& commands) {
  std::string out = fmt::format(
      "# bash completion for stackpack; made by: stackpack help completions bash\n"
      "_stackpack() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n",
      fmt::join(command_names(commands), " "));
  for (const CommandText& command : commands) {
    out += fmt::format("    {})\n      case $before in\n", command.name);
    for (const OptionText& option : command.options) {
      if (!option.positional() && !option.value.empty()) {
        out += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, "|"),
                           bash_words(option));
      }
    }
    out += fmt::format(
        "      esac\n"
        "      if [[ $word == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n",
        fmt::join(option_names(command), " "));
    if (command.name == "help") {
      out += fmt::format(
          "      else\n        COMPREPLY=($(compgen -W '{} format losses exit-codes completions "
          "man "
          "topics' -- \"$word\"))\n",
          fmt::join(command_names(commands), " "));
    } else {
      out += "      else\n        COMPREPLY=($(compgen -f -- \"$word\"))\n";
    }
    out += "      fi\n      ;;\n";
  }
  out += "  esac\n}\ncomplete -o filenames -F _stackpack stackpack\n";
  return out;
}

std::string zsh_completions(const std::vector<CommandText>& commands) {
  std::string out =
      "#compdef stackpack\n# made by: stackpack help completions zsh\n"
      "_stackpack() {\n  local -a commands\n  commands=(\n";
  for (const CommandText& command : commands) {
    out += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.summary));
  }
  out +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
      "  local chosen=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $chosen in\n";
  for (const CommandText& command : commands) {
    out += fmt::format("    {})\n      _arguments -S", command.name);
    for (const OptionText& option : command.options) {
      for (const std::string& name : option.names) {
        out += fmt::format(" \\\n        '{}[{}]{}'", name, zsh_text(option.text),
                           option.value.empty()
                               ? std::string()
                               : fmt::format(":{}:{}", zsh_text(option.value), zsh_action(option)));
      }
    }
    out += " \\\n        '*:file:_files'\n      ;;\n";
  }
  out += "  esac\n}\n_stackpack \"$@\"\n";
  return out;
}

std::string fish_completions(const std::vector<CommandText>& commands) {
  std::string out = "# fish completion for stackpack; made by: stackpack help completions fish\n";
  for (const CommandText& command : commands) {
    out += fmt::format("complete -c stackpack -f -n __fish_use_subcommand -a {} -d '{}'\n",
                       command.name, single_quoted(command.summary, "\\'"));
    for (const OptionText& option : command.options) {
      if (option.positional()) {
        continue;
      }
      out += fmt::format("complete -c stackpack -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.names) {
        out += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                      : fmt::format(" -s {}", name.substr(1));
      }
      if (const std::vector<std::string> choices = option.choices(); !choices.empty()) {
        out += fmt::format(" -x -a '{}'", fmt::join(choices, " "));
      } else if (!option.value.empty()) {
        out += wants_file(option) || wants_directory(option) ? " -r" : " -x";
      }
      out += fmt::format(" -d '{}'\n", single_quoted(option.text, "\\'"));
    }
  }
  return out;
}

}  // namespace stackpack::cli
