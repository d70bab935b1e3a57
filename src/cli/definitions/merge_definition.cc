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

}  // namespace stackpack::cli
