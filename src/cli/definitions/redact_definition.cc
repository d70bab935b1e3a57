#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"

namespace stackpack::cli {

void CommandDefinitions::define_redact() {
  CommandRow& sub = command(
      "redact", "take names out of a .spk file, to give it away", Command::kRedact,
      {{"redact IN.spk -o OUT.spk [--keep-modules NAME]... [--key FILE]"},
       {{"all names", "stackpack redact out.spk -o shared.spk"},
        {"but those of the C library and the kernel",
         "stackpack redact out.spk -o shared.spk --keep-modules 'libc.so*' --keep-modules "
         "'[kernel*'"},
        {"two files that can be compared",
         "stackpack redact old.spk -o a.spk --key secret; stackpack redact new.spk -o b.spk --key "
         "secret"}},
       "Functions, source files, modules, build ids, processes and threads get stand-ins: numbers, "
       "or, with --key, hashes that nobody without the key can compute. Command lines, the host "
       "and other facts about the machine's owner are dropped.\n"
       "Callstacks, addresses, times, ids, lines' numbers, names of events and images that are no "
       "files ([vdso]) stay. Of kept modules user names in paths are left out."});
  RedactArguments& arguments = invocation.redact;
  sub.add_option("file", arguments.file, "a .spk file")->type_name("IN.spk")->required();
  sub.add_option("-o,--output", arguments.output, "write this file; '-' is standard output")
      ->type_name("FILE")
      ->required()
      ->group(kOutputs);
  sub.add_flag("--force", arguments.force,
               "replace an existing output that is neither a .spk file nor empty")
      ->group(kOutputs);
  add_names(sub, "--keep-modules", "keep names of this module, by its path or the last part",
            arguments.kept_modules)
      ->group(kForm);
  sub.add_option("--key", arguments.key_file, "a file whose bytes are the key; '-': standard input")
      ->type_name("FILE")
      ->group(kForm);
  sub.add_flag("-q,--quiet", arguments.quiet, "no report; only errors")->group(kReports);
}

}  // namespace stackpack::cli
