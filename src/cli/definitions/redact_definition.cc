#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"
#include "cli/definitions/packing_options.h"

namespace stackpack::cli {

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

}  // namespace stackpack::cli
