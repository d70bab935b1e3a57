#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bytes/quoted.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/suggestion.h"

namespace stackpack::cli {

namespace {

struct Topic {
  std::string_view name;
  std::string_view text;
};

constexpr std::string_view kTopics =
    R"(Topics of `stackpack help`:
  COMMAND              the help of a command
  format               what a .spk file is
  losses               what was lost, and how you get to know
  exit-codes           what the exit status means
  completions SHELL    completions for bash, zsh or fish, on standard output
  man                  the man page, on standard output
)";

constexpr std::string_view kFormat =
    R"(A .spk file holds the callstacks of a capture, the samples that saw them, and the processes,
threads, modules and events which give them meaning.

  Callstacks share what they have in common: they are paths in a tree whose nodes are stored once.
  Equal callstacks have one id; ids are 0, 1, 2, ... in a canonical order.
  Samples keep their time, thread, cpu, event and weight, column by column.
  Every byte is covered by a checksum: `stackpack verify` reads all of them.
  The file is a sequence of zstd frames: `zstd -t FILE.spk` passes, too.
  Same capture and options give the same bytes, on any machine, with any number of threads.

docs/format.md of the source specifies every byte. Stack memory and registers of a capture never
get into a .spk file.
)";

constexpr std::string_view kLosses =
    R"(Nothing is dropped silently. What is missing has a counter with a name, and the offset in the
capture where it happened first:

  recorder_lost_events     the recorder says that it lost events
  recorder_lost_samples    the recorder says that it lost samples (in perf: the same losses counted
                           twice, so the two are never added)
  recorder_lost_buffers    ETW: whole buffers were lost
  others                   damage in the file, by cause
  ..._not_kept.NAME        notices: fields, records and events that the capture has and a .spk file
                           does not keep

`convert` prints one warning line for each that is no notice, `stats` and `dump --losses` list all
of them, and they are part of the .spk file. `convert --strict` ends with status 3 when there are any
but notices; the output is written all the same.
)";

constexpr std::string_view kExitCodes =
    R"(Exit status:
  0    success
  1    the command line makes no sense
  2    the input or file is bad; nothing useful was written
  3    converted, but with losses or damage and --strict was given; or a --check or --fail-if failed
  4    an input/output error of ours: disk full, permission, out of memory
  70   an internal error
A batch goes on after a bad input and ends with the highest status of its inputs. An interrupted
run ends by the signal (128 + its number in most shells).
)";

constexpr std::array kAll = {
    Topic{"topics", kTopics},
    Topic{"format", kFormat},
    Topic{"losses", kLosses},
    Topic{"exit-codes", kExitCodes},
};

// The text of `stackpack help TOPIC`; empty for an unknown topic.
std::string_view topic_text(std::string_view topic) {
  for (const Topic& known : kAll) {
    if (known.name == topic) {
      return known.text;
    }
  }
  return {};
}

std::vector<std::string> topic_names() {
  std::vector<std::string> names = {"completions", "man"};
  for (const Topic& topic : kAll) {
    names.emplace_back(topic.name);
  }
  return names;
}

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
  const std::string_view answer = command_for(word);
  std::string meant = answer.empty() ? did_you_mean(word, known) : fmt::format("; {}", answer);
  if (meant.empty()) {
    meant = fmt::format("; there are all commands, and {}", fmt::join(topic_names(), ", "));
  }
  messages.error("", fmt::format("help: no topic {}{}", bytes::quoted(word), meant));
  return kExitUsage;
}

}  // namespace stackpack::cli
