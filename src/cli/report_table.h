// The table and the JSON of `top`, `callers` and `callees`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/analysis/call_tree.h"
#include "app/analysis/hot_spots.h"
#include "cli/arguments.h"
#include "cli/json_text.h"
#include "cli/measure_text.h"

namespace stackpack::cli {

/// What callers and callees are of; nothing of `top`.
struct ReportCenter {
  std::optional<app::HotSpot> whole;
  std::vector<app::HotSpot> functions;  ///< that are meant
  std::vector<std::string> occurring;   ///< where none is: what there is
};

/// Adds the table to `out`: what is counted, what it is of, and a line a row, as wide as the
/// terminal at most.
void append_report_table(std::string& out, const app::HotSpots& spots,
                         const ReportArguments& arguments, const ReportCenter& center);

/// Adds the table of `top --tree`: a line a row, indented below the one that calls it.
void append_tree_table(std::string& out, const app::CallTree& tree,
                       const ReportArguments& arguments);

/// The same as an object of JSON, with the depth of each row.
void append_tree_json(std::string& out, const app::CallTree& tree,
                      const ReportArguments& arguments);

/// Adds one object of JSON to `out`. Names are whole unless the arguments want them short.
void append_report_json(std::string& out, const app::HotSpots& spots,
                        const ReportArguments& arguments, const ReportCenter& center);

/// What the figures are of, and what is not shown: some lines.
void append_report_head(std::string& out, const app::HotSpots& spots);
/// The same as fields of an object of JSON.
void append_report_about(JsonText& json, const app::HotSpots& spots);

/// `12.34%`.
std::string share_text(std::uint64_t part, std::uint64_t whole);

/// A line with the name of a function and its figures.
void append_function_line(std::string& out, const app::HotSpot& row,
                          const ReportArguments& arguments, const MeasureScale& scale,
                          std::uint64_t whole);

}  // namespace stackpack::cli
