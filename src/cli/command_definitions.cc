#include "cli/command_definitions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/batch/batch.h"
#include "cli/human_text.h"
#include "cli/suggestion.h"

namespace stackpack::cli {

namespace {

struct Choice {
  std::string_view word;
  int value;
};

std::string words_of(std::span<const Choice> choices) {
  std::string words;
  for (const Choice& choice : choices) {
    words += (words.empty() ? "" : "|") + std::string(choice.word);
  }
  return words;
}

constexpr std::array kProgressModes = {
    Choice{"auto", static_cast<int>(ProgressMode::kAuto)},
    Choice{"always", static_cast<int>(ProgressMode::kAlways)},
    Choice{"never", static_cast<int>(ProgressMode::kNever)},
};
constexpr std::array kNamings = {Choice{"base", 0}, Choice{"path", 1}};

// The program's own checks speak through CLI11's way to fail.
[[noreturn]] void refuse(const std::string& option, const std::string& text) {
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

// A format of captures, or `auto`.
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

template <typename T>
std::optional<T> number_of(std::string_view word, T least, T most) {
  T number{};
  const char* const end = word.data() + word.size();
  const auto [rest, failure] = std::from_chars(word.data(), end, number);
  const bool good = failure == std::errc{} && rest == end && number >= least && number <= most;
  return good ? std::optional(number) : std::nullopt;
}

template <typename T>
CLI::Option* add_number(CLI::App& command, const std::string& name, const std::string& text,
                        T least, T most, const std::function<void(T)>& set) {
  const std::string called = name.substr(name.find("--"));
  const auto take = [called, least, most, set](const std::string& word) {
    const std::optional<T> number = number_of<T>(word, least, most);
    if (!number) {
      refuse(called, fmt::format("'{}' is no number from {} to {}", word, least, most));
    }
    set(*number);
  };
  return command.add_option_function<std::string>(name, take, text)->type_name("N");
}

// A number, or an unset optional when the option is not given.
CLI::Option* add_id(CLI::App& command, const std::string& name, const std::string& text,
                    std::optional<std::uint32_t>& id) {
  return add_number<std::uint32_t>(command, name, text, 0, kUnknownId - 1,
                                   [&id](std::uint32_t value) { id = value; });
}

// Patterns; the option may be given several times.
CLI::Option* add_names(CLI::App& command, const std::string& name, const std::string& text,
                       std::vector<std::string>& names) {
  return command.add_option(name, names, text)->type_name("NAME")->allow_extra_args(false);
}

constexpr std::string_view kInputs = "Inputs";
constexpr std::string_view kOutputs = "Outputs";
constexpr std::string_view kPacking = "Packing";
constexpr std::string_view kFilters = "Filters";
constexpr std::string_view kForm = "Form";
constexpr std::string_view kNames = "Names";

std::string group(std::string_view name) {
  return std::string(name);
}

void add_times(CLI::App& sub, std::optional<CaptureTime>& from, std::optional<CaptureTime>& to) {
  add_time(sub, "--from", "from this time on: +1.5s from the start, or as listings write times",
           from)
      ->group(group(kFilters));
  add_time(sub, "--to", "up to this time", to)->group(group(kFilters));
}

// All but the times. NAME is a pattern: * and ? stand for other characters.
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

// Where symbols come from, and which.
void add_symbol_places(CLI::App& sub, app::SymbolizeOptions& options, std::string_view where) {
  sub.add_option("--symbols", options.places.directories,
                 "look for files with symbols in this folder, too; may be given several times")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->group(group(where));
  sub.add_option_function<std::string>(
         "--sysroot",
         [&options](const std::string& root) {
           options.places.root = root;
           options.places.has_root = true;
         },
         "look for the recorded paths below this folder, and never outside")
      ->type_name("DIR")
      ->group(group(where));
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
}

constexpr std::string_view kPatterns =
    "NAME may have * and ?, and options with NAME may be repeated: one of them must fit. All "
    "filters that are given must hold.";

}  // namespace

CommandDefinitions::CommandDefinitions() : app("", "stackpack") {
  app.require_subcommand(1);
  define_convert();
  define_stats();
  define_dump();
  define_show();
  define_top();
  define_neighbours("callers", "show what calls a function", ReportKind::kCallers);
  define_neighbours("callees", "show what a function calls", ReportKind::kCallees);
  define_export();
  define_symbolize();
  define_verify();
  define_help();
  for (CLI::App* command : app.get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() == 0) {
        option->disable_flag_override();  // CLI11 takes --json=7 for --json
      }
    }
  }
}

CLI::App& CommandDefinitions::command(const std::string& name, const std::string& summary,
                                      Command id, Extra extra) {
  CLI::App* const sub = app.add_subcommand(name, summary);
  sub->set_help_flag("-h,--help", "print this text");
  sub->get_help_ptr()->group(group(kReports));
  sub->final_callback([this, id] { invocation.command = id; });
  extras[name] = std::move(extra);
  return *sub;
}

void CommandDefinitions::define_convert() {
  CLI::App& sub = command(
      "convert", "turn captures into .spk files", Command::kConvert,
      {{"convert INPUT -o OUT.spk [OPTIONS]", "convert INPUT... --out-dir DIR [-j N] [OPTIONS]"},
       {{"one capture", "stackpack convert perf.data -o out.spk"},
        {"from a pipe, without a file in between",
         "perf record -g -o - -- make | stackpack convert - -o build.spk"},
        {"a folder of captures, four at a time, only what changed",
         "stackpack convert captures/ --recursive --out-dir packed -j 4 --skip-existing"},
        {"the traces of one recording, in one file",
         "stackpack convert --session app.etl app.kernel.etl -o app.spk"},
        {"a list of files, a report for a program",
         "find . -name '*.etl' | stackpack convert --files-from - --out-dir packed --json"}},
       "An output appears whole or not at all, also when the run is interrupted or the disk is "
       "full. Same input and options give the same bytes, for any -j.\n"
       "A perf.data file that was not written for pipes, and any .etl, need random access: from "
       "standard input they are copied to a nameless temporary file first.\n"
       "Exit status: 0 done, 1 usage, 2 a bad input, 3 losses and --strict, 4 an I/O error; of a "
       "batch the highest."});
  define_convert_inputs(sub);
  ConvertArguments& arguments = invocation.convert;
  ConvertOptions& options = arguments.options;
  sub.add_option("-o,--output", arguments.output, "write this file; '-' is standard output")
      ->type_name("FILE")
      ->group(group(kOutputs));
  sub.add_option("--out-dir", arguments.out_dir,
                 "write INPUT.spk for each input into this directory, which is made if need be")
      ->type_name("DIR")
      ->group(group(kOutputs));
  add_choice(sub, "--names", kNamings,
             "name outputs by the last part of the input's path, or keep the path below --out-dir",
             [&arguments](int value) { arguments.keep_paths = value != 0; })
      ->group(group(kOutputs));
  sub.add_flag("--force", options.force,
               "replace an existing output that is neither a .spk file nor empty")
      ->group(group(kOutputs));
  sub.add_flag("--skip-existing", arguments.skip_existing,
               "leave an output alone that was made of the same input with the same options")
      ->group(group(kOutputs));
  add_number<int>(sub, "--level",
                  "compression level of zstd, 1 (fast) to 22 (small); full blocks of samples take "
                  "level 1 below 10",
                  1, 22, [&options](int level) { options.level = level; })
      ->default_str("9")
      ->group(group(kPacking));
  sub.add_flag_callback(
         "--no-samples", [&options] { options.samples = false; },
         "keep counts per callstack, event and process instead of the samples")
      ->group(group(kPacking));
  sub.add_flag("--redact", options.redact,
               "leave out command lines, the host's name, and user names in paths")
      ->group(group(kPacking));
  add_size(sub, "--memory-limit",
           "memory for packing, all workers together: 64MiB, 2GiB, ...; at least 16MiB",
           options.memory_limit, app::Batch::kLeastMemoryLimit)
      ->default_str("none")
      ->group(group(kPacking));
  add_number<unsigned>(sub, "-j,--jobs", "captures at a time", 1, 1024,
                       [&arguments](unsigned jobs) { arguments.jobs = jobs; })
      ->default_str("one per processor")
      ->group(group(kPacking));
  add_number<unsigned>(sub, "--encoders",
                       "threads that encode samples, besides the one that converts", 0, 64,
                       [&options](unsigned encoders) { options.encoders = encoders; })
      ->default_str("2, or fewer where captures share the processors")
      ->group(group(kPacking));
  sub.add_flag("--symbolize", arguments.symbolize,
               "name functions as `stackpack symbolize` does, by these files:")
      ->group(group(kNames));
  add_symbol_places(sub, arguments.naming, kNames);
  define_convert_reports(sub);
}

void CommandDefinitions::define_convert_inputs(CLI::App& sub) {
  ConvertArguments& arguments = invocation.convert;
  sub.add_option("inputs", arguments.inputs,
                 "captures: .etl, perf.data (file, pipe stream, directory of --threads), folded "
                 "text, pprof, any of them in .gz or .zst, a zip archive of .etl or perf.data "
                 "files; '-' is standard input")
      ->type_name("INPUT...");
  sub.add_option("--files-from", arguments.files_from,
                 "take more inputs from this file, one a line or separated by NUL; '-' is standard "
                 "input")
      ->type_name("LIST")
      ->group(group(kInputs));
  sub.add_flag("--recursive", arguments.recursive,
               "an input that is a directory stands for all captures below it")
      ->group(group(kInputs));
  add_capture_format(sub, arguments.options.format)->group(group(kInputs));
  sub.add_flag("--session", arguments.session,
               "the inputs are one recording session: .etl files, and all those of archives, "
               "become one output; always so for .diagsession and .etl.zip")
      ->group(group(kInputs));
  sub.add_option("--member", arguments.options.member,
                 "the capture to take of a zip archive that holds several")
      ->type_name("NAME")
      ->group(group(kInputs));
}

void CommandDefinitions::define_convert_reports(CLI::App& sub) {
  ConvertArguments& arguments = invocation.convert;
  sub.add_flag("--strict", arguments.strict,
               "exit status 3 when the input has losses or damage (the output is written)")
      ->group(group(kReports));
  sub.add_flag("--json", arguments.json,
               "report on standard output: an object, or an array for a batch")
      ->group(group(kReports));
  add_choice(sub, "--progress", kProgressModes,
             "progress lines; auto: when standard error is a terminal",
             [&arguments](int value) { arguments.progress = static_cast<ProgressMode>(value); })
      ->group(group(kReports));
  sub.add_flag("--timings", arguments.timings, "seconds and counters of each stage")
      ->group(group(kReports));
  sub.add_flag("-v,--verbose", arguments.verbose,
               "name the files in directories that are no captures")
      ->group(group(kReports));
  sub.add_flag("-q,--quiet", arguments.quiet, "no warnings, results or progress; only errors")
      ->group(group(kReports));
}

void CommandDefinitions::define_stats() {
  CLI::App& sub = command(
      "stats", "show what is in .spk files and how well they are packed", Command::kStats,
      {{"stats FILE... [--by-process] [--json] [--check 'EXPR']... [FILTERS]"},
       {{"a table for a person", "stackpack stats out.spk"},
        {"one figure for a program", "stackpack stats --json out.spk | jq .ratios.total"},
        {"a gate in a pipeline",
         "stackpack stats out.spk --check 'losses.recorder_lost_events==0' --check "
         "'ratios.total>=50'"}},
       "A capture (.etl, perf.data) is packed into a temporary file first; nothing is kept.\n"
       "EXPR is KEY OP NUMBER: KEY a path in the --json object such as ratios.total, "
       "samples.recorded or events.cpu-clock.samples; OP one of == != < <= > >=; NUMBER may have a "
       "unit (64MiB). It is checked for each file. A loss counter that a file does not have is 0.\n"
       "With filters only samples, callstacks and events are counted: those of the samples "
       "selected.\n" +
           std::string(kPatterns) +
           "\n"
           "Exit status: 3 when a check fails."});
  StatsArguments& arguments = invocation.stats;
  sub.add_option("files", arguments.files, ".spk files, or captures")
      ->type_name("FILE...")
      ->required();
  sub.add_option("--check", arguments.checks,
                 "exit with status 3 unless this holds; may be given several times")
      ->type_name("EXPR")
      ->allow_extra_args(false)
      ->group(group(kReports));
  sub.add_flag("--by-process", arguments.by_process,
               "samples of each process, too; reads every sample")
      ->group(group(kReports));
  sub.add_flag("--json", arguments.json,
               "JSON: an object, or for several files an array that ends with the totals")
      ->group(group(kReports));
  sub.add_flag("-q,--quiet", arguments.quiet, "no figures; only errors and checks that fail")
      ->group(group(kReports));
  add_capture_format(sub, arguments.options.format)->group(group(kInputs));
  add_filters(sub, arguments.filter);
  add_times(sub, arguments.filter.from, arguments.filter.to);
}

void CommandDefinitions::define_dump() {
  CLI::App& sub = command(
      "dump", "list what a .spk file holds, as text or JSON", Command::kDump,
      {{"dump FILE.spk --stacks|--samples|--processes|--threads|--modules|--events|--losses|"
        "--metadata|--functions|--names [--ids] [--json] [FILTERS]"},
       {{"the ten hottest callstacks, with their ids",
         "stackpack dump --stacks --ids out.spk | sort -rn | head"},
        {"samples of one thread in two seconds",
         "stackpack dump --samples out.spk --tid 4711 --from +1s --to +3s"}},
       "--stacks: a line per distinct recorded callstack: COUNT frame frame ..., leaf first; a "
       "frame is a letter (k kernel, u user, h hypervisor, g guest, G guest kernel, U guest user, "
       "? "
       "unknown) and the address in hex.\n"
       "Other listings: a line of names that begins with '#', then a line per row, fields "
       "separated "
       "by tabs; '-' is a value that was not recorded.\n"
       "Filters are for --stacks and --samples. Of an imported profile COUNT is what the samples "
       "stand for. " +
           std::string(kPatterns)});
  DumpArguments& arguments = invocation.dump;
  sub.add_option("file", arguments.file, "a .spk file")->type_name("FILE.spk")->required();
  const auto kind = [&](const std::string& name, DumpKind value, const std::string& text) {
    sub.add_flag_callback(
           name, [this, value] { dump_kinds.push_back(value); }, text)
        ->group("What to list (one of)");
  };
  kind("--stacks", DumpKind::kStacks, "distinct recorded callstacks with their number of samples");
  kind("--samples", DumpKind::kSamples, "every sample, in time order, with its callstack");
  kind("--processes", DumpKind::kProcesses, "processes with their names and times");
  kind("--threads", DumpKind::kThreads, "threads with their names and times");
  kind("--modules", DumpKind::kModules, "mapped images with address, build id and time");
  kind("--events", DumpKind::kEvents, "what was counted or traced, with its number of samples");
  kind("--losses", DumpKind::kLosses, "what was lost, damaged or remarkable");
  kind("--metadata", DumpKind::kMetadata, "facts about the recording: host, system, command");
  kind("--functions", DumpKind::kFunctions, "functions with their addresses and birth");
  kind("--names", DumpKind::kNames, "every address of a callstack that has a name, by process");
  add_filters(sub, arguments.filter);
  add_times(sub, arguments.filter.from, arguments.filter.to);
  sub.add_flag("--ids", arguments.ids,
               "with --stacks: the id that `show` takes, as a second column")
      ->group(group(kReports));
  sub.add_flag("--json", arguments.json, "a JSON array, an element a line")->group(group(kReports));
}

void CommandDefinitions::define_show() {
  CLI::App& sub = command(
      "show", "print callstacks with functions, or modules and offsets", Command::kShow,
      {{"show FILE.spk ID..."},
       {{"the callstack of the first sample that has one",
         "stackpack show out.spk $(stackpack dump --samples out.spk | awk -F'\\t' '$9 != \"-\" && "
         "!/^#/ {print $9; exit}')"}},
       "An address means something in a process at a time only: those of the first sample with "
       "that callstack are taken, or of the first one of --pid, or not before --from. The offset "
       "is "
       "that in the file.\n"
       "IDs are those of `dump --stacks --ids` and `dump --samples`: 0 up to the number of "
       "callstacks less one."});
  ShowArguments& arguments = invocation.show;
  sub.add_option("file", arguments.file, "a .spk file")->type_name("FILE.spk")->required();
  const auto take_ids = [&arguments](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const auto id = number_of<StackId>(word, 0, kNoStack - 1);
      if (!id) {
        refuse("ID", fmt::format("'{}' is no id of a callstack; dump --samples lists them", word));
      }
      arguments.ids.push_back(*id);
    }
  };
  sub.add_option_function<std::vector<std::string>>("ids", take_ids, "ids of callstacks")
      ->type_name("ID...")
      ->required();
  add_id(sub, "--pid", "take the mappings of this process", arguments.pid)->group(group(kFilters));
  add_times(sub, arguments.from, arguments.to);
  add_frames(sub, "how a frame is written: its function where one is known", arguments.frames)
      ->group(group(kForm));
  sub.add_flag("--json", arguments.json, "a JSON array, an element a line")->group(group(kReports));
}

// What the three reports have in common.
void CommandDefinitions::define_report(CLI::App& sub, ReportKind kind) {
  ReportArguments& arguments = invocation.report;
  sub.add_flag_callback(
         "--self", [&arguments] { arguments.by_self = true; }, "order by samples in the row itself")
      ->group(group(kForm));
  sub.add_flag_callback(
         "--total", [&arguments] { arguments.by_self = false; },
         "order by samples in the row or in what it calls")
      ->group(group(kForm));
  sub.add_option("-n,--rows", arguments.rows, "most rows; 0: all")
      ->type_name("N")
      ->default_str(kind == ReportKind::kTop ? "30" : "all")
      ->group(group(kForm));
  add_frames(sub,
             "what frames without a name are counted by: their module, module and offset, or "
             "all frames by address",
             arguments.query.filters.frames)
      ->group(group(kForm));
  add_filters(sub, arguments.query.filters.filter);
  add_times(sub, arguments.query.filters.filter.from, arguments.query.filters.filter.to);
  sub.add_flag("--all-events", arguments.query.filters.all_events, "all events at once")
      ->group(group(kFilters));
  sub.add_flag("--json", arguments.json, "a JSON object")->group(group(kReports));
  add_capture_format(sub, arguments.options.format)->group(group(kInputs));
  sub.preparse_callback([&arguments, kind](std::size_t) {
    arguments.kind = kind;
    arguments.by_self = kind == ReportKind::kTop;
    arguments.rows = kind == ReportKind::kTop ? 30 : 0;
    arguments.query.filters.frames = FrameStyle::kFunction;
  });
}

void CommandDefinitions::define_top() {
  static constexpr std::array kGrains = {
      Choice{"function", static_cast<int>(app::HotSpotKind::kFunction)},
      Choice{"module", static_cast<int>(app::HotSpotKind::kModule)},
      Choice{"line", static_cast<int>(app::HotSpotKind::kLine)},
      Choice{"process", static_cast<int>(app::HotSpotKind::kProcess)},
      Choice{"thread", static_cast<int>(app::HotSpotKind::kThread)},
      Choice{"event", static_cast<int>(app::HotSpotKind::kEvent)},
      Choice{"callstack", static_cast<int>(app::HotSpotKind::kCallstack)},
  };
  CLI::App& sub = command(
      "top", "show which functions the samples are in", Command::kTop,
      {{"top FILE... [--by WHAT] [--self|--total] [-n N] [FILTERS] [--json]"},
       {{"where the time goes", "stackpack top out.spk"},
        {"the modules that one process is in, from its first two seconds",
         "stackpack top perf.data --by module --total --comm node --to +2s"}},
       "self counts the samples whose leaf is in the row, total those that have it anywhere; a "
       "function that calls itself counts once. A capture is packed into a temporary file first.\n"
       "Code without a name counts under its module, as [module]. Samples of different events do "
       "not "
       "add up: unless told otherwise, the event that samples time is taken, or the first one.\n" +
           std::string(kPatterns)});
  ReportArguments& arguments = invocation.report;
  sub.add_option("files", arguments.files, ".spk files, or captures; their samples are added up")
      ->type_name("FILE...")
      ->required();
  add_choice(sub, "--by", kGrains, "what a row is", [&arguments](int value) {
    arguments.query.by = static_cast<app::HotSpotKind>(value);
  })->group(group(kForm));
  define_report(sub, ReportKind::kTop);
}

void CommandDefinitions::define_neighbours(const std::string& name, const std::string& summary,
                                           ReportKind kind) {
  CLI::App& sub = command(
      name, summary, kind == ReportKind::kCallers ? Command::kCallers : Command::kCallees,
      {{name + " FILE FUNCTION [--self|--total] [-n N] [FILTERS] [--json]"},
       {{"of one function", "stackpack " + name + " out.spk malloc"},
        {"where several modules have it", "stackpack " + name + " out.spk 'libc.so.6!malloc'"}},
       kind == ReportKind::kCallers
           ? "total counts the samples in which the row calls the function, self those of them "
             "whose leaf is the function; [root]: nothing calls it."
           : "total counts the samples in which the function calls the row, self those of them "
             "whose leaf is the row; [self]: the function is the leaf."});
  ReportArguments& arguments = invocation.report;
  sub.add_option_function<std::string>(
         "file", [&arguments](const std::string& file) { arguments.files = {file}; },
         "a .spk file, or a capture")
      ->type_name("FILE")
      ->required();
  sub.add_option("function", arguments.function, "name of a function, or MODULE!FUNCTION")
      ->type_name("FUNCTION")
      ->required();
  define_report(sub, kind);
}

void CommandDefinitions::define_export() {
  CLI::App& sub = command(
      "export", "write a .spk file in a format that a viewer opens", Command::kExport,
      {{"export FILE.spk --format FORMAT -o OUT [FILTERS]"},
       {{"a flame graph",
         "stackpack export out.spk --format folded -o - | flamegraph.pl > out.svg"},
        {"one process, the first two seconds",
         "stackpack export out.spk --format pprof -o out.pb.gz --comm node --from +0s --to +2s"}},
       "folded, pprof and speedscope --aggregate are about one event unless told otherwise, since "
       "samples of different events do not add up: that which samples time, or the first.\n"
       "module+0xoffset is an offset in the file; for ELF files it is not always the virtual "
       "address that addr2line wants. Of a caller it is the byte before the return address.\n" +
           std::string(kPatterns)});
  ExportArguments& arguments = invocation.exporting;
  sub.add_option("file", arguments.file, "a .spk file")->type_name("FILE.spk")->required();
  define_export_format(sub);
  sub.add_option("-o,--output", arguments.output,
                 "write this file (csv: directory); '-' is standard output")
      ->type_name("FILE")
      ->required()
      ->group(group(kOutputs));
  sub.add_flag("--force", arguments.options.force,
               "replace an existing output, or write into a directory that holds files")
      ->group(group(kOutputs));
  define_export_form(sub);
  sub.add_flag("-q,--quiet", arguments.quiet, "no notes, and no summary on a terminal")
      ->group(group(kReports));
}

// --to is a time, as in the other commands; a format it may name for the sake of older scripts.
void CommandDefinitions::define_export_format(CLI::App& sub) {
  std::vector<std::string> formats;
  for (const std::string_view name : export_format_names()) {
    formats.emplace_back(name);
  }
  ExportArguments& arguments = invocation.exporting;
  ExportOptions& options = arguments.options;
  const auto take_format = [&arguments, formats](const std::string& word) {
    const std::optional<ExportFormat> format = export_format_of(word);
    if (!format) {
      refuse("--format", fmt::format("'{}' is none of {}{}", word, fmt::join(formats, ", "),
                                     did_you_mean(word, formats)));
    }
    arguments.options.format = *format;
    arguments.has_format = true;
  };
  sub.add_option_function<std::string>("--format", take_format, "format of the output")
      ->type_name(fmt::format("{}", fmt::join(formats, "|")))
      ->group(group(kOutputs));
  add_filters(sub, options.filter);
  sub.add_flag("--all-events", options.all_events, "all events at once, where the format adds up")
      ->group(group(kFilters));
  add_time(sub, "--from", "from this time on: +1.5s from the start, or as listings write times",
           options.filter.from)
      ->group(group(kFilters));
  sub.add_option_function<std::vector<std::string>>(
         "--to",
         [&options, take_format](const std::vector<std::string>& words) {
           for (const std::string& word : words) {
             if (export_format_of(word) || std::isalpha(static_cast<unsigned char>(word[0])) != 0) {
               take_format(word);
             } else {
               options.filter.to = take_time("--to", word);
             }
           }
         },
         "up to this time; or the format, as --format")
      ->type_name("TIME")
      ->allow_extra_args(false)
      ->group(group(kFilters));
  add_time(sub, "--to-time", "same as --to TIME", options.filter.to)->group(group(kFilters));
}

void CommandDefinitions::define_export_form(CLI::App& sub) {
  ExportOptions& options = invocation.exporting.options;
  static constexpr std::array kWeights = {
      Choice{"auto", static_cast<int>(ExportWeight::kAuto)},
      Choice{"count", static_cast<int>(ExportWeight::kCount)},
      Choice{"period", static_cast<int>(ExportWeight::kPeriod)},
  };
  static constexpr std::array kRoots = {
      Choice{"none", static_cast<int>(FoldedRoot::kNone)},
      Choice{"process", static_cast<int>(FoldedRoot::kProcess)},
      Choice{"thread", static_cast<int>(FoldedRoot::kThread)},
  };
  add_choice(sub, "--weight", kWeights, "what a sample counts for", [&options](int value) {
    options.weight = static_cast<ExportWeight>(value);
  })->group(group(kForm));
  add_frames(sub, "how a frame is written: its function where one is known", options.frames)
      ->group(group(kForm));
  sub.add_flag("--inline,--inlines", options.folded.inlines,
               "folded: a frame for each inlined call")
      ->group(group(kForm));
  add_choice(sub, "--root", kRoots, "folded: what stands above the first frame",
             [&options](int value) { options.folded.root = static_cast<FoldedRoot>(value); })
      ->group(group(kForm));
  sub.add_flag_callback(
         "--with-process", [&options] { options.folded.root = FoldedRoot::kProcess; },
         "folded: same as --root process")
      ->group(group(kForm));
  sub.add_flag("--annotate-kernel", options.folded.annotate_kernel,
               "folded: mark kernel frames with _[k]")
      ->group(group(kForm));
  sub.add_flag("--aggregate", options.speedscope.aggregate,
               "speedscope: weights instead of times, which samples without times get always")
      ->group(group(kForm));
  sub.add_flag("--otlp-stack-tree", options.otlp.stack_tree,
               "otlp: callstacks as a tree, for comparing sizes")
      ->group(group(kForm));
  add_size(sub, "--memory-limit", "memory for what grows with the samples", options.memory_limit,
           app::Batch::kLeastMemoryLimit)
      ->default_str("96MiB")
      ->group(group(kForm));
}

void CommandDefinitions::define_symbolize() {
  CLI::App& sub = command(
      "symbolize", "name the functions of a .spk file by files with symbols", Command::kSymbolize,
      {{"symbolize IN.spk -o OUT.spk [--symbols DIR]... [--sysroot DIR] [OPTIONS]"},
       {{"on the machine that was recorded", "stackpack symbolize perf.spk -o named.spk"},
        {"from an archive of debug files, as a gate in a pipeline",
         "stackpack symbolize perf.spk -o named.spk --symbols debug/ --check 'named.share >= 0.9'"},
        {"a recording of another machine, whose files are below a folder",
         "stackpack symbolize perf.spk -o named.spk --sysroot /srv/images/board"}},
       "A file with symbols is taken when its build id is that of the recorded image; without one "
       "in the capture only below --sysroot. Nothing is fetched from a network: DEBUGINFOD_URLS is "
       "not looked at.\n"
       "An address in no function stays unnamed. All else of the file stays byte by byte, and "
       "names that are in it stay: another run with more files adds.\n"
       "A symbol file is read by a process of its own with limits on memory, time and files: a "
       "damaged one costs its image.\n"
       "EXPR of --check is KEY OP NUMBER, as of stats: KEY a path in the --json object.\n"
       "Exit status: 3 when a check fails."});
  SymbolizeArguments& arguments = invocation.symbolize;
  app::SymbolizeOptions& options = arguments.options;
  sub.add_option("file", arguments.file, "a .spk file")->type_name("IN.spk")->required();
  sub.add_option("-o,--output", arguments.output, "write this file; '-' is standard output")
      ->type_name("FILE")
      ->required()
      ->group(group(kOutputs));
  sub.add_flag("--force", options.force,
               "replace an existing output that is neither a .spk file nor empty")
      ->group(group(kOutputs));
  add_symbol_places(sub, options, kInputs);
  add_number<unsigned>(sub, "-j,--jobs", "images at a time", 1, 1024,
                       [&options](unsigned jobs) { options.jobs = jobs; })
      ->default_str("one per processor")
      ->group(group(kForm));
  sub.add_option("--check", arguments.checks,
                 "exit with status 3 unless this holds; may be given several times")
      ->type_name("EXPR")
      ->allow_extra_args(false)
      ->group(group(kReports));
  sub.add_flag("--json", arguments.json, "report on standard output as a JSON object")
      ->group(group(kReports));
  sub.add_flag("-q,--quiet", arguments.quiet, "no report or progress; only errors")
      ->group(group(kReports));
}

void CommandDefinitions::define_verify() {
  CLI::App& sub = command(
      "verify", "check every checksum and every structural rule of .spk files", Command::kVerify,
      {{"verify FILE.spk..."}, {{"all of them", "stackpack verify packed/*.spk"}}, ""});
  sub.add_option("files", invocation.verify.files, ".spk files")
      ->type_name("FILE.spk...")
      ->required();
  sub.add_flag("-q,--quiet", invocation.verify.quiet, "no line for good files")
      ->group(group(kReports));
}

void CommandDefinitions::define_help() {
  CLI::App& sub =
      command("help", "explain a command or a topic", Command::kHelp,
              {{"help [COMMAND | TOPIC]"},
               {{"the topics", "stackpack help topics"},
                {"completions for this shell", "source <(stackpack help completions bash)"}},
               ""});
  sub.add_option("topic", invocation.help.topic, "a command, or one of `help topics`")
      ->type_name("TOPIC");
}

}  // namespace stackpack::cli
