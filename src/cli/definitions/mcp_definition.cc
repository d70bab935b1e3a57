#include <cstddef>

#include "cli/definitions/command_definitions.h"
#include "cli/definitions/option_kinds.h"

namespace stackpack::cli {

void CommandDefinitions::define_mcp() {
  constexpr std::size_t kLeastBytes = 1024;
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  CommandRow& sub = command(
      "mcp", "answer an agent's questions about captures", Command::kMcp,
      {{"mcp FOLDER... [--max-bytes N] [--redact [--keep-modules NAME]... [--key FILE]]"},
       {{"of the captures in one folder", "stackpack mcp /var/profiles"},
        {"as an agent's client starts it",
         R"({"mcpServers": {"stackpack": {"command": "stackpack", "args": ["mcp", "/var/profiles"]}}})"}},
       "Speaks the Model Context Protocol on standard input and output, one JSON message a line, "
       "until the input ends. Answers are those of top, callers, callees, show and diff, cut to "
       "--max-bytes by leaving rows out; each says how many. Files stay open between calls.\n"
       "Only files below the folders are opened, symbolic links that lead out of them are not "
       "followed, nothing is written and nothing is sent anywhere. Functions of captures have the "
       "names that the capture itself has, unless --symbolize is given: it reads the files that "
       "were recorded, wherever they are.\n"
       "With --redact answers have the names that a file would have that `redact` made with the "
       "same "
       "options."});
  McpArguments& arguments = invocation.mcp;
  sub.add_option("folders", arguments.folders, "folders with .spk files and captures")
      ->type_name("FOLDER...")
      ->required();
  add_number<std::size_t>(sub, "--max-bytes", "most bytes of an answer's text", kLeastBytes,
                          kMostBytes,
                          [&arguments](std::size_t bytes) { arguments.most_bytes = bytes; })
      ->default_str("8192")
      ->group(kForm);
  sub.add_flag("--redact", arguments.redact,
               "stand-ins in place of names of functions, modules, processes and threads, and no "
               "facts about the machine: what `redact` removes")
      ->group(kForm);
  add_names(sub, "--keep-modules", "with --redact: keep names of this module",
            arguments.kept_modules)
      ->group(kForm);
  sub.add_option(
         "--key", arguments.key_file,
         "with --redact: a file whose bytes are the key; stand-ins are the same in all files")
      ->type_name("FILE")
      ->group(kForm);
  arguments.capture.symbolize = false;
  sub.add_flag("--symbolize", arguments.capture.symbolize,
               "name functions of captures by the files of this machine")
      ->group(kCaptures);
  add_map_places(sub, arguments.capture.naming, kCaptures);
}

}  // namespace stackpack::cli
