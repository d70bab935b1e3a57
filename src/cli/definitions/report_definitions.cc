#include <array>

#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"
#include "cli/definitions/packing_options.h"

namespace stackpack::cli {

namespace {

constexpr const char* kFunctionText =
    "name of a function or the end of one, with * and ?, /REGEX/, MODULE!FUNCTION, or id:HEX, an "
    "id of --json";

void add_report_file(CommandRow& sub, ReportArguments& arguments) {
  sub.add_option_function(
         "file", [&arguments](const std::string& file) { arguments.files = {file}; },
         "a .spk file, or a capture; without one, perf.data of the current folder")
      ->type_name("FILE");
}

void add_sources(CommandRow& sub, ReportArguments& arguments) {
  sub.add_option("--sources", arguments.source_folders,
                 "look for source files below this folder, too (default: the current one)")
      ->type_name("DIR")
      ->one_at_a_time()
      ->group(kForm);
}

}  // namespace

void CommandDefinitions::define_stats() {
  CommandRow& sub = command(
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
  add_checks(sub, arguments.checks);
  sub.add_flag("--by-process", arguments.by_process,
               "also count the samples of each process; reads every sample")
      ->group(kReports);
  sub.add_flag("--json", arguments.json,
               "JSON: an object, or for several files an array that ends with the totals")
      ->group(kReports);
  sub.add_flag("-q,--quiet", arguments.quiet, "no figures; only errors and checks that fail")
      ->group(kReports);
  add_capture_format(sub, arguments.options.format)->group(kInputs);
  add_filters(sub, arguments.filter);
  add_times(sub, arguments.filter.from, arguments.filter.to);
}

// What the three reports have in common.
void CommandDefinitions::define_report(CommandRow& sub, ReportKind kind, bool of_lines) {
  ReportArguments& arguments = invocation.report;
  sub.add_flag_callback(
         "--self", [&arguments] { arguments.by_self = true; }, "order by samples in the row itself")
      ->group(kForm);
  sub.add_flag_callback(
         "--total", [&arguments] { arguments.by_self = false; },
         "order by samples in the row or in what it calls")
      ->group(kForm);
  sub.add_option("-n,--rows,--limit", arguments.rows, "most rows; 0: all")
      ->type_name("N")
      ->default_str(kind == ReportKind::kTop ? "30" : "all")
      ->group(kForm);
  add_frames(sub,
             "what frames without a name are counted by: their module, module and offset, or "
             "all frames by address",
             arguments.query.filters.frames)
      ->group(kForm);
  add_count(sub, arguments.query.filters.count)->group(kForm);
  add_function_names(sub, true, arguments.names)->group(kForm);
  add_filters(sub, arguments.query.filters.filter);
  add_wait_filters(sub, arguments.query.filters.filter);
  add_wakers(sub, arguments.query.filters.filter);
  add_times(sub, arguments.query.filters.filter.from, arguments.query.filters.filter.to);
  const auto add_functions = [&sub](const std::string& name, const std::string& text,
                                    std::vector<std::string>& patterns) {
    sub.add_option(name, patterns, text)->type_name("FUNCTION")->one_at_a_time()->group(kFilters);
  };
  app::StackPatterns& patterns = arguments.query.patterns;
  add_functions("--focus", "only callstacks that run through this function", patterns.focus);
  add_functions("--ignore", "without callstacks that run through this function", patterns.ignore);
  add_functions("--hide", "callstacks without the frames of this function", patterns.hide);
  sub.add_option("--type", arguments.query.types,
                 "samples alone of allocations of objects of this type, or of exceptions of it; "
                 "with * and ?")
      ->type_name("TYPE")
      ->one_at_a_time()
      ->group(kFilters);
  sub.add_flag("--all-events", arguments.query.filters.all_events, "all events at once")
      ->group(kFilters);
  sub.add_flag("--json", arguments.json, "a JSON object")->group(kReports);
  add_capture_reading(sub, arguments.capture);
  sub.on_begin([&arguments, kind, of_lines] {
    arguments.kind = kind;
    arguments.of_lines = of_lines;
    arguments.by_self = kind == ReportKind::kTop;
    arguments.rows = kind == ReportKind::kTop ? 30 : 0;
    arguments.query.filters.frames = FrameStyle::kFunction;
  });
}

namespace {

CommandDefinitions::Extra help_of_top() {
  return {
      {"top [FILE...] [--by WHAT|--tree|--annotate FUNCTION] [--self|--total] [-n N] [FILTERS] "
       "[--json]"},
      {{"where the time goes", "stackpack top out.spk"},
       {"the modules that one process is in, from its first two seconds",
        "stackpack top perf.data --by module --total --comm node --to +2s"},
       {"the lines of one function", "stackpack annotate perf.data parse_request"},
       {"the types that a .NET program allocates", "stackpack top app.nettrace --by type"}},
      "self counts the samples whose leaf is in the row, total those that have it anywhere; a "
      "function that calls itself counts once. Functions of a capture are named by the files of "
      "this machine.\n"
      "Code without a name counts under its module, as [module]. Samples of different events do "
      "not "
      "add up: unless told otherwise, the one that samples time is taken, of several that with "
      "most samples, and a line names the others. Figures are what that event measures: "
      "nanoseconds, cycles, faults; --count samples counts samples. Idle threads of processors "
      "are left out.\n" +
          std::string(kPatterns)};
}

// What a row of `top` may be.
constexpr std::array kGrains = {
    Choice{"function", static_cast<int>(app::HotSpotKind::kFunction)},
    Choice{"module", static_cast<int>(app::HotSpotKind::kModule)},
    Choice{"line", static_cast<int>(app::HotSpotKind::kLine)},
    Choice{"file", static_cast<int>(app::HotSpotKind::kFile)},
    Choice{"process", static_cast<int>(app::HotSpotKind::kProcess)},
    Choice{"thread", static_cast<int>(app::HotSpotKind::kThread)},
    Choice{"comm", static_cast<int>(app::HotSpotKind::kComm)},
    Choice{"pool", static_cast<int>(app::HotSpotKind::kPool)},
    Choice{"event", static_cast<int>(app::HotSpotKind::kEvent)},
    Choice{"callstack", static_cast<int>(app::HotSpotKind::kCallstack)},
    Choice{"source", static_cast<int>(app::HotSpotKind::kSource)},
    Choice{"type", static_cast<int>(app::HotSpotKind::kType)},
    Choice{"waker", static_cast<int>(app::HotSpotKind::kWaker)},
    Choice{"reason", static_cast<int>(app::HotSpotKind::kReason)},
    Choice{"cgroup", static_cast<int>(app::HotSpotKind::kControlGroup)},
    Choice{"package", static_cast<int>(app::HotSpotKind::kPackage)},
};

}  // namespace

void CommandDefinitions::define_top() {
  CommandRow& sub =
      command("top", "show which functions the samples are in", Command::kTop, help_of_top());
  ReportArguments& arguments = invocation.report;
  sub.add_option(
         "files", arguments.files,
         ".spk files, captures, and folders of them; their samples are added up; without one, "
         "perf.data of the current folder")
      ->type_name("FILE...");
  add_files_from(sub, arguments.files_from);
  const auto take_grain = [&arguments](int value) {
    arguments.query.by = static_cast<app::HotSpotKind>(value);
  };
  const auto take_field = [&arguments](const std::string& word) {
    return app::take_keyed_grain(word, arguments.query);
  };
  add_choice(sub, "--by", kGrains,
             "what a row is; label:KEY: a value of that label; field:NAME: of a tracepoint's field",
             take_grain, take_field)
      ->group(kForm);
  sub.add_flag("--tree", arguments.tree, "the -n largest functions below what calls them")
      ->group(kForm);
  add_keep_broken(sub, arguments.query.filters.keep_broken)->group(kForm);
  sub.add_option("--annotate", arguments.annotate,
                 "the source lines of this function with their samples; its instructions where the "
                 "lines or the sources are not known")
      ->type_name("FUNCTION")
      ->group(kForm);
  add_sources(sub, arguments);
  sub.add_option("--only", arguments.only, "rows of this function alone; shares stay those of all")
      ->type_name("FUNCTION")
      ->group(kForm);
  define_report(sub, ReportKind::kTop);
}

void CommandDefinitions::define_annotate() {
  CommandRow& sub =
      command("annotate", "show the source lines of a function with their samples", Command::kTop,
              {{"annotate [FILE] FUNCTION [FILTERS] [--json]"},
               {{"the lines of one function", "stackpack annotate perf.data parse_request"}},
               "Its instructions where the lines or the sources are not known. This is top "
               "--annotate FUNCTION.\n" +
                   std::string(kPatterns)});
  ReportArguments& arguments = invocation.report;
  add_report_file(sub, arguments);
  sub.add_option("function", arguments.annotate, kFunctionText)->type_name("FUNCTION");
  add_sources(sub, arguments);
  define_report(sub, ReportKind::kTop, true);
}

void CommandDefinitions::define_neighbours(const std::string& name, const std::string& summary,
                                           ReportKind kind) {
  CommandRow& sub = command(
      name, summary, kind == ReportKind::kCallers ? Command::kCallers : Command::kCallees,
      {{name + " [FILE] FUNCTION [--self|--total] [-n N] [FILTERS] [--json]"},
       {{"of one function", "stackpack " + name + " out.spk malloc"},
        {"of all whose names have a word", "stackpack " + name + " out.spk '*write*'"},
        {"where several modules have it", "stackpack " + name + " out.spk 'libc.so.6!malloc'"}},
       kind == ReportKind::kCallers
           ? "total counts the samples in which the row calls the function, self those of them "
             "whose leaf is the function; [root]: nothing calls it."
           : "total counts the samples in which the function calls the row, self those of them "
             "whose leaf is the row; [self]: the function is the leaf."});
  ReportArguments& arguments = invocation.report;
  add_report_file(sub, arguments);
  sub.add_option("function", arguments.function, kFunctionText)->type_name("FUNCTION");
  define_report(sub, kind);
}

void CommandDefinitions::define_branches() {
  static constexpr std::array kOrders = {
      Choice{"taken", static_cast<int>(app::BranchOrder::kTaken)},
      Choice{"mispredicted", static_cast<int>(app::BranchOrder::kMispredicted)},
  };
  CommandRow& sub = command(
      "branches", "show the hottest branches and loops of perf record -b", Command::kBranches,
      {{"branches FILE [--sort taken|mispredicted] [-n N] [--json]"},
       {{"branches that are taken most", "stackpack branches out.spk"},
        {"those that are mispredicted most", "stackpack branches perf.data --sort mispredicted"}},
       "not taken counts the runs that went on after the branch. A loop is what branches back to "
       "a place in the same function; its iterations are the times that this place was reached, "
       "its entries those of them that came from elsewhere. All events are added up."});
  BranchesArguments& arguments = invocation.branches;
  sub.add_option("file", arguments.file, "a .spk file, or a capture")
      ->type_name("FILE")
      ->required();
  add_choice(sub, "--sort", kOrders, "which branches come first", [&arguments](int value) {
    arguments.order = static_cast<app::BranchOrder>(value);
  })->group(kForm);
  sub.add_option("-n,--rows,--limit", arguments.rows, "most branches, and most loops; 0: all")
      ->type_name("N")
      ->default_str("30")
      ->group(kForm);
  add_function_names(sub, true, arguments.names)->group(kForm);
  sub.add_flag("--json", arguments.json, "a JSON object")->group(kReports);
  add_capture_reading(sub, arguments.capture);
}

}  // namespace stackpack::cli
