#include "cli/next_commands.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/first_look.h"

namespace stackpack::cli {

namespace {

using app::HotSpot;
using app::HotSpotKind;

// The first row that is a function with a name: `[libc.so.6]`, `[root]` and `[self]` are none.
const HotSpot* first_function(const std::vector<HotSpot>& rows) {
  const auto found = std::find_if(rows.begin(), rows.end(), [](const HotSpot& row) {
    return !row.name.empty() && row.name.front() != '[';
  });
  return found == rows.end() ? nullptr : &*found;
}

std::string row_option(const ReportArguments& arguments, std::size_t left_out) {
  const std::size_t more = std::min(left_out, std::max<std::size_t>(arguments.rows, 1));
  return fmt::format("-n {}", arguments.rows + more);
}

std::string_view grain_word(HotSpotKind by) {
  switch (by) {
    case HotSpotKind::kModule:
      return " --by module";
    case HotSpotKind::kLine:
      return " --by line";
    case HotSpotKind::kFile:
      return " --by file";
    case HotSpotKind::kProcess:
      return " --by process";
    case HotSpotKind::kThread:
      return " --by thread";
    case HotSpotKind::kComm:
      return " --by comm";
    case HotSpotKind::kEvent:
      return " --by event";
    case HotSpotKind::kCallstack:
      return " --by callstack";
    case HotSpotKind::kSource:
      return " --by source";
    case HotSpotKind::kType:
      return " --by type";
    case HotSpotKind::kWaker:
      return " --by waker";
    case HotSpotKind::kReason:
      return " --by reason";
    case HotSpotKind::kPackage:
      return " --by package";
    case HotSpotKind::kControlGroup:
      return " --by cgroup";
    case HotSpotKind::kField:
    case HotSpotKind::kFunction:
    case HotSpotKind::kUnlinedAddress:
    case HotSpotKind::kCodeAddress:
      break;
  }
  return "";
}

// What a row that is no function is a filter of.
std::string filtered_top(const std::string& file, HotSpotKind by, const std::string& name) {
  const std::string_view option = by == HotSpotKind::kModule         ? "--module"
                                  : by == HotSpotKind::kComm         ? "--comm"
                                  : by == HotSpotKind::kEvent        ? "--event"
                                  : by == HotSpotKind::kType         ? "--type"
                                  : by == HotSpotKind::kControlGroup ? "--cgroup"
                                                                     : "";
  return option.empty() || name.empty() || name.front() == '['
             ? ""
             : fmt::format("top {} {} {}", file, option, shell_word(name));
}

}  // namespace

std::vector<std::string> next_commands(const ReportArguments& arguments,
                                       const std::vector<HotSpot>& rows, std::size_t left_out) {
  std::vector<std::string> commands;
  if (arguments.files.size() != 1) {
    return commands;
  }
  const std::string file = shell_word(arguments.files.front());
  const HotSpot* const row = first_function(rows);
  const bool top = arguments.kind == ReportKind::kTop;
  const HotSpotKind by = arguments.query.by;
  if (row != nullptr && (!top || by == HotSpotKind::kFunction || by == HotSpotKind::kLine)) {
    const std::string name = shell_word(row->name);
    if (arguments.kind != ReportKind::kCallees) {
      commands.push_back(fmt::format("callers {} {}", file, name));
    }
    if (arguments.kind != ReportKind::kCallers) {
      commands.push_back(fmt::format("callees {} {}", file, name));
    }
    if (by != HotSpotKind::kLine) {
      commands.push_back(fmt::format("top {} --by line --only {}", file, name));
    }
  } else if (!rows.empty()) {
    if (std::string command = filtered_top(file, by, rows.front().name); !command.empty()) {
      commands.push_back(std::move(command));
    }
  }
  if (left_out != 0 && top) {
    commands.push_back(fmt::format("top {}{}{} {}", file, grain_word(by),
                                   arguments.tree ? " --tree" : "",
                                   row_option(arguments, left_out)));
  } else if (left_out != 0) {
    commands.push_back(
        fmt::format("{} {} {} {}", arguments.kind == ReportKind::kCallers ? "callers" : "callees",
                    file, shell_word(arguments.function), row_option(arguments, left_out)));
  }
  return commands;
}

}  // namespace stackpack::cli
