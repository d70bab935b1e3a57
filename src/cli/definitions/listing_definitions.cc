#include <optional>

#include <fmt/format.h>

#include "bytes/quoted.h"
#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"

namespace stackpack::cli {

namespace {

CommandDefinitions::Extra help_of_dump() {
  return {
      {"dump FILE LISTING [--ids] [--json] [FILTERS]"},
      {{"the ten hottest callstacks, with their ids",
        "stackpack dump --stacks --ids out.spk | sort -rn | head"},
       {"samples of one thread in two seconds",
        "stackpack dump --samples out.spk --tid 4711 --from +1s --to +3s"},
       {"what an EventSource wrote, of a capture",
        "stackpack dump app.nettrace --events-of MyCompany-MyApp"}},
      "--stacks: a line per distinct recorded callstack: COUNT frame frame ..., leaf first; a "
      "frame is a letter (k kernel, u user, h hypervisor, g guest, G guest kernel, U guest user, "
      "? "
      "unknown) and the address in hex.\n"
      "Other listings: a line of names that begins with '#', then a line per row, fields "
      "separated "
      "by tabs; '-' is a value that was not recorded.\n"
      "--branches: COUNT MISPREDICTED TYPE FROM TO, --ranges: COUNT BEGIN END, in the order of "
      "bytes; "
      "places are IMAGE+OFFSET in the file, in hex, IMAGE being its build id or path.\n"
      "--branch-stacks: FROM/TO/M|P|-/X|-/A|-/CYCLES[/TYPE/SPECULATION] for each branch, with "
      "addresses of the sample's process.\n"
      "Filters apply to --stacks and --samples; --pid, --tid, --from and --to to --intervals as "
      "well, --event to --fields and --event-values. For an imported profile COUNT is what the "
      "samples stand for. " +
          std::string(kPatterns)};
}

}  // namespace

void CommandDefinitions::define_dump() {
  CommandRow& sub =
      command("dump", "list what a .spk file or a capture holds", Command::kDump, help_of_dump());
  DumpArguments& arguments = invocation.dump;
  sub.add_option("file", arguments.file, "a .spk file, or a capture; of --events-of a capture")
      ->type_name("FILE")
      ->required();
  define_dump_kinds(sub);
  add_filters(sub, arguments.filter);
  add_times(sub, arguments.filter.from, arguments.filter.to);
  sub.add_flag("--ids", arguments.ids,
               "with --stacks: the id that `show` takes, as a second column")
      ->group(kReports);
  sub.add_option("--limit", arguments.limit, "most rows; 0: all")
      ->type_name("N")
      ->default_str("0")
      ->group(kForm);
  sub.add_flag("--json", arguments.json, "a JSON array, an element a line")->group(kReports);
  add_capture_reading(sub, arguments.capture);
}

void CommandDefinitions::define_dump_kinds(CommandRow& sub) {
  DumpArguments& arguments = invocation.dump;
  const auto kind = [&](const std::string& name, DumpKind value, const std::string& text) {
    sub.add_flag_callback(
           name, [this, value] { dump_kinds.push_back(value); }, text)
        ->group(kListings);
  };
  kind("--stacks", DumpKind::kStacks, "distinct recorded callstacks with their number of samples");
  kind("--samples", DumpKind::kSamples, "every sample, in time order, with its callstack");
  kind("--processes", DumpKind::kProcesses, "processes with their names and times");
  kind("--threads", DumpKind::kThreads, "threads with their names and times");
  kind("--modules", DumpKind::kModules, "mapped images with address, build id and time");
  kind("--events", DumpKind::kEvents, "what was counted or traced, with its number of samples");
  kind("--losses", DumpKind::kLosses, "what was lost, damaged or remarkable");
  kind("--metadata", DumpKind::kMetadata, "the recording: host, system, command, ...");
  kind("--functions", DumpKind::kFunctions,
       "functions with their addresses, and when they came into being");
  kind("--names", DumpKind::kNames, "every address of a callstack that has a name, by process");
  kind("--intervals", DumpKind::kIntervals,
       "what each thread did from when to when: running, blocked, woken, preempted, ...");
  kind("--event-values", DumpKind::kEventValues,
       "what events say: collections, allocations, exceptions, files, ...");
  kind("--fields", DumpKind::kFields, "what tracepoints say, field by field");
  kind("--sample-fields", DumpKind::kSampleFields,
       "what samples say of memory and control groups: data addresses, latencies, sizes of pages");
  kind("--labels", DumpKind::kLabels, "sets of labels that samples have");
  sub.add_option_function(
         "--events-of",
         [this, &arguments](const std::string& provider) {
           dump_kinds.push_back(DumpKind::kEventsOf);
           arguments.provider = provider;
         },
         "of a capture: its events of a provider, with their fields; '*' stands for any characters")
      ->type_name("PROVIDER")
      ->group(kListings);
  kind("--sources", DumpKind::kSources, "captures that a merged file was made from");
  kind("--branches", DumpKind::kBranches,
       "branches of perf record -b, with how often they were taken");
  kind("--ranges", DumpKind::kRanges, "code between two taken branches, with how often it ran");
  kind("--branch-stacks", DumpKind::kBranchStacks,
       "the branches before each sample, newest first, of `convert --keep-branches`");
}

void CommandDefinitions::define_show() {
  CommandRow& sub = command(
      "show", "print callstacks with functions, or modules and offsets", Command::kShow,
      {{"show FILE ID..."},
       {{"the callstack of the first sample that has one",
         "stackpack show out.spk $(stackpack dump --samples out.spk | awk -F'\\t' '$9 != \"-\" && "
         "!/^#/ {print $9; exit}')"}},
       "What an address means depends on the process and the time: those of the first sample with "
       "that callstack are taken, with --pid of the first one in that process, with --from of the "
       "first one not before that time. Offsets are those in the file.\n"
       "IDs are those of `dump --stacks --ids` and `dump --samples`: 0 to the number of callstacks "
       "minus one."});
  ShowArguments& arguments = invocation.show;
  sub.add_option("file", arguments.file, "a .spk file, or a capture")
      ->type_name("FILE")
      ->required();
  const auto take_ids = [&arguments](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const auto id = number_of<StackId>(word, 0, kNoStack - 1);
      if (!id) {
        refuse("ID", fmt::format("{} is not the id of a callstack; dump --samples lists them",
                                 bytes::quoted(word)));
      }
      arguments.ids.push_back(*id);
    }
  };
  sub.add_list_function("ids", take_ids, "ids of callstacks")->type_name("ID...")->required();
  add_id(sub, "--pid", "take the mappings of this process", arguments.pid)->group(kFilters);
  add_times(sub, arguments.from, arguments.to);
  sub.add_option("--limit", arguments.limit, "at most this many frames of each callstack; 0: all")
      ->type_name("N")
      ->group(kForm);
  add_function_names(sub, true, arguments.names)->group(kForm);
  add_frames(sub, "how a frame is written: its function where one is known", arguments.frames)
      ->group(kForm);
  add_capture_reading(sub, arguments.capture);
  sub.add_flag("--json", arguments.json, "a JSON array, an element a line")->group(kReports);
}

void CommandDefinitions::define_verify() {
  CommandRow& sub = command(
      "verify", "check every checksum and every structural rule of .spk files", Command::kVerify,
      {{"verify FILE.spk..."}, {{"all of them", "stackpack verify packed/*.spk"}}, ""});
  sub.add_option("files", invocation.verify.files, ".spk files")
      ->type_name("FILE.spk...")
      ->required();
  sub.add_flag("-q,--quiet", invocation.verify.quiet, "no line for good files")->group(kReports);
  sub.add_flag("--json", invocation.verify.json, "JSON: an array, an object a file")
      ->group(kReports);
}

void CommandDefinitions::define_query() {
  CommandRow& sub = command(
      "query", "ask the tables of a file in SQL, through DuckDB", Command::kQuery,
      {{"query FILE SQL [--json] [--limit N] [--events-of PROVIDER] [--duckdb LIBRARY]"},
       {{"samples of each event",
         "stackpack query out.spk 'SELECT event, count(*) FROM samples GROUP BY event'"},
        {"threads by the time of their samples, as JSON",
         "stackpack query perf.data 'SELECT tid, sum(weight) AS w FROM samples GROUP BY tid ORDER "
         "BY w DESC' --limit 10 --json"},
        {"what a program's own events say",
         "stackpack query app.nettrace \"SELECT name, field, text FROM provider_events\" "
         "--events-of MyCompany-MyApp"},
        {"the columns of a table", "stackpack query out.spk 'DESCRIBE frames'"}},
       "The tables are those of docs/arrow.md: samples, callstacks, frames, functions, modules, "
       "processes, threads, events, sources, losses, metadata, counts, top, branches, ranges, "
       "intervals, event_values, sample_fields, branch_stacks, and of a capture (.etl, .nettrace) "
       "provider_events. Those that the question names are loaded into memory.\n"
       "One SELECT is answered. It can read neither files nor a network.\n"
       "DuckDB's library is not part of stackpack: libduckdb.so is looked for where the system "
       "looks for libraries, or is given by --duckdb or STACKPACK_DUCKDB."});
  QueryArguments& arguments = invocation.query;
  sub.add_option("file", arguments.file, "a .spk file, or a capture")
      ->type_name("FILE")
      ->required();
  sub.add_option("sql", arguments.sql, "the question")->type_name("SQL")->required();
  sub.add_option("--limit", arguments.rows, "most rows; 0: all")
      ->type_name("N")
      ->default_str("1000")
      ->group(kForm);
  sub.add_option("--events-of", arguments.providers,
                 "of provider_events: providers by name or GUID, '*' stands for any characters")
      ->type_name("PROVIDER")
      ->default_str("all")
      ->group(kInputs);
  sub.add_option("--duckdb", arguments.library, "DuckDB's library")
      ->type_name("LIBRARY")
      ->group(kInputs);
  sub.add_flag("--json", arguments.json, "JSON: an object with columns and rows")->group(kReports);
  add_capture_reading(sub, arguments.capture);
}

}  // namespace stackpack::cli
