#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/trend/baseline_folder.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/json_text.h"
#include "cli/next_commands.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

int explain_baseline(const std::string& file, const std::string& folder, Error error,
                     const Messages& messages) {
  const bool output = error.part == kOutputPart;
  error.part = kMainPart;
  if (output) {
    messages.error(folder, error);
  } else {
    explain_not_packed(file, error, messages);
  }
  return exit_code_of(error);
}

NextCommands next_of_folder(const std::string& folder) {
  NextCommands next;
  next.add({"baseline", "show", folder});
  next.add({"trend", folder});
  return next;
}

int add_runs(const BaselineArguments& arguments, const Messages& messages) {
  int exit_code = kExitSuccess;
  std::size_t added = 0;
  std::size_t there = 0;
  for (const std::string& file : arguments.files) {
    const auto addition = app::add_baseline(arguments.folder, arguments.commit, file);
    if (!addition) {
      exit_code =
          std::max(exit_code, explain_baseline(file, arguments.folder, addition.error(), messages));
      continue;
    }
    ++(*addition == app::BaselineAddition::kAdded ? added : there);
  }
  if (arguments.json) {
    std::string text;
    JsonText json(text);
    json.begin_object();
    json.field("folder", arguments.folder);
    json.field("commit", arguments.commit);
    json.field("added", added);
    json.field("there_already", there);
    json.field("failed", arguments.files.size() - added - there);
    next_of_folder(arguments.folder).write(json);
    json.end_object();
    return std::max(exit_code, print(text + '\n', messages));
  }
  if (!arguments.quiet) {
    messages.plain(fmt::format("{}: {} of {} added{}", arguments.folder, counted(added, "run"),
                               arguments.commit,
                               there == 0 ? "" : fmt::format(", {} there already", there)));
  }
  return exit_code;
}

std::uint64_t bytes_of_commit(const app::BaselineCommit& commit) {
  std::uint64_t bytes = 0;
  for (const app::BaselineRun& run : commit.runs) {
    bytes += run.bytes;
  }
  return bytes;
}

std::string baselines_json(const std::vector<app::BaselineCommit>& commits) {
  std::string out;
  JsonLines lines(out);
  for (const app::BaselineCommit& commit : commits) {
    JsonText json = lines.element();
    json.begin_object();
    json.field("number", commit.number);
    json.field("commit", commit.id);
    json.field("bytes", bytes_of_commit(commit));
    json.key("runs");
    json.begin_array();
    for (const app::BaselineRun& run : commit.runs) {
      json.value(run.path);
    }
    json.end_array();
    json.end_object();
  }
  lines.end();
  return out;
}

std::string baselines_table(const std::vector<app::BaselineCommit>& commits) {
  std::string out = fmt::format("{:>8}  {:>4}  {:>10}  commit\n", "number", "runs", "size");
  for (const app::BaselineCommit& commit : commits) {
    out += fmt::format("{:>8}  {:>4}  {:>10}  {}\n", commit.number, commit.runs.size(),
                       human_bytes(bytes_of_commit(commit)), commit.id);
  }
  return out;
}

int show_baselines(const BaselineArguments& arguments, const Messages& messages) {
  const auto commits = app::read_baselines(arguments.folder);
  if (!commits) {
    return explain_baseline(arguments.folder, arguments.folder, commits.error(), messages);
  }
  return print(arguments.json ? baselines_json(*commits) : baselines_table(*commits), messages);
}

int prune_runs(const BaselineArguments& arguments, const Messages& messages) {
  const auto pruned = app::prune_baselines(arguments.folder, *arguments.keep);
  if (!pruned) {
    return explain_baseline(arguments.folder, arguments.folder, pruned.error(), messages);
  }
  for (const std::string& path : pruned->kept) {
    messages.warning(path, "left alone: it is not what `baseline add` has written");
  }
  if (arguments.json) {
    std::string text;
    JsonText json(text);
    json.begin_object();
    json.field("folder", arguments.folder);
    const auto write_paths = [&json](std::string_view key, const std::vector<std::string>& paths) {
      json.key(key);
      json.begin_array();
      for (const std::string& path : paths) {
        json.value(path);
      }
      json.end_array();
    };
    write_paths("removed", pruned->removed);
    write_paths("left_alone", pruned->kept);
    next_of_folder(arguments.folder).write(json);
    json.end_object();
    return std::max<int>(pruned->kept.empty() ? kExitSuccess : kExitLossy,
                         print(text + '\n', messages));
  }
  if (!arguments.quiet) {
    messages.plain(
        fmt::format("{}: {} removed", arguments.folder, counted(pruned->removed.size(), "run")));
  }
  return pruned->kept.empty() ? kExitSuccess : kExitLossy;
}

}  // namespace

int run_baseline(const BaselineArguments& arguments, const Messages& messages) {
  switch (arguments.action) {
    case BaselineAction::kAdd:
      return add_runs(arguments, messages);
    case BaselineAction::kShow:
      return show_baselines(arguments, messages);
    case BaselineAction::kPrune:
      return prune_runs(arguments, messages);
  }
  return kExitInternal;
}

}  // namespace stackpack::cli
