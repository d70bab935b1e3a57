#include "cli/program.h"

#include <utility>

#include <fmt/format.h>
#include <rapidjson/rapidjson.h>

#include "app/command_inputs.h"
#include "app/console.h"
#include "app/versions.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/messages.h"
#include <CLI/Version.hpp>

namespace stackpack::cli {

namespace {

std::string version_text() {
  std::string text =
      fmt::format("stackpack {}\n.spk format {}\n", app::program_version(), app::format_version());
  for (const app::LibraryVersion& library : app::library_versions()) {
    text += fmt::format("{} {}\n", library.name, library.version);
  }
  text += fmt::format("fmt {}.{}.{}\nCLI11 {}\nRapidJSON {}\n", FMT_VERSION / 10000,
                      FMT_VERSION / 100 % 100, FMT_VERSION % 100, CLI11_VERSION,
                      RAPIDJSON_VERSION_STRING);
  return text;
}

int run(const CommandLine& command_line, const Messages& messages) {
  const Invocation& invocation = command_line.invocation();
  switch (invocation.command) {
    case Command::kConvert:
      return run_convert(invocation.convert, messages);
    case Command::kStats:
      return run_stats(invocation.stats, messages);
    case Command::kDump:
      return run_dump(invocation.dump, messages);
    case Command::kShow:
      return run_show(invocation.show, messages);
    case Command::kExport:
      return run_export(invocation.exporting, messages);
    case Command::kTop:
    case Command::kCallers:
    case Command::kCallees:
      return run_report(invocation.report, messages);
    case Command::kBranches:
      return run_branches(invocation.branches, messages);
    case Command::kWaits:
      return run_waits(invocation.waits, messages);
    case Command::kEventReport:
      return run_event_report(invocation.event_report, messages);
    case Command::kDiff:
      return run_diff(invocation.diff, messages);
    case Command::kBaseline:
      return run_baseline(invocation.baseline, messages);
    case Command::kTrend:
      return run_trend(invocation.trend, messages);
    case Command::kView:
      return run_view(invocation.view, messages);
    case Command::kSymbolize:
      return run_symbolize(invocation.symbolize, messages);
    case Command::kCut:
      return run_cut(invocation.cut, messages);
    case Command::kCollect:
      return run_collect(invocation.collect, messages);
    case Command::kMerge:
      return run_merge(invocation.merge, messages);
    case Command::kVerify:
      return run_verify(invocation.verify, messages);
    case Command::kQuery:
      return run_query(invocation.query, messages);
    case Command::kMcp:
      return run_mcp(invocation.mcp, messages);
    case Command::kRedact:
      return run_redact(invocation.redact, messages);
    case Command::kHelp:
      return run_help(invocation.help, command_line.describe(), messages);
  }
  return kExitInternal;
}

}  // namespace

int run_program(std::vector<std::string> arguments) {
  app::prepare_standard_streams();
  const Messages messages;
  const app::FilesRead files_read;  // of the command: also lists of inputs, and files of exceptions
  if (!arguments.empty() && (arguments.front() == "--version" || arguments.front() == "-V")) {
    return print(version_text(), messages);
  }
  CommandLine command_line;
  const Parsed parsed = command_line.parse(std::move(arguments));
  switch (parsed.kind) {
    case Parsed::Kind::kRun:
      if (parsed.has_standard_input && app::is_terminal(app::Stream::kStandardInput)) {
        messages.plain(
            "reading a capture from standard input, which is this terminal; Ctrl+C ends it, and a "
            "pipe or < FILE gives one");
      }
      return run(command_line, messages);
    case Parsed::Kind::kHelp:
      return print(parsed.text, messages);
    case Parsed::Kind::kUsageError:
      messages.error("", parsed.text);
      return kExitUsage;
  }
  return kExitInternal;
}

}  // namespace stackpack::cli
