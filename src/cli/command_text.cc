#include "cli/command_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stackpack::cli {

namespace {

constexpr std::size_t kLineWidth = 80;
constexpr std::size_t kTextColumn = 30;
constexpr std::ptrdiff_t kScreenLines = 25;

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

// What `-h` shows of a command, the most useful first: commands differ, but an option means the
// same in all of them.
constexpr std::array<std::string_view, 41> kMostUsed = {
    "--output",  "--against",   "--fail-if",    "--gate",    "--commit",       "--keep",
    "--stacks",  "--samples",   "--events",     "--losses",  "--modules",      "--by",
    "--order",   "--sort",      "--tree",       "--path",    "--list",         "--total",
    "--limit",   "--event",     "--pid",        "--thread",  "--time",         "--focus",
    "--out-dir", "--symbols",   "--json",       "--last",    "--html",         "--state",
    "--check",   "--binary",    "--unwind",     "--sources", "--keep-modules", "--key",
    "--redact",  "--recursive", "--no-samples", "--force",   "--quiet"};
constexpr std::array<std::string_view, 10> kMostUsedCommands = {
    "top", "view", "callers", "annotate", "waits", "diff", "convert", "export", "stats", "merge"};

// Where an option stands in kMostUsed; its size for one that does not.
std::size_t use_of(const OptionText& option) {
  const bool is_input = option.value.starts_with("auto|");
  if (!is_input && option.names.back() == "--format") {
    return 0;  // of exports; that of captures is rarely needed
  }
  return static_cast<std::size_t>(
      std::find(kMostUsed.begin(), kMostUsed.end(), option.names.back()) - kMostUsed.begin());
}

// The arguments and the ten options of a command that are used most, in the command's order.
std::vector<OptionText> most_used(const CommandText& command) {
  constexpr std::size_t kMost = 10;
  std::vector<std::size_t> uses;
  for (const OptionText& option : command.options) {
    if (!option.positional() && use_of(option) < kMostUsed.size()) {
      uses.push_back(use_of(option));
    }
  }
  std::sort(uses.begin(), uses.end());
  const std::size_t last = uses.size() > kMost ? uses[kMost - 1] : kMostUsed.size() - 1;
  std::vector<OptionText> shown;
  std::copy_if(command.options.begin(), command.options.end(), std::back_inserter(shown),
               [last](const OptionText& row) { return row.positional() || use_of(row) <= last; });
  return shown;
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

// An option for a screen: the first clause of its text, one word for a long choice.
void shorten(OptionText& option) {
  if (title_of(option).size() + 8 > kTextColumn) {
    const bool named = !option.value.empty() && option.value.front() < 'a';
    option.value = named ? option.value.substr(0, option.value.find('|')) : "WHAT";
  }
  option.preset.clear();
  // "html: ..." and "with --redact: ..." say nothing before their colon.
  constexpr std::size_t kSaysNothing = 15;
  option.text.resize(std::min(
      {option.text.size(), option.text.find_first_of(";("), option.text.find(':', kSaysNothing)}));
  option.text.resize(option.text.find_last_not_of(' ') + 1);
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

std::string command_screen(const CommandText& command) {
  std::string out = command_help(command);
  if (std::count(out.begin(), out.end(), '\n') <= kScreenLines) {
    return out;
  }
  out.clear();
  append_wrapped(out, fmt::format("stackpack {}: {}", command.name, command.summary), 2);
  out += "\nUsage:\n  ";
  append_wrapped(out, "stackpack " + command.usage.front(), 6);
  out += '\n';
  for (OptionText option : most_used(command)) {
    shorten(option);
    append_option(out, option);
  }
  out += "\nExample:\n";
  append_shell_command(out, command.examples.front().command);
  out += fmt::format("\nEverything: stackpack {} --help\n", command.name);
  return out;
}

namespace {

std::string overview_head() {
  return "stackpack: packs profiler captures into compact, checksummed callstack databases\n\n"
         "Usage:\n  stackpack COMMAND [ARGUMENTS]\n\nCommands:\n";
}

void append_summary(std::string& out, const CommandText& command) {
  out += fmt::format("  {:<12}", command.name);
  append_wrapped(out, command.summary, 14);
}

}  // namespace

std::string overview_screen(const std::vector<CommandText>& commands) {
  std::string out = overview_head();
  for (const std::string_view name : kMostUsedCommands) {
    append_summary(out, *std::find_if(commands.begin(), commands.end(),
                                      [name](const CommandText& row) { return row.name == name; }));
  }
  out +=
      "\nExamples:\n"
      "  # where the time of perf.data in this folder went; the same in the browser\n"
      "  stackpack top\n"
      "  stackpack view\n"
      "\nOf a command: stackpack COMMAND -h. All commands: stackpack --help\n";
  return out;
}

std::string overview_help(const std::vector<CommandText>& commands) {
  std::string out = overview_head();
  for (const CommandText& command : commands) {
    append_summary(out, command);
  }
  out +=
      "\nOptions:\n"
      "  -h, --help     help on a screen, or all of it; after a command, its help\n"
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
