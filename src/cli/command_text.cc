#include "cli/command_text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stackpack::cli {

namespace {

constexpr std::size_t kLineWidth = 80;
constexpr std::size_t kTextColumn = 30;

// Adds words to the last line, breaking it before the width is passed.
void append_wrapped(std::string& out, std::string_view text, std::size_t indent) {
  std::size_t column =
      out.size() - (out.rfind('\n') == std::string::npos ? 0 : out.rfind('\n') + 1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (column > indent && column + 1 + word.size() > kLineWidth) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  out += '\n';
}

// A command for a shell: too long a line goes on after a backslash, at a blank outside of quotes.
void append_shell_command(std::string& out, std::string_view command) {
  constexpr std::string_view kGoesOn = " \\";
  std::size_t room = kLineWidth - 2 - kGoesOn.size();
  out.append(2, ' ');
  std::size_t begin = 0;
  std::size_t blank = 0;
  char quote = '\0';
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (i - begin > room && blank > begin) {
      out.append(command.substr(begin, blank - begin)).append(kGoesOn).append("\n      ");
      begin = blank + 1;
      room = kLineWidth - 6 - kGoesOn.size();
    }
    if (c == '\'' || c == '"') {
      quote = quote == '\0' ? c : quote == c ? '\0' : quote;
    }
    blank = c == ' ' && quote == '\0' ? i : blank;
  }
  out.append(command.substr(begin)).append("\n");
}

std::string title_of(const OptionText& option) {
  std::string title =
      option.positional() ? option.value : fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.positional() && !option.value.empty()) {
    title += ' ' + option.value;
  }
  return title;
}

// Words of a choice that do not fit into a line go on in the next one.
void append_choices(std::string& out, std::string_view title) {
  constexpr std::size_t kIndent = 10;
  std::size_t room = kLineWidth;
  while (title.size() > room) {
    const std::size_t last = title.rfind('|', room - 1);
    if (last == std::string_view::npos) {
      break;
    }
    out.append(title.substr(0, last + 1)).append("\n").append(kIndent, ' ');
    title.remove_prefix(last + 1);
    room = kLineWidth - kIndent;
  }
  out.append(title).append("\n");
}

void append_option(std::string& out, const OptionText& option) {
  // Long options without a short one stand under the long ones above.
  const bool indented = !option.positional() && option.names.front().starts_with("--");
  std::string line = (indented ? "      " : "  ") + title_of(option);
  if (line.size() + 2 > kTextColumn) {
    append_choices(out, line);
    out.append(kTextColumn, ' ');
  } else {
    line.resize(kTextColumn, ' ');
    out += line;
  }
  const std::string preset =
      option.preset.empty() ? std::string() : fmt::format(" [default: {}]", option.preset);
  append_wrapped(out, option.text + preset, kTextColumn);
}

}  // namespace

std::vector<std::string> OptionText::choices() const {
  std::vector<std::string> words;
  if (value.find('|') == std::string::npos) {
    return words;
  }
  std::size_t begin = 0;
  while (begin <= value.size()) {
    const std::size_t end = std::min(value.find('|', begin), value.size());
    words.push_back(value.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string command_help(const CommandText& command) {
  std::string out;
  append_wrapped(out, fmt::format("stackpack {}: {}", command.name, command.summary), 2);
  out += "\nUsage:\n";
  for (const std::string& usage : command.usage) {
    out += "  ";
    append_wrapped(out, "stackpack " + usage, 6);
  }
  std::string group;
  for (const OptionText& option : command.options) {
    const std::string title = option.positional() ? "Arguments" : option.group;
    if (title != group) {
      out += fmt::format("\n{}:\n", title);
      group = title;
    }
    append_option(out, option);
  }
  if (!command.examples.empty()) {
    out += "\nExamples:\n";
    for (const ExampleText& example : command.examples) {
      out += "  # ";
      append_wrapped(out, example.text, 4);
      append_shell_command(out, example.command);
    }
  }
  if (!command.notes.empty()) {
    out += '\n';
    std::string_view rest = command.notes;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      append_wrapped(out, rest.substr(0, end), 0);
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
  }
  return out;
}

std::string overview_help(const std::vector<CommandText>& commands) {
  std::string out =
      "stackpack: packs profiler captures into compact, checksummed callstack databases\n\n"
      "Usage:\n  stackpack COMMAND [ARGUMENTS]\n\nCommands:\n";
  for (const CommandText& command : commands) {
    out += fmt::format("  {:<12}", command.name);
    append_wrapped(out, command.summary, 14);
  }
  out +=
      "\nOptions:\n"
      "  -h, --help     this text; after a command, that command's help\n"
      "  -V, --version  versions of the program, the file format and the libraries\n"
      "\nExamples:\n"
      "  # pack a capture, look at what came out\n"
      "  stackpack convert perf.data -o out.spk\n"
      "  stackpack stats out.spk\n"
      "  # every distinct callstack with its number of samples\n"
      "  stackpack dump --stacks out.spk\n"
      "\nMore: stackpack COMMAND --help, stackpack help topics\n";
  return out;
}

}  // namespace stackpack::cli
