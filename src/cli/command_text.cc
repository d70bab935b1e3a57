#include "cli/command_text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stackpack::cli {

namespace {

constexpr std::size_t kLineWidth = 96;
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

std::string title_of(const OptionText& option) {
  std::string title =
      option.positional() ? option.value : fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.positional() && !option.value.empty()) {
    title += ' ' + option.value;
  }
  return title;
}

void append_option(std::string& out, const OptionText& option) {
  // Long options without a short one stand under the long ones above.
  const bool indented = !option.positional() && option.names.front().starts_with("--");
  std::string line = (indented ? "      " : "  ") + title_of(option);
  if (line.size() + 2 > kTextColumn) {
    out += line + '\n';
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
  std::string out = fmt::format("stackpack {}: {}\n\nUsage:\n", command.name, command.summary);
  for (const std::string& usage : command.usage) {
    out += fmt::format("  stackpack {}\n", usage);
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
      out += fmt::format("  # {}\n  {}\n", example.text, example.command);
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
    out += fmt::format("  {:<12}{}\n", command.name, command.summary);
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
