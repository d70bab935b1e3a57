#include "cli/next_commands.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "app/analysis/hot_spots.h"
#include "app/console.h"
#include "app/convert/capture_probe.h"
#include "app/listing/function_titles.h"
#include "app/symbolize/name_outlook.h"
#include "cli/text_escape.h"
#include "stackpack/reader.h"

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

constexpr std::pair<HotSpotKind, std::string_view> kGrainWords[] = {
    {HotSpotKind::kModule, "--by=module"},       {HotSpotKind::kLine, "--by=line"},
    {HotSpotKind::kFile, "--by=file"},           {HotSpotKind::kProcess, "--by=process"},
    {HotSpotKind::kThread, "--by=thread"},       {HotSpotKind::kComm, "--by=comm"},
    {HotSpotKind::kPool, "--by=pool"},           {HotSpotKind::kEvent, "--by=event"},
    {HotSpotKind::kCallstack, "--by=callstack"}, {HotSpotKind::kSource, "--by=source"},
    {HotSpotKind::kType, "--by=type"},           {HotSpotKind::kWaker, "--by=waker"},
    {HotSpotKind::kReason, "--by=reason"},       {HotSpotKind::kPackage, "--by=package"},
    {HotSpotKind::kControlGroup, "--by=cgroup"},
};

// Empty: `top` shows such rows without being asked, or cannot be asked for them in one word.
std::string_view grain_word(HotSpotKind by) {
  for (const auto& [grain, word] : kGrainWords) {
    if (grain == by) {
      return word;
    }
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

namespace fs = std::filesystem;

// Empty when the error itself says all there is to say.
std::string next_step(const std::string& file, const Error& error) {
  if (error.code == ErrorCode::kNotFound && file == "-") {
    return "a .spk file is read at offsets, not from standard input; give its name";
  }
  const bool unlike = error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kTruncated ||
                      error.code == ErrorCode::kUnsupported;
  std::error_code failed;
  const fs::file_status status = fs::status(app::path_of(file), failed);
  // A pipe is left alone: what is read of it is gone.
  if (!unlike || (!fs::is_regular_file(status) && !fs::is_directory(status)) ||
      app::looks_like_packed(file)) {
    return {};
  }
  if (const Result<bool> capture = app::looks_like_capture(file); !capture) {
    return {};
  } else if (*capture) {
    return "is a capture, not a .spk file; convert it first: stackpack convert INPUT -o OUT.spk";
  }
  if (fs::is_directory(status)) {
    return "is a folder, not a .spk file; name the files in it";
  }
  if (fs::is_empty(app::path_of(file), failed)) {
    return "is empty, not a .spk file";
  }
  return "is neither a .spk file nor a capture that stackpack convert reads";
}

constexpr std::uint64_t kMostSamples = 2'000'000;  // that are counted for three names

// `checksum 41.2 %, parse 20.1 %`; empty where nothing was counted.
std::string hottest(const Reader& reader) {
  constexpr std::size_t kNames = 3;
  if (reader.statistics().samples.total > kMostSamples) {
    return {};
  }
  Result<app::HotSpots> spots = app::hot_spots(reader, {});
  if (!spots || spots->value == 0) {
    return {};
  }
  app::sort_hot_spots(spots->rows, true);
  spots->rows.resize(std::min(kNames, spots->rows.size()));
  constexpr std::size_t kWidth = 36;  // so that three are a line or two
  std::vector<app::FunctionTitle> titles;
  for (const app::HotSpot& row : spots->rows) {
    titles.push_back({row.name, {}, {}});
  }
  const std::vector<std::string> names =
      app::function_titles(titles, app::FunctionNames::kShort, kWidth);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += text.empty() ? "" : ", ";
    append_escaped(text, names[i]);
    text += fmt::format(" {:.1f} %", 100 * static_cast<double>(spots->rows[i].self) /
                                         static_cast<double>(spots->value));
  }
  return text;
}

std::string lacking(const Reader& reader, const std::string& capture) {
  const app::NameOutlook outlook = app::name_outlook(reader, capture);
  if (outlook.images == 0) {
    return {};
  }
  std::string text = fmt::format("no function names yet; -s adds them: files of {} of {} images",
                                 outlook.found, outlook.images);
  if (outlook.share) {
    text += fmt::format(", with {:.0f} % of the samples,", 100 * *outlook.share);
  }
  return text + " are here";
}

// What goes deeper from a report in which a function stands.
void add_of_function(const ReportArguments& arguments, const std::string& name,
                     NextCommands& next) {
  const std::string& file = arguments.files.front();
  const std::vector<std::string>& filters = arguments.filter_words;
  if (arguments.kind != ReportKind::kCallees) {
    next.add({"callers", file, name}, filters);
  }
  if (arguments.kind != ReportKind::kCallers) {
    next.add({"callees", file, name}, filters);
  }
  if (arguments.query.by != HotSpotKind::kLine) {
    next.add({"top", file, "--by=line", "--only=" + name}, filters);
  }
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
  const HotSpotKind by = arguments.query.by;
  const bool of_functions = arguments.kind != ReportKind::kTop || by == HotSpotKind::kFunction ||
                            by == HotSpotKind::kLine;
  if (row != nullptr && of_functions) {
    add_of_function(
        arguments,
        shortened ? "id:" + app::function_id(row->name, row->module) : function_word(*row, rows),
        next);
  } else if (!rows.empty() && by == HotSpotKind::kCallstack && rows.front().stack) {
    next.add({"show", file, std::to_string(*rows.front().stack)});
  } else if (!rows.empty()) {
    const bool is_label = by == HotSpotKind::kField && arguments.query.is_label;
    const std::string& name = rows.front().name;
    const std::string filter =
        !is_label ? filter_of(by, name)
        : is_plain_name(name) && is_plain_name(arguments.query.field) && name.front() != '['
            ? fmt::format("--label={}={}", arguments.query.field, name)
            : std::string();
    if (!filter.empty()) {
      next.add({"top", file, filter}, filters);
    }
  }
  const std::string grain =
      by == HotSpotKind::kField
          ? (arguments.query.is_label ? "--by=label:" : "--by=field:") + arguments.query.field
          : std::string(grain_word(by));
  const std::string only = arguments.only.empty() ? "" : "--only=" + arguments.only;
  next.add_longer({command_word(arguments.kind), file, arguments.function, grain, only,
                   arguments.tree ? "--tree" : ""},
                  rows.size(), left_out, filters);
  return next;
}

void explain_not_packed(const std::string& file, const Error& error, const Messages& messages) {
  const std::string step = next_step(file, error);
  if (step.empty()) {
    messages.error(file, error);
  } else {
    messages.error(file, step);
  }
}

void tell_first_look(const std::string& capture, const std::string& output, bool named,
                     const Messages& messages) {
  const Result<std::unique_ptr<Reader>> reader = Reader::open(output);
  if (!reader) {
    return;
  }
  if (const std::string text = named ? hottest(**reader) : lacking(**reader, capture);
      !text.empty()) {
    messages.plain(named ? "hottest: " + text : text);
  }
  messages.plain("next: stackpack view " + shown_shell_word(output));
}

}  // namespace stackpack::cli
