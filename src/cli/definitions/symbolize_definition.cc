#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"

namespace stackpack::cli {

void CommandDefinitions::define_symbolize() {
  CommandRow& sub = command(
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
      ->group(kOutputs);
  sub.add_flag("--force", options.force,
               "replace an existing output that is neither a .spk file nor empty")
      ->group(kOutputs);
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
