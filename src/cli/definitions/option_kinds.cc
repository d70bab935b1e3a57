#include "cli/definitions/option_kinds.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "app/symbolize/symbol_place_check.h"
#include "cli/human_text.h"
#include "cli/suggestion.h"

namespace stackpack::cli {

namespace {

std::string words_of(std::span<const Choice> choices) {
  std::string words;
  for (const Choice& choice : choices) {
    words += (words.empty() ? "" : "|") + std::string(choice.word);
  }
  return words;
}

std::string problem_with_place(const std::string& place) {
  return app::is_symbol_place(place) ? "" : fmt::format("'{}' is no folder or archive here", place);
}

}  // namespace

// The program's own checks speak through CLI11's way to fail.
void refuse(const std::string& option, const std::string& text) {
  throw CLI::ValidationError(option, text);
}

CLI::Option* add_choice(CLI::App& command, const std::string& name, std::span<const Choice> choices,
                        const std::string& text, const std::function<void(int)>& set) {
  const auto take = [choices, name, set](const std::string& word) {
    std::vector<std::string> words;
    for (const Choice& choice : choices) {
      if (choice.word == word) {
        set(choice.value);
        return;
      }
      words.emplace_back(choice.word);
    }
    refuse(name, fmt::format("'{}' is none of {}{}", word, fmt::join(words, ", "),
                             did_you_mean(word, words)));
  };
  return command.add_option_function<std::string>(name, take, text)
      ->type_name(words_of(choices))
      ->default_str(std::string(choices.front().word));
}

CLI::Option* add_capture_format(CLI::App& command, std::string& format) {
  std::vector<std::string> words = capture_format_names();
  words.insert(words.begin(), "auto");
  const auto take = [words, &format](const std::string& word) {
    if (std::find(words.begin(), words.end(), word) == words.end()) {
      refuse("--format", fmt::format("'{}' is none of {}{}", word, fmt::join(words, ", "),
                                     did_you_mean(word, words)));
    }
    format = word == words.front() ? "" : word;
  };
  return command.add_option_function<std::string>("--format", take, "format of the captures")
      ->type_name(fmt::format("{}", fmt::join(words, "|")))
      ->default_str(words.front());
}

CLI::Option* add_size(CLI::App& command, const std::string& name, const std::string& text,
                      std::uint64_t& size, std::uint64_t least) {
  const auto take = [name, &size, least](const std::string& word) {
    const std::optional<std::uint64_t> parsed = parse_size(word);
    if (!parsed) {
      refuse(name, fmt::format("'{}' is no size; write for example 64MiB", word));
    }
    if (*parsed < least) {
      refuse(name, fmt::format("{} is too little; at least {}", word, human_bytes(least)));
    }
    size = *parsed;
  };
  return command.add_option_function<std::string>(name, take, text)->type_name("SIZE");
}

CaptureTime take_time(const std::string& option, const std::string& word) {
  const std::optional<CaptureTime> time = parse_capture_time(word);
  if (!time) {
    refuse(option, fmt::format("'{}' is no time; write for example +1.5s (from the start), or as "
                               "listings do 1481.017314885 (s of the capture's clock)",
                               word));
  }
  return *time;
}

CLI::Option* add_time(CLI::App& command, const std::string& name, const std::string& text,
                      std::optional<CaptureTime>& time) {
  const auto take = [name, &time](const std::string& word) { time = take_time(name, word); };
  return command.add_option_function<std::string>(name, take, text)->type_name("TIME");
}

CLI::Option* add_frames(CLI::App& command, const std::string& text, FrameStyle& style) {
  static constexpr std::array kStyles = {
      Choice{"function", static_cast<int>(FrameStyle::kFunction)},
      Choice{"module", static_cast<int>(FrameStyle::kModule)},
      Choice{"address", static_cast<int>(FrameStyle::kAddress)},
  };
  return add_choice(command, "--frames", kStyles, text,
                    [&style](int value) { style = static_cast<FrameStyle>(value); });
}

CLI::Option* add_id(CLI::App& command, const std::string& name, const std::string& text,
                    std::optional<std::uint32_t>& id) {
  return add_number<std::uint32_t>(command, name, text, 0, kUnknownId - 1,
                                   [&id](std::uint32_t value) { id = value; });
}

CLI::Option* add_names(CLI::App& command, const std::string& name, const std::string& text,
                       std::vector<std::string>& names) {
  return command.add_option(name, names, text)->type_name("NAME")->allow_extra_args(false);
}

std::string group(std::string_view name) {
  return std::string(name);
}

void add_times(CLI::App& sub, std::optional<CaptureTime>& from, std::optional<CaptureTime>& to) {
  add_time(sub, "--from", "from this time on: +1.5s from the start, or as listings write times",
           from)
      ->group(group(kFilters));
  add_time(sub, "--to", "up to this time", to)->group(group(kFilters));
}

void add_filters(CLI::App& sub, SampleFilter& filter) {
  add_names(sub, "--event", "samples of this event", filter.events)->group(group(kFilters));
  add_names(sub, "--exclude-event", "without this event", filter.excluded_events)
      ->group(group(kFilters));
  add_id(sub, "--pid", "samples of this process", filter.pid)->group(group(kFilters));
  add_id(sub, "--tid", "samples of this thread", filter.tid)->group(group(kFilters));
  add_id(sub, "--cpu", "samples taken on this processor", filter.cpu)->group(group(kFilters));
  add_names(sub, "--comm", "samples of processes or threads of this name", filter.comms)
      ->group(group(kFilters));
  add_names(sub, "--exclude-comm", "without processes and threads of this name",
            filter.excluded_comms)
      ->group(group(kFilters));
  add_names(sub, "--module", "callstacks that run through this image (path or its last part)",
            filter.modules)
      ->group(group(kFilters));
  add_names(sub, "--exclude-module", "without callstacks that run through this image",
            filter.excluded_modules)
      ->group(group(kFilters));
  sub.add_flag("--no-idle", filter.no_idle, "without the idle threads of processors")
      ->group(group(kFilters));
}

void add_file_places(CLI::App& sub, symbolize::SymbolPlaces& places, std::string_view where) {
  sub.add_option(
         "--symbols", places.directories,
         "look for files with symbols in this folder, or in an archive of `stackpack collect`, "
         "too; may be given several times")
      ->type_name("DIR|KIT.zip")
      ->allow_extra_args(false)
      ->check(problem_with_place)
      ->group(group(where));
  sub.add_option_function<std::string>(
         "--sysroot",
         [&places](const std::string& root) {
           places.root = root;
           places.has_root = true;
         },
         "look for the recorded paths below this folder, and never outside")
      ->type_name("DIR")
      ->group(group(where));
}

void add_symbol_places(CLI::App& sub, app::SymbolizeOptions& options, std::string_view where) {
  add_file_places(sub, options.places, where);
  sub.add_option("--kallsyms", options.kallsyms,
                 "names of the kernel, as /proc/kallsyms of the recorded machine has them")
      ->type_name("FILE")
      ->group(group(where));
  sub.add_option("--perf-map", options.map_folder,
                 "take names of code made at run time from perf-PID.map and jit-PID.dump in this "
                 "folder, such as /tmp")
      ->type_name("DIR")
      ->group(group(where));
  sub.add_flag_callback(
         "--no-inlines", [&options] { options.inlines = false; },
         "functions alone, without inlined calls and lines")
      ->group(group(where));
  sub.add_flag("--unconfined", options.unconfined,
               "read symbols also where the kernel has no filter of system calls for their reader")
      ->group(group(where));
}

void add_checks(CLI::App& sub, std::vector<std::string>& checks) {
  sub.add_option("--check", checks,
                 "exit with status 3 unless this holds; may be given several times")
      ->type_name("EXPR")
      ->allow_extra_args(false)
      ->group(group(kReports));
}

}  // namespace stackpack::cli
