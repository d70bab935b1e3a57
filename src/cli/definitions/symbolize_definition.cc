#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"
#include "cli/definitions/packing_options.h"

namespace stackpack::cli {

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
