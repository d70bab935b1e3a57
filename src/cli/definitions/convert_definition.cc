#include <array>

#include "app/batch/batch.h"
#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"
#include "cli/definitions/packing_options.h"

namespace stackpack::cli {

namespace {

constexpr std::array kNamings = {Choice{"base", 0}, Choice{"path", 1}};

}  // namespace

void CommandDefinitions::define_convert() {
  CommandRow& sub = command(
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
  define_convert_outputs(sub);
  define_convert_packing(sub);
  ConvertArguments& arguments = invocation.convert;
  sub.add_flag("--unwind", arguments.options.unwind,
               "unwind the stack dumps of `perf record --call-graph dwarf`; with the binaries of "
               "this machine and those below --symbols and --sysroot")
      ->group(kNames);
  sub.add_flag(
         "-s,--symbolize", arguments.symbolize,
         "name functions as `stackpack symbolize` does, from the files of this machine and these:")
      ->group(kNames);
  add_symbol_places(sub, arguments.naming, kNames);
  sub.add_flag("--rebase", arguments.rebase,
               "make frames independent of where code was mapped, as `stackpack merge` does: the "
               "same code in many short processes is the same callstack")
      ->group(kPacking);
  define_convert_reports(sub);
}

void CommandDefinitions::define_convert_inputs(CommandRow& sub) {
  ConvertArguments& arguments = invocation.convert;
  sub.add_option(
         "inputs", arguments.inputs,
         "captures: .etl, perf.data (file, pipe stream, directory of --threads), .nettrace, "
         ".jfr, text of perf script, folded text, pprof, OTLP profiles, speedscope, Firefox "
         "Profiler, V8 (.cpuprofile, .heapprofile, traces of Chrome), "
         "any of them in "
         ".gz or .zst, a "
         "zip archive of .etl or perf.data "
         "files; '-' is standard input")
      ->type_name("INPUT...");
  add_files_from(sub, arguments.files_from);
  sub.add_flag("--recursive", arguments.recursive, "a directory stands for all captures below it")
      ->group(kInputs);
  add_capture_format(sub, arguments.options.format)->group(kInputs);
  sub.add_flag("--session", arguments.session,
               "the inputs are one recording session: .etl files, and all those of archives, "
               "become one output; always so for .diagsession and .etl.zip")
      ->group(kInputs);
  sub.add_option("--member", arguments.options.member,
                 "which capture to take from a zip archive that holds several")
      ->type_name("NAME")
      ->group(kInputs);
}

void CommandDefinitions::define_convert_outputs(CommandRow& sub) {
  ConvertArguments& arguments = invocation.convert;
  ConvertOptions& options = arguments.options;
  add_output(sub, arguments.output);
  sub.add_option("--out-dir", arguments.out_dir,
                 "write INPUT.spk for each input into this directory; it is created if it does "
                 "not exist")
      ->type_name("DIR")
      ->group(kOutputs);
  add_choice(sub, "--names", kNamings,
             "name outputs by the last part of the input's path, or keep the path below --out-dir",
             [&arguments](int value) { arguments.keep_paths = value != 0; })
      ->group(kOutputs);
  add_force(sub, options.force);
  sub.add_flag("--skip-existing", arguments.skip_existing,
               "keep an output that was made from the same input with the same options")
      ->group(kOutputs);
}

void CommandDefinitions::define_convert_packing(CommandRow& sub) {
  ConvertArguments& arguments = invocation.convert;
  ConvertOptions& options = arguments.options;
  add_level(sub, "; full blocks of samples take level 1 below 10", options.level);
  OptionRow* const no_samples = add_no_samples(sub, options.samples);
  add_time_resolution(sub, no_samples, options.time_resolution_ns);
  sub.add_flag_callback(
         "--no-waits", [&options] { options.waits = false; },
         "leave out the intervals in which threads run and wait")
      ->group(kPacking);
  sub.add_flag_callback(
         "--no-switch-samples", [&options] { options.switch_samples = false; },
         "leave out the samples of context switches and wakeups, which the waits describe as well")
      ->group(kPacking);
  sub.add_flag_callback(
         "--no-event-values", [&options] { options.event_values = false; },
         "leave out the values of .NET and Windows kernel events")
      ->group(kPacking);
  sub.add_flag_callback(
         "--no-sample-fields", [&options] { options.sample_fields = false; },
         "leave out what samples record of memory: data addresses, latencies, data sources")
      ->group(kPacking);
  sub.add_flag("--keep-branches", options.keep_branches,
               "keep the branches before each sample, not their sums alone (perf record -b)")
      ->group(kPacking);
  sub.add_flag("--redact", options.redact,
               "leave out command lines, the host's name, and user names in paths")
      ->group(kPacking);
  add_size(sub, "--memory-limit",
           "memory for packing, all workers together: 64MiB, 2GiB, ...; at least 16MiB",
           options.memory_limit, app::Batch::kLeastMemoryLimit)
      ->default_str("512MiB each, or a quarter of the memory if that is less")
      ->group(kPacking);
  add_number<unsigned>(sub, "-j,--jobs", "captures at a time", 1, 1024,
                       [&arguments](unsigned jobs) { arguments.jobs = jobs; })
      ->default_str("one per processor")
      ->group(kPacking);
  add_number<unsigned>(sub, "--encoders",
                       "threads that encode samples, besides the one that converts", 0, 64,
                       [&options](unsigned encoders) { options.encoders = encoders; })
      ->default_str("2, or fewer where captures share the processors")
      ->group(kPacking);
}

void CommandDefinitions::define_convert_reports(CommandRow& sub) {
  ConvertArguments& arguments = invocation.convert;
  sub.add_flag("--strict", arguments.strict,
               "exit status 3 when the input has losses or damage (the output is written)")
      ->group(kReports);
  sub.add_flag("--json", arguments.json,
               "report on standard output: an object, or an array for a batch")
      ->group(kReports);
  add_progress(sub, "progress lines; auto: when standard error is a terminal", arguments.progress);
  sub.add_flag("--timings", arguments.timings, "seconds and counters of each stage")
      ->group(kReports);
  sub.add_flag("-v,--verbose", arguments.verbose,
               "name the files in directories that are not captures")
      ->group(kReports);
  sub.add_flag("-q,--quiet", arguments.quiet, "no warnings, results or progress; only errors")
      ->group(kReports);
}

void CommandDefinitions::define_collect() {
  CommandRow& sub = command(
      "collect", "pack the unwind and symbol tables that another machine needs", Command::kCollect,
      {{"collect CAPTURE|FILE.spk... -o BUNDLE.zip [--symbols DIR]... [--sysroot DIR] [OPTIONS]"},
       {{"on the machine that was recorded", "stackpack collect perf.data -o bundle.zip"},
        {"and on another one",
         "stackpack convert --unwind perf.data --symbols bundle.zip -o perf.spk"},
        {"later, for names", "stackpack symbolize perf.spk --symbols bundle.zip -o named.spk"},
        {"as a gate in a pipeline",
         "stackpack collect perf.data -o bundle.zip --check 'missing == 0'"}},
       "The archive has the unwind tables and the symbol tables of each mapped image whose file is "
       "found, as `convert --unwind` and `symbolize` find it, under its build id: a hundredth of "
       "the file. Images without a build id in the capture are left out; "
       "`perf record --buildid-mmap` keeps it. Lines and inlined calls need the files themselves.\n"
       "The same inputs and files give the same bytes.\n"
       "EXPR of --check is KEY OP NUMBER, as of stats: KEY a path in the --json object.\n"
       "Exit status: 3 when a check fails."});
  CollectArguments& arguments = invocation.collect;
  app::CollectOptions& options = arguments.options;
  sub.add_option("inputs", arguments.inputs, "captures as `convert` takes them, and .spk files")
      ->type_name("INPUT...")
      ->required();
  sub.add_option("-o,--output", arguments.output, "write this archive; '-' is standard output")
      ->type_name("BUNDLE.zip")
      ->required()
      ->group(kOutputs);
  sub.add_flag("--force", options.force,
               "replace an existing output that is not an archive of `stackpack collect`")
      ->group(kOutputs);
  add_capture_format(sub, options.format)->group(kInputs);
  add_file_places(sub, options.places, kInputs);
  add_checks(sub, arguments.checks);
  sub.add_flag("--json", arguments.json, "report on standard output as a JSON object")
      ->group(kReports);
  sub.add_flag("-q,--quiet", arguments.quiet, "no report or progress; only errors")
      ->group(kReports);
}

}  // namespace stackpack::cli
