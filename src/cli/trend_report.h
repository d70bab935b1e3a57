// What `trend` prints.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/listing/function_titles.h"
#include "app/trend/trend.h"
#include "cli/arguments.h"

namespace stackpack::cli {

/// `cpu time a run`, `instructions a run`, `share of the samples`: what values are.
std::string trend_measure_text(const app::TrendReport& report);
/// `3.41s`, or `12.30%`.
std::string trend_value_text(double value, const app::TrendReport& report);
/// `+5.6 %`; of what was nothing before, `new`.
std::string trend_change_text(const diff::ChangePoint& change);
/// What was looked at, and what was found: some sentences.
std::vector<std::string> trend_sentences(const app::TrendReport& report);
/// A title for each series; the whole is `(everything)`.
std::vector<std::string> trend_titles(const app::TrendReport& report, app::FunctionNames names,
                                      std::size_t width);

/// A line for each change. `rows`: most lines; 0: all.
void append_trend_table(std::string& out, const app::TrendReport& report, std::size_t rows,
                        app::FunctionNames names);
/// One object; docs/ci.md describes it. Rows: most series besides the whole; unset: all.
void append_trend_json(std::string& out, const app::TrendReport& report,
                       const TrendArguments& arguments);
/// One file without a program in it: a small curve for each series.
void append_trend_page(std::string& out, const app::TrendReport& report, std::size_t rows,
                       app::FunctionNames names);

}  // namespace stackpack::cli
