#include <optional>
#include <string>
#include <utility>

#include "app/listing/wait_sums.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/shown_capture.h"
#include "cli/wait_list.h"
#include "cli/wait_path_report.h"
#include "cli/wait_table.h"

namespace stackpack::cli {

int run_waits(const WaitsArguments& arguments, const Messages& messages) {
  int exit_code = kExitSuccess;
  CaptureArguments reading = arguments.capture;
  reading.symbolize = reading.symbolize &&
                      (arguments.list || arguments.path);  // nothing else has names of functions
  const auto opened = open_shown(arguments.file, reading, messages, exit_code);
  if (!opened) {
    return exit_code;
  }
  const Reader& reader = opened->reader();
  if (arguments.list || arguments.path) {
    Result<std::unique_ptr<app::TextOutput>> out = app::TextOutput::open();
    if (!out) {
      messages.error("(standard output)", out.error());
      return exit_code_of(out.error());
    }
    if (arguments.list && arguments.rows.value_or(0) != 0) {
      (*out)->limit_rows(*arguments.rows, arguments.json ? app::TextOutput::RowForm::kJson
                                                         : app::TextOutput::RowForm::kLines);
    }
    const Status written = arguments.path ? report_wait_path(reader, arguments, **out)
                                          : list_wait_runs(reader, arguments, **out);
    return finish_output(**out, written, arguments.file, messages);
  }
  Result<app::WaitTable> table = app::sum_waits(reader, arguments.filter);
  if (!table) {
    messages.error(arguments.file, table.error());
    return exit_code_of(table.error());
  }
  std::string text;
  if (arguments.json) {
    append_wait_json(text, *table, arguments);
  } else {
    append_wait_table(text, *table, arguments);
  }
  return print(text, messages);
}

}  // namespace stackpack::cli
