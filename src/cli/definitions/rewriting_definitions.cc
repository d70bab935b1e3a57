#include <string>
#include <vector>

#include "app/batch/batch.h"
#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"
#include "cli/definitions/packing_options.h"

namespace stackpack::cli {

namespace {

void add_merge_inputs(CommandRow& sub, MergeArguments& arguments) {
  sub.add_option("inputs", arguments.inputs,
                 ".spk files, merged ones among them, and captures as `convert` takes them")
      ->type_name("INPUT...");
  add_files_from(sub, arguments.files_from);
  sub.add_flag("--recursive", arguments.recursive,
               "an input that is a directory stands for all .spk files and captures below it")
      ->group(kInputs);
  add_capture_format(sub, arguments.options.format)->group(kInputs);
  sub.add_flag("--keep-going", arguments.options.keep_going,
               "leave out bad inputs; the exit status still reports them")
      ->group(kInputs);
}

void add_merge_packing(CommandRow& sub, MergeOptions& options) {
  add_level(sub, "", options.level);
  OptionRow* const no_samples = add_no_samples(sub, options.samples);
  add_time_resolution(sub, no_samples, options.time_resolution_ns);
  add_size(sub, "--memory-limit",
           "memory for callstacks, counts and scratch: 64MiB, 2GiB, ...; at least 16MiB",
           options.memory_limit, app::Batch::kLeastMemoryLimit)
      ->default_str("256MiB")
      ->group(kPacking);
  add_number<unsigned>(
      sub, "-j,--jobs",
      "threads that encode samples, besides those that merge; 0: one thread for all", 0, 64,
      [&options](unsigned encoders) { options.encoders = encoders; })
      ->default_str("2, or fewer processors")
      ->group(kPacking);
}

}  // namespace

void CommandDefinitions::define_merge() {
  CommandRow& sub = command(
      "merge", "make one .spk file of many", Command::kMerge,
      {{"merge FILE.spk|CAPTURE... -o ALL.spk [OPTIONS]"},
       {{"a fleet's captures of a day", "stackpack merge host*/day.spk -o fleet.spk"},
        {"a folder of captures, whatever is bad left out, counts only",
         "stackpack merge captures/ --recursive --keep-going --no-samples -o all.spk"},
        {"in parts: the same bytes as all at once",
         "stackpack merge rack1.spk rack2.spk -o hall.spk"}},
       "Frames become independent of where code was mapped: an image, known by its build id (else "
       "by path and size), has one place in the output, so that the same code in other processes, "
       "starts and machines is the same callstack. Another build id is another image.\n"
       "Processes are numbered anew; dump --processes and --sources show where each came from. "
       "Times are wall time where a capture knows it.\n"
       "The order and grouping of the inputs do not change the output, and a capture that is in "
       "several inputs counts once. With an input without samples, the output has counts.\n"
       "Exit status: 0 done, 1 usage, 2 a bad input, 4 an I/O error."});
  MergeArguments& arguments = invocation.merge;
  add_merge_inputs(sub, arguments);
  add_output(sub, arguments.output)->required();
  add_force(sub, arguments.options.force);
  add_merge_packing(sub, arguments.options);
  add_progress(sub, "show progress on standard error", arguments.progress);
  sub.add_flag("--json", arguments.json, "report on standard output as a JSON object")
      ->group(kReports);
  sub.add_flag("-q,--quiet", arguments.quiet, "no report or progress; only errors")
      ->group(kReports);
}

void CommandDefinitions::define_cut() {
  CommandRow& sub = command(
      "cut", "write a part of a .spk file to a new file", Command::kCut,
      {{"cut IN.spk [FILTERS] -o OUT.spk"},
       {{"ten seconds", "stackpack cut day.spk --from +60s --to +70s -o slow.spk"},
        {"one program, one event",
         "stackpack cut day.spk --comm postgres --event cycles -o postgres.spk"},
        {"the callstacks of one request",
         "stackpack cut day.spk --focus handle_request -o request.spk"}},
       "Samples that pass all filters are kept with their callstacks; processes, threads, modules, "
       "names and counters of losses stay as they are. Intervals of waits and branches are left "
       "out, and counted.\n" +
           std::string(kPatterns)});
  CutArguments& arguments = invocation.cut;
  app::CutOptions& options = arguments.options;
  add_file_to_file(sub, arguments.file, arguments.output, options.force);
  add_filters(sub, options.filter);
  add_times(sub, options.filter.from, options.filter.to);
  const auto add_functions = [&sub](const std::string& name, const std::string& text,
                                    std::vector<std::string>& patterns) {
    sub.add_option(name, patterns, text)->type_name("FUNCTION")->one_at_a_time()->group(kFilters);
  };
  add_functions("--focus", "only callstacks that run through this function",
                options.patterns.focus);
  add_functions("--ignore", "without callstacks that run through this function",
                options.patterns.ignore);
  add_number<int>(sub, "--level", "zstd level", 1, 22,
                  [&options](int level) { options.level = level; })
      ->default_str("9")
      ->group(kPacking);
  sub.add_flag("--json", arguments.json, "report on standard output as a JSON object")
      ->group(kReports);
  sub.add_flag("-q,--quiet", arguments.quiet, "no summary; only errors")->group(kReports);
}

void CommandDefinitions::define_redact() {
  CommandRow& sub = command(
      "redact", "remove names from a .spk file, so that it can be shared", Command::kRedact,
      {{"redact IN.spk -o OUT.spk [--keep-modules NAME]... [--key FILE]"},
       {{"all names", "stackpack redact out.spk -o shared.spk"},
        {"but those of the C library and the kernel",
         "stackpack redact out.spk -o shared.spk --keep-modules 'libc.so*' --keep-modules "
         "'[kernel*'"},
        {"two files that can be compared",
         "stackpack redact old.spk -o a.spk --key secret; stackpack redact new.spk -o b.spk --key "
         "secret"}},
       "Functions, source files, modules, build ids, processes and threads get stand-ins: numbers, "
       "or, with --key, hashes that cannot be computed without the key. Command lines, the host "
       "and other facts about the machine and its owner are dropped.\n"
       "Callstacks, addresses, times, ids, line numbers, and the names of events and of images "
       "that are not files ([vdso]) stay. User names are removed from the paths of kept modules."});
  RedactArguments& arguments = invocation.redact;
  add_file_to_file(sub, arguments.file, arguments.output, arguments.force);
  add_names(sub, "--keep-modules", "keep names of this module, by its path or the last part",
            arguments.kept_modules)
      ->group(kForm);
  sub.add_option("--key", arguments.key_file, "a file whose bytes are the key; '-': standard input")
      ->type_name("FILE")
      ->group(kForm);
  sub.add_flag("--json", arguments.json, "report on standard output as a JSON object")
      ->group(kReports);
  sub.add_flag("-q,--quiet", arguments.quiet, "no report; only errors")->group(kReports);
}

void CommandDefinitions::define_symbolize() {
  CommandRow& sub = command(
      "symbolize", "add function names from symbol files to a .spk file", Command::kSymbolize,
      {{"symbolize IN.spk -o OUT.spk [--symbols DIR]... [--sysroot DIR] [OPTIONS]"},
       {{"on the machine that was recorded", "stackpack symbolize perf.spk -o named.spk"},
        {"from an archive of debug files, as a gate in a pipeline",
         "stackpack symbolize perf.spk -o named.spk --symbols debug/ --check 'named.share >= 0.9'"},
        {"a recording of another machine, whose files are below a folder",
         "stackpack symbolize perf.spk -o named.spk --sysroot /srv/images/board"}},
       "A symbol file is used when its build id is that of the recorded image; where the capture "
       "has no build id, only below --sysroot. Nothing is fetched from a network: DEBUGINFOD_URLS "
       "is ignored.\n"
       "An address outside of all functions stays unnamed. The rest of the file does not change, "
       "byte for byte, and names that it has already are kept: another run with more files adds to "
       "them.\n"
       "Each symbol file is read in a separate process with limits on memory, time and files: a "
       "damaged one costs only the names of its image.\n"
       "EXPR of --check is KEY OP NUMBER, as of stats: KEY a path in the --json object.\n"
       "Exit status: 3 when a check fails."});
  SymbolizeArguments& arguments = invocation.symbolize;
  app::SymbolizeOptions& options = arguments.options;
  add_file_to_file(sub, arguments.file, arguments.output, options.force);
  add_symbol_places(sub, options, kInputs);
  add_number<unsigned>(sub, "-j,--jobs", "images at a time", 1, 1024,
                       [&options](unsigned jobs) { options.jobs = jobs; })
      ->default_str("one per processor")
      ->group(kForm);
  add_checks(sub, arguments.checks);
  sub.add_flag("--json", arguments.json, "report on standard output as a JSON object")
      ->group(kReports);
  sub.add_flag("-q,--quiet", arguments.quiet, "no report or progress; only errors")
      ->group(kReports);
}

}  // namespace stackpack::cli
