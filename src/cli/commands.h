// One function per command. Each returns the exit code of the program.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/listing/text_output.h"
#include "cli/arguments.h"
#include "cli/command_text.h"
#include "cli/messages.h"
#include "stackpack/reader.h"

namespace stackpack::cli {

/// Why binary output is not written to a terminal.
inline constexpr std::string_view kTerminalText =
    "the output is binary and standard output is a terminal; give -o FILE, or a pipe";

int run_convert(const ConvertArguments& arguments, const Messages& messages);
int run_stats(const StatsArguments& arguments, const Messages& messages);
int run_dump(const DumpArguments& arguments, const Messages& messages);
int run_show(const ShowArguments& arguments, const Messages& messages);
int run_export(const ExportArguments& arguments, const Messages& messages);
int run_branch_export(const ExportArguments& arguments, const Messages& messages);
int run_report(const ReportArguments& arguments, const Messages& messages);
int run_branches(const BranchesArguments& arguments, const Messages& messages);
int run_waits(const WaitsArguments& arguments, const Messages& messages);
int run_event_report(const EventReportArguments& arguments, const Messages& messages);
int run_diff(const DiffArguments& arguments, const Messages& messages);
int run_baseline(const BaselineArguments& arguments, const Messages& messages);
int run_trend(const TrendArguments& arguments, const Messages& messages);
int run_view(const ViewArguments& arguments, const Messages& messages);
int run_symbolize(const SymbolizeArguments& arguments, const Messages& messages);
int run_cut(const CutArguments& arguments, const Messages& messages);
int run_collect(const CollectArguments& arguments, const Messages& messages);
int run_merge(const MergeArguments& arguments, const Messages& messages);
int run_verify(const VerifyArguments& arguments, const Messages& messages);
int run_mcp(const McpArguments& arguments, const Messages& messages);
int run_query(const QueryArguments& arguments, const Messages& messages);
int run_redact(const RedactArguments& arguments, const Messages& messages);
int run_help(const HelpArguments& arguments, const std::vector<CommandText>& commands,
             const Messages& messages);

/// The bytes of a file as a key of `redact`; "-": of standard input. Errors: those of reading;
/// kUsage: it is empty.
Result<std::string> read_redaction_key(const std::string& file);

/// Opens a .spk file, or says why not.
std::unique_ptr<Reader> open_or_explain(const std::string& file, const Messages& messages,
                                        int& exit_code);

/// Whether all of `places` that are files are bundles; says which is not.
bool bundles_are_good(const std::vector<std::string>& places, const Messages& messages,
                      int& exit_code);

/// Adds the callstacks that `show` prints to `out`, which `written` may take away now and then.
Status append_callstacks(const Reader& reader, const ShowArguments& arguments, std::string& out,
                         const std::function<Status()>& written);

/// Writes `text` to standard output. A reader that went away is no failure.
int print(const std::string& text, const Messages& messages);

/// The exit code of what was written to `out`, whose last write ended with `status`.
int finish_output(app::TextOutput& out, const Status& status, const std::string& file,
                  const Messages& messages);

}  // namespace stackpack::cli
