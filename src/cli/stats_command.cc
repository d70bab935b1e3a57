#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "app/console.h"
#include "app/convert/capture_formats.h"
#include "app/convert/measure.h"
#include "app/listing/ratios.h"
#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/fitted_table.h"
#include "cli/human_text.h"
#include "cli/interruptible.h"
#include "cli/json_text.h"
#include "cli/shown_capture.h"
#include "cli/statistics_json.h"
#include "cli/statistics_table.h"
#include "cli/suggestion.h"

namespace stackpack::cli {

namespace {

// The prefixes of keys whose last part a file has only when it was counted, with all names there
// are.
struct CounterKeys {
  std::string_view prefix;
  std::vector<std::string> names;
};

const std::array<CounterKeys, 2>& counter_keys() {
  static const std::array<CounterKeys, 2> keys{
      {{"losses.", app::loss_names()}, {"source.skipped_by_reason.", app::skip_reason_names()}}};
  return keys;
}

bool is_absent_counter(std::string_view key) {
  return std::any_of(counter_keys().begin(), counter_keys().end(),
                     [key](const CounterKeys& counters) {
                       return key.starts_with(counters.prefix) &&
                              std::binary_search(counters.names.begin(), counters.names.end(),
                                                 key.substr(counters.prefix.size()));
                     });
}

std::string counter_suggestion(std::string_view key) {
  for (const CounterKeys& counters : counter_keys()) {
    if (key.starts_with(counters.prefix)) {
      return did_you_mean(key.substr(counters.prefix.size()), counters.names);
    }
  }
  return {};
}

// Says which conditions fail for one file, with the value that made them fail.
CheckSubject subject_of_checks() {
  return {"stats", "ratios.total>=50", is_absent_counter, counter_suggestion};
}

int check_measurement(const app::Measurement& measurement,
                      const std::vector<CheckExpression>& checks, const Messages& messages) {
  if (checks.empty()) {
    return kExitSuccess;
  }
  std::string text;
  JsonText json(text);
  write_statistics(json, measurement);
  return apply_checks(subject_of_checks(), checks, text, measurement.file, messages);
}

// Prints measurements as they come: one file in full, several in a line each with a total.
class StatsReport {
 public:
  StatsReport(std::string& out, bool as_json, bool several) : out_(out), several_(several) {
    if (as_json) {
      json_ = true;
      if (several) {
        lines_.emplace(out);
      }
    } else if (several) {
      append_overview_header(out);
    }
    total_.file = kTotalName;
  }

  void add(const app::Measurement& measurement) {
    total_.file_bytes += measurement.file_bytes;
    app::add_statistics(total_.statistics, measurement.statistics);
    total_.filtered = measurement.filtered;
    write(measurement);
  }

  void end() {
    if (several_) {
      write(total_);
    }
    if (lines_) {
      lines_->end();
    }
  }

 private:
  void write(const app::Measurement& measurement) {
    if (lines_) {
      JsonText json = lines_->element();
      write_statistics(json, measurement);
    } else if (json_) {
      JsonText json(out_);
      write_statistics(json, measurement);
      out_ += '\n';
    } else if (several_) {
      append_overview_line(out_, measurement);
    } else {
      constexpr std::size_t kFacts = 14;  // where the texts of facts begin
      std::string table;
      append_statistics_table(table, measurement);
      out_ += wrapped_for_terminal(std::move(table), kFacts);
    }
  }

  std::string& out_;
  bool several_;
  bool json_ = false;
  std::optional<JsonLines> lines_;
  app::Measurement total_;
};

}  // namespace

int run_stats(const StatsArguments& arguments, const Messages& messages) {
  const std::optional<std::vector<CheckExpression>> checks =
      parse_checks(subject_of_checks(), arguments.checks, messages);
  if (!checks) {
    return kExitUsage;
  }
  Result<std::unique_ptr<app::TextOutput>> out = app::TextOutput::open();
  if (!out) {
    messages.error("(standard output)", out.error());
    return exit_code_of(out.error());
  }
  int worst = kExitSuccess;
  StatsReport report((*out)->text(), arguments.json && !arguments.quiet,
                     arguments.files.size() > 1 && !arguments.quiet);
  for (const std::string& file : arguments.files) {
    ConvertProgress progress;
    const Result<app::Measurement> measurement = run_interruptible(progress, [&] {
      return app::measure(file, arguments.options, arguments.filter, arguments.by_process,
                          &progress);
    });
    if (!measurement) {
      if (app::interrupted_by() != 0) {
        app::end_by_signal(app::interrupted_by());
      }
      explain_unread(file, measurement.error(), progress, messages);
      worst = std::max(worst, exit_code_of(measurement.error()));
      continue;
    }
    if (!arguments.quiet) {
      report.add(*measurement);
    }
    worst = std::max(worst, check_measurement(*measurement, *checks, messages));
    if (const Status written = (*out)->checkpoint(); !written) {
      return finish_output(**out, written, "(standard output)", messages);
    }
  }
  if (arguments.quiet ||
      (worst != kExitSuccess && arguments.files.size() == 1 && (*out)->text().empty())) {
    return worst;
  }
  report.end();
  return std::max(worst, finish_output(**out, {}, "", messages));
}

}  // namespace stackpack::cli
