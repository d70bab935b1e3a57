#include <cerrno>
#include <string>
#include <vector>

#include "app/listing/text_output.h"
#include "app/trend/trend.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/name_column.h"
#include "cli/trend_report.h"

namespace stackpack::cli {

namespace {

constexpr std::size_t kTrendRows = 30;

int explain_trend(const TrendArguments& arguments, const std::vector<std::string>& files,
                  Error error, const Messages& messages) {
  const std::string about = error.part < files.size() ? files[error.part] : arguments.folder;
  error.part = kMainPart;
  messages.error(about, error);
  return exit_code_of(error);
}

int write_trend_page(const TrendArguments& arguments, const std::vector<std::string>& files,
                     const app::TrendReport& report, const Messages& messages) {
  std::string page;
  append_trend_page(page, report, arguments.rows.value_or(kTrendRows),
                    arguments.names.value_or(app::FunctionNames::kShort));
  const Status written = app::write_report_file({arguments.output, arguments.force, files}, page);
  if (written || (arguments.output == "-" && written.error().os_error == EPIPE)) {
    return kExitSuccess;
  }
  Error error = written.error();
  error.part = kMainPart;
  messages.error(arguments.output == "-" ? "(standard output)" : arguments.output, error);
  return exit_code_of(error);
}

}  // namespace

int run_trend(const TrendArguments& arguments, const Messages& messages) {
  auto commits = app::read_baselines(arguments.folder);
  if (!commits) {
    return explain_trend(arguments, {}, commits.error(), messages);
  }
  if (arguments.last != 0 && arguments.last < commits->size()) {
    commits->erase(commits->begin(), commits->end() - static_cast<std::ptrdiff_t>(arguments.last));
  }
  const std::vector<std::string> files = app::latest_runs(*commits, 0);
  const Result<app::TrendReport> report = app::trend_of(*commits, arguments.options);
  if (!report) {
    return explain_trend(arguments, files, report.error(), messages);
  }
  if (arguments.form == TrendForm::kHtml) {
    return write_trend_page(arguments, files, *report, messages);
  }
  std::string text;
  if (arguments.form == TrendForm::kJson) {
    append_trend_json(text, *report, arguments);
  } else {
    append_trend_table(text, *report, arguments.rows.value_or(kTrendRows),
                       names_or_default(arguments.names));
  }
  return print(text, messages);
}

}  // namespace stackpack::cli
