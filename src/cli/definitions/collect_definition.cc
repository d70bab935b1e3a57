#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"

namespace stackpack::cli {

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
