#include "cli/next_commands.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/listing/function_ids.h"
#include "cli/shell_word.h"

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

// Whether a shell, a terminal and the reports take the name as it is.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; }) &&
         name.find_first_of("\\'") == std::string_view::npos;
}

std::string_view grain_word(HotSpotKind by) {
  switch (by) {
    case HotSpotKind::kModule:
      return "--by=module";
    case HotSpotKind::kLine:
      return "--by=line";
    case HotSpotKind::kFile:
      return "--by=file";
    case HotSpotKind::kProcess:
      return "--by=process";
    case HotSpotKind::kThread:
      return "--by=thread";
    case HotSpotKind::kComm:
      return "--by=comm";
    case HotSpotKind::kEvent:
      return "--by=event";
    case HotSpotKind::kCallstack:
      return "--by=callstack";
    case HotSpotKind::kSource:
      return "--by=source";
    case HotSpotKind::kType:
      return "--by=type";
    case HotSpotKind::kWaker:
      return "--by=waker";
    case HotSpotKind::kReason:
      return "--by=reason";
    case HotSpotKind::kPackage:
      return "--by=package";
    case HotSpotKind::kControlGroup:
      return "--by=cgroup";
    case HotSpotKind::kField:
    case HotSpotKind::kFunction:
    case HotSpotKind::kUnlinedAddress:
    case HotSpotKind::kCodeAddress:
      break;
  }
  return "";
}

// What a row that is no function is a filter of.
std::string filter_of(HotSpotKind by, const std::string& name) {
  const std::string_view option = by == HotSpotKind::kModule         ? "--module"
                                  : by == HotSpotKind::kComm         ? "--comm"
                                  : by == HotSpotKind::kEvent        ? "--event"
                                  : by == HotSpotKind::kType         ? "--type"
                                  : by == HotSpotKind::kControlGroup ? "--cgroup"
                                                                     : "";
  return option.empty() || !is_plain_name(name) || name.front() == '['
             ? ""
             : fmt::format("{}={}", option, name);
}

std::string_view command_word(ReportKind kind) {
  return kind == ReportKind::kTop ? "top" : kind == ReportKind::kCallers ? "callers" : "callees";
}

}  // namespace

void NextCommands::add(std::initializer_list<std::string_view> words,
                       const std::vector<std::string>& more_words) {
  std::string command;
  const auto add_word = [&command](std::string_view word) {
    if (!word.empty()) {
      command += (command.empty() ? "" : " ") + shell_word(word);
    }
  };
  if (std::find(words.begin(), words.end(), std::string_view("-")) != words.end()) {
    return;
  }
  std::for_each(words.begin(), words.end(), add_word);
  std::for_each(more_words.begin(), more_words.end(), add_word);
  commands_.push_back(std::move(command));
}

void NextCommands::add_longer(std::initializer_list<std::string_view> words, std::size_t shown,
                              std::size_t left_out, const std::vector<std::string>& more_words) {
  if (left_out != 0) {
    std::vector<std::string> more = more_words;
    more.push_back(
        fmt::format("--limit={}", shown + std::min(left_out, std::max<std::size_t>(shown, 1))));
    add(words, more);
  }
}

void NextCommands::write(JsonText& json) const {
  json.key("next");
  json.begin_array();
  for (const std::string& command : commands_) {
    json.value(command);
  }
  json.end_array();
}

NextCommands next_of_file(const std::string& file) {
  NextCommands next;
  next.add({"top", file});
  next.add({"stats", file});
  return next;
}

std::string function_word(const HotSpot& row, const std::vector<HotSpot>& rows) {
  const bool unique = std::none_of(rows.begin(), rows.end(), [&row](const HotSpot& other) {
    return other.name == row.name && other.module != row.module;
  });
  return unique && is_plain_name(row.name) ? row.name
                                           : "id:" + app::function_id(row.name, row.module);
}

NextCommands next_commands(const ReportArguments& arguments, const std::vector<HotSpot>& rows,
                           std::size_t left_out, bool shortened) {
  NextCommands next;
  if (arguments.files.size() != 1) {
    return next;
  }
  const std::string& file = arguments.files.front();
  const std::vector<std::string>& filters = arguments.filter_words;
  const HotSpot* const row = first_function(rows);
  const bool top = arguments.kind == ReportKind::kTop;
  const HotSpotKind by = arguments.query.by;
  const bool of_functions = !top || by == HotSpotKind::kFunction || by == HotSpotKind::kLine;
  if (row != nullptr && of_functions) {
    const std::string name =
        shortened ? "id:" + app::function_id(row->name, row->module) : function_word(*row, rows);
    if (arguments.kind != ReportKind::kCallees) {
      next.add({"callers", file, name}, filters);
    }
    if (arguments.kind != ReportKind::kCallers) {
      next.add({"callees", file, name}, filters);
    }
    if (by != HotSpotKind::kLine) {
      next.add({"top", file, "--by=line", "--only=" + name}, filters);
    }
  } else if (!rows.empty() && by == HotSpotKind::kCallstack && rows.front().stack) {
    next.add({"show", file, std::to_string(*rows.front().stack)});
  } else if (!rows.empty()) {
    if (const std::string filter = filter_of(by, rows.front().name); !filter.empty()) {
      next.add({"top", file, filter}, filters);
    }
  }
  const std::string grain = by == HotSpotKind::kField ? "--by=field:" + arguments.query.field
                                                      : std::string(grain_word(by));
  const std::string only = arguments.only.empty() ? "" : "--only=" + arguments.only;
  next.add_longer({command_word(arguments.kind), file, arguments.function, grain, only,
                   arguments.tree ? "--tree" : ""},
                  rows.size(), left_out, filters);
  return next;
}

}  // namespace stackpack::cli
