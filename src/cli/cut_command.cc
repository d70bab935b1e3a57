#include <string>

#include <fmt/format.h>

#include "app/console.h"
#include "app/cut/cut.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/interruptible.h"
#include "cli/next_step.h"

namespace stackpack::cli {

namespace {

int explain(Error error, const CutArguments& arguments, const Messages& messages) {
  const bool of_output = error.part == kOutputPart;
  error.part = kMainPart;
  if (of_output) {
    messages.error(arguments.output, error);
  } else {
    explain_not_packed(arguments.file, error, messages);
  }
  return exit_code_of(error);
}

}  // namespace

int run_cut(const CutArguments& arguments, const Messages& messages) {
  if (arguments.output == "-" && app::is_terminal(app::Stream::kStandardOutput)) {
    messages.error("cut", kTerminalText);
    return kExitUsage;
  }
  ConvertProgress progress;
  const Result<app::CutReport> report = run_interruptible(progress, [&] {
    return app::cut_file(arguments.file, arguments.output, arguments.options, progress);
  });
  if (!report) {
    if (app::interrupted_by() != 0) {
      messages.error(arguments.file, "interrupted; nothing was written");
      app::end_by_signal(app::interrupted_by());
    }
    return explain(report.error(), arguments, messages);
  }
  if (!arguments.quiet) {
    messages.plain(fmt::format("{} of {}, {}; {} bytes", grouped(report->statistics.samples.total),
                               counted(report->samples_before, "sample"),
                               counted(report->statistics.callstacks.unique, "callstack"),
                               grouped(report->output_bytes)));
  }
  return kExitSuccess;
}

}  // namespace stackpack::cli
