#include "cli/definitions/option_kinds.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "app/symbolize/symbol_place_check.h"
#include "bytes/quoted.h"
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
  return app::is_symbol_place(place)
             ? ""
             : fmt::format("{} is not a directory or archive here", bytes::quoted(place));
}

}  // namespace

void refuse(const std::string& option, const std::string& text) {
  throw RefusedValue(option, text);
}

OptionRow* add_choice(CommandRow& command, const std::string& name, std::span<const Choice> choices,
                      const std::string& text, const std::function<void(int)>& set,
                      const std::function<bool(const std::string&)>& set_other) {
  const auto take = [choices, name, set, set_other](const std::string& word) {
    if (set_other && set_other(word)) {
      return;
    }
    std::vector<std::string> words;
    for (const Choice& choice : choices) {
      if (choice.word == word) {
        set(choice.value);
        return;
      }
      words.emplace_back(choice.word);
    }
    refuse(name, fmt::format("{} is none of {}{}", bytes::quoted(word), fmt::join(words, ", "),
                             did_you_mean(word, words)));
  };
  return command.add_option_function(name, take, text)
      ->type_name(words_of(choices))
      ->default_str(std::string(choices.front().word));
}

OptionRow* add_capture_format(CommandRow& command, std::string& format) {
  std::vector<std::string> words = capture_format_names();
  words.insert(words.begin(), "auto");
  const auto take = [words, &format](const std::string& word) {
    if (std::find(words.begin(), words.end(), word) == words.end()) {
      refuse("--format", fmt::format("{} is none of {}{}", bytes::quoted(word),
                                     fmt::join(words, ", "), did_you_mean(word, words)));
    }
    format = word == words.front() ? "" : word;
  };
  return command.add_option_function("--format", take, "format of the captures")
      ->type_name(fmt::format("{}", fmt::join(words, "|")))
      ->default_str(words.front());
}

OptionRow* add_size(CommandRow& command, const std::string& name, const std::string& text,
                    std::uint64_t& size, std::uint64_t least) {
  const auto take = [name, &size, least](const std::string& word) {
    const std::optional<std::uint64_t> parsed = parse_size(word);
    if (!parsed) {
      refuse(name, fmt::format("invalid size {}; write for example 64MiB", bytes::quoted(word)));
    }
    if (*parsed < least) {
      refuse(name, fmt::format("{} is too little; at least {}", word, human_bytes(least)));
    }
    size = *parsed;
  };
  return command.add_option_function(name, take, text)->type_name("SIZE");
}

CaptureTime take_time(const std::string& option, const std::string& word) {
  const std::optional<CaptureTime> time = parse_capture_time(word);
  if (!time) {
    refuse(option, fmt::format("{} is not a time; write for example +1.5s (from the start), or as "
                               "listings do 1481.017314885 (s of the capture's clock)",
                               bytes::quoted(word)));
  }
  return *time;
}

OptionRow* add_time(CommandRow& command, const std::string& name, const std::string& text,
                    std::optional<CaptureTime>& time) {
  const auto take = [name, &time](const std::string& word) { time = take_time(name, word); };
  return command.add_option_function(name, take, text)->type_name("TIME");
}

OptionRow* add_frames(CommandRow& command, const std::string& text, FrameStyle& style) {
  static constexpr std::array kStyles = {
      Choice{"function", static_cast<int>(FrameStyle::kFunction)},
      Choice{"module", static_cast<int>(FrameStyle::kModule)},
      Choice{"address", static_cast<int>(FrameStyle::kAddress)},
  };
  return add_choice(command, "--frames", kStyles, text,
                    [&style](int value) { style = static_cast<FrameStyle>(value); });
}

OptionRow* add_keep_broken(CommandRow& command, bool& keep) {
  return command.add_flag("--keep-broken", keep,
                          "show addresses outside of all code at the root of callstacks one by "
                          "one, not as one [broken callstack]");
}

OptionRow* add_function_names(CommandRow& command, bool linkage,
                              std::optional<app::FunctionNames>& names) {
  static constexpr std::array kKinds = {
      Choice{"short", static_cast<int>(app::FunctionNames::kShort)},
      Choice{"full", static_cast<int>(app::FunctionNames::kFull)},
      Choice{"linkage", static_cast<int>(app::FunctionNames::kLinkage)},
  };
  constexpr std::size_t kWithoutLinkage = 2;
  const std::string text =
      "how function names are written: without parameters, template arguments and result types; as "
      "in the source" +
      std::string(linkage ? "; as the linker has them" : "");
  return add_choice(command, "--function-names",
                    std::span(kKinds).first(linkage ? kKinds.size() : kWithoutLinkage), text,
                    [&names](int value) { names = static_cast<app::FunctionNames>(value); })
      ->default_str("short, in JSON full");
}

OptionRow* add_id(CommandRow& command, const std::string& name, const std::string& text,
                  std::optional<std::uint32_t>& id) {
  return add_number<std::uint32_t>(command, name, text, 0, kUnknownId - 1,
                                   [&id](std::uint32_t value) { id = value; });
}

OptionRow* add_names(CommandRow& command, const std::string& name, const std::string& text,
                     std::vector<std::string>& names) {
  return command.add_option(name, names, text)->type_name("NAME")->one_at_a_time();
}

void add_threads(CommandRow& sub, std::vector<std::string>& names,
                 std::optional<std::uint32_t>& tid, OptionRow* rival) {
  const auto take = [&names, &tid](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      if (const auto id = number_of<std::uint32_t>(word, 0, kUnknownId - 1)) {
        tid = id;
      } else {
        names.push_back(word);
      }
    }
  };
  sub.add_list_function("--thread", take,
                        "threads of this number or name, or of processes of this name")
      ->type_name("NAME|TID")
      ->one_at_a_time()
      ->group(kFilters)
      ->excludes(rival);
}

void add_times(CommandRow& sub, std::optional<CaptureTime>& from, std::optional<CaptureTime>& to) {
  add_time(sub, "--from", "from this time on: +1.5s from the start, or as listings write times",
           from)
      ->group(kFilters);
  add_time(sub, "--to", "up to this time", to)->group(kFilters);
  const auto take = [&from, &to](const std::string& word) {
    const std::size_t comma = word.find(',');
    if (comma == std::string::npos) {
      refuse("--time",
             fmt::format("{} has no comma; write for example +1s,+2s", bytes::quoted(word)));
    }
    const std::string first = word.substr(0, comma);
    const std::string last = word.substr(comma + 1);
    from = first.empty() ? from : take_time("--time", first);
    to = last.empty() ? to : take_time("--time", last);
  };
  sub.add_option_function("--time", take, "from one time to another; either may be left out")
      ->type_name("FROM,TO")
      ->group(kFilters);
}

void add_filters(CommandRow& sub, SampleFilter& filter) {
  add_names(sub, "--event", "samples of this event", filter.events)->group(kFilters);
  add_names(sub, "--exclude-event", "without this event", filter.excluded_events)->group(kFilters);
  add_id(sub, "--pid", "samples of this process", filter.pid)->group(kFilters);
  add_id(sub, "--tid", "samples of this thread", filter.tid)->group(kFilters);
  add_id(sub, "--cpu", "samples taken on this processor", filter.cpu)->group(kFilters);
  add_names(sub, "--comm", "samples of processes or threads of this name", filter.comms)
      ->group(kFilters);
  add_threads(sub, filter.comms, filter.tid, nullptr);
  add_names(sub, "--exclude-comm", "without processes and threads of this name",
            filter.excluded_comms)
      ->group(kFilters);
  add_names(sub, "--cgroup", "samples of this control group (path or its last part)",
            filter.cgroups)
      ->group(kFilters);
  sub.add_option("--label", filter.labels,
                 "samples with this label; VALUE is a pattern, or '[no label]'")
      ->type_name("KEY=VALUE")
      ->one_at_a_time()
      ->group(kFilters);
  add_names(sub, "--module", "callstacks that run through this image (path or its last part)",
            filter.modules)
      ->group(kFilters);
  add_names(sub, "--exclude-module", "without callstacks that run through this image",
            filter.excluded_modules)
      ->group(kFilters);
  sub.add_flag_callback(
         "--idle", [&filter] { filter.idle = IdleSamples::kKeep; },
         "include the idle threads of processors, which reports and pages leave out")
      ->group(kFilters);
  sub.add_flag_callback(
         "--no-idle", [&filter] { filter.idle = IdleSamples::kLeaveOut; },
         "leave out the idle threads of processors")
      ->group(kFilters);
}

OptionRow* add_length(CommandRow& sub, const std::string& text, std::uint64_t& length_ns) {
  const auto take = [&length_ns](const std::string& word) {
    const auto length = parse_time_step(word);
    if (!length) {
      refuse("--longer-than",
             fmt::format("invalid time {}; write for example 10ms", bytes::quoted(word)));
    }
    length_ns = *length;
  };
  return sub.add_option_function("--longer-than", take, text)->type_name("SPAN");
}

void add_wait_filters(CommandRow& sub, SampleFilter& filter) {
  add_length(sub, "waits (--event blocked, woken, preempted) that last at least this long: 10ms",
             filter.longer_than_ns)
      ->group(kFilters);
  sub.add_flag_callback(
         "--idle-pools", [&filter] { filter.idle = IdleSamples::kKeep; },
         "include waits of threads that wait for work, which reports and pages leave out")
      ->group(kFilters);
}

void add_wakers(CommandRow& sub, SampleFilter& filter) {
  sub.add_flag_callback(
         "--wakers", [&filter] { filter.wait_detail = WaitDetail::kWakers; },
         "callstacks of waits (--event blocked, woken) go on at who ended them: READIED BY NAME "
         "(TID), then where that was")
      ->group(kForm);
  sub.add_flag_callback(
         "--wall", [&filter] { filter.events.emplace_back("wall-time"); },
         "all the time of threads: their runs, shared out among the samples taken then, and waits")
      ->group(kFilters);
  sub.add_flag_callback(
         "--latency", [&filter] { filter.events.emplace_back("latency"); },
         "time on the clock: while P threads run, each has 1/P of it")
      ->group(kFilters);
}

OptionRow* add_count(CommandRow& sub, CountBy& count) {
  static constexpr std::array kCounts = {
      Choice{"samples", static_cast<int>(CountBy::kSamples)},
      Choice{"weight", static_cast<int>(CountBy::kWeight)},
  };
  return add_choice(sub, "--count", kCounts,
                    "what a sample counts for: 1, or its recorded weight (period); by default what "
                    "its event measures: the weight where there is one",
                    [&count](int value) { count = static_cast<CountBy>(value); })
      ->default_str("");
}

void add_file_places(CommandRow& sub, symbolize::SymbolPlaces& places, std::string_view where) {
  sub.add_option("--symbols", places.directories,
                 "look for symbol files in this folder, too; or in an archive of `stackpack "
                 "collect`, or take this file, such as a vmlinux; may be given several times")
      ->type_name("DIR|BUNDLE.zip|FILE")
      ->one_at_a_time()
      ->check(problem_with_place)
      ->group(where);
  sub.add_option_function(
         "--sysroot",
         [&places](const std::string& root) {
           places.root = root;
           places.has_root = true;
         },
         "look for the recorded paths below this folder only")
      ->type_name("DIR")
      ->group(where);
}

void add_debuginfod(CommandRow& sub, app::SymbolizeOptions& options, std::string_view where) {
  sub.add_flag("--debuginfod", options.debuginfod,
               "fetch debug files that are not here from the servers of $DEBUGINFOD_URLS, by "
               "debuginfod-find: 10 minutes and 1 GiB a file at most")
      ->group(where);
}

void add_map_places(CommandRow& sub, app::SymbolizeOptions& options, std::string_view where) {
  sub.add_option("--kallsyms", options.kallsyms,
                 "kernel symbols, as in /proc/kallsyms of the recorded machine")
      ->type_name("FILE")
      ->group(where);
  sub.add_option("--perf-map", options.map_folder,
                 "take names of code made at run time from perf-PID.map and jit-PID.dump in this "
                 "folder, such as /tmp")
      ->type_name("DIR")
      ->group(where);
}

void add_symbol_places(CommandRow& sub, app::SymbolizeOptions& options, std::string_view where) {
  add_file_places(sub, options.places, where);
  add_map_places(sub, options, where);
  sub.add_flag_callback(
         "--no-inlines", [&options] { options.inlines = false; },
         "functions only, without inlined calls and lines")
      ->group(where);
  sub.add_flag(
         "--unconfined", options.unconfined,
         "read symbol files even where the kernel cannot filter the system calls of their reader")
      ->group(where);
  add_debuginfod(sub, options, where);
}

void add_capture_names(CommandRow& sub, CaptureArguments& arguments) {
  add_file_places(sub, arguments.naming.places, kCaptures);
  add_map_places(sub, arguments.naming, kCaptures);
  sub.add_flag_callback(
         "--no-symbolize", [&arguments] { arguments.symbolize = false; },
         "do not read function names from symbol files")
      ->group(kCaptures);
  sub.add_flag_callback(
         "--no-unwind", [&arguments] { arguments.unwind = false; },
         "do not unwind dumps of registers and stack memory")
      ->group(kCaptures);
  add_debuginfod(sub, arguments.naming, kCaptures);
}

void add_capture_reading(CommandRow& sub, CaptureArguments& arguments) {
  add_capture_names(sub, arguments);
  add_capture_format(sub, arguments.convert.format)->group(kCaptures);
}

void add_checks(CommandRow& sub, std::vector<std::string>& checks) {
  sub.add_option("--check", checks,
                 "exit with status 3 unless this holds; may be given several times")
      ->type_name("EXPR")
      ->one_at_a_time()
      ->group(kReports);
}

}  // namespace stackpack::cli
