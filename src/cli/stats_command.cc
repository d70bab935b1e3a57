#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "app/console.h"
#include "app/convert/capture_formats.h"
#include "app/convert/measure.h"
#include "app/listing/ratios.h"
#include "cli/check_expression.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/human_text.h"
#include "cli/interruptible.h"
#include "cli/json_text.h"
#include "cli/statistics_json.h"
#include "cli/statistics_table.h"

namespace stackpack::cli {

namespace {

std::optional<std::vector<CheckExpression>> parse_checks(const std::vector<std::string>& texts,
                                                         const Messages& messages) {
  std::vector<CheckExpression> checks;
  for (const std::string& text : texts) {
    std::optional<CheckExpression> check = parse_check(text);
    if (!check) {
      messages.error("", fmt::format("stats: --check: '{}' is not KEY OP NUMBER, such as "
                                     "ratios.total>=50",
                                     text));
      return std::nullopt;
    }
    checks.push_back(std::move(*check));
  }
  return checks;
}

std::string number_text(double value) {
  constexpr double kExactIntegers = 9e15;
  return value == static_cast<double>(static_cast<std::int64_t>(value)) && value < kExactIntegers
             ? fmt::format("{}", static_cast<std::int64_t>(value))
             : fmt::format("{:.6g}", value);
}

// Whether the key names a counter that files have only when it is not zero.
bool is_counter_at_zero(std::string_view key) {
  const auto names_one_of = [key](std::string_view group, const std::vector<std::string>& names) {
    return key.starts_with(group) &&
           std::find(names.begin(), names.end(), key.substr(group.size())) != names.end();
  };
  return names_one_of("losses.", app::loss_names()) ||
         names_one_of("source.skipped_by_reason.", app::skip_reason_names());
}

// Says which conditions fail for one file, with the value that made them fail.
int apply_checks(const app::Measurement& measurement, const std::vector<CheckExpression>& checks,
                 const Messages& messages) {
  if (checks.empty()) {
    return kExitSuccess;
  }
  std::string text;
  JsonText json(text);
  write_statistics(json, measurement);
  const JsonFigures figures(text);
  int exit_code = kExitSuccess;
  for (const CheckExpression& check : checks) {
    std::optional<double> value = figures.find(check.key);
    if (!value && is_counter_at_zero(check.key)) {
      value = 0;
    }
    if (!value) {
      messages.error(measurement.file,
                     fmt::format("check: there is no number '{}' in stats --json", check.key));
      exit_code = std::max<int>(exit_code, kExitUsage);
    } else if (!holds(check, *value)) {
      messages.error(measurement.file, fmt::format("check failed: {} ({} is {})", check.text,
                                                   check.key, number_text(*value)));
      exit_code = std::max<int>(exit_code, kExitLossy);
    }
  }
  return exit_code;
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
    total_.file = "total";
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
      append_statistics_table(out_, measurement);
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
      parse_checks(arguments.checks, messages);
  if (!checks) {
    return kExitUsage;
  }
  Result<std::unique_ptr<app::TextOutput>> out = app::TextOutput::open();
  if (!out) {
    messages.error("(standard output)", out.error());
    return exit_code_of(out.error());
  }
  int worst = kExitSuccess;
  StatsReport report((*out)->text(), arguments.json, arguments.files.size() > 1);
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
      messages.error(file, measurement.error());
      worst = std::max(worst, exit_code_of(measurement.error()));
      continue;
    }
    report.add(*measurement);
    worst = std::max(worst, apply_checks(*measurement, *checks, messages));
    if (const Status written = (*out)->checkpoint(); !written) {
      return finish_output(**out, written, "(standard output)", messages);
    }
  }
  if (worst != kExitSuccess && arguments.files.size() == 1 && (*out)->text().empty()) {
    return worst;
  }
  report.end();
  return std::max(worst, finish_output(**out, {}, "", messages));
}

}  // namespace stackpack::cli
