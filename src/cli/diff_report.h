// What `diff` prints. All forms are made of the same report and the same gate, so that they say the
// same.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "stackpack/diff.h"

namespace stackpack::cli {

/// A comparison with what a gate made of it.
struct JudgedDiff {
  DiffReport report;
  std::vector<GateCondition> conditions;
  std::vector<AllowedChange> allowed;
  GateReport gate;
  std::vector<std::string> notices;  ///< of captures that are not whole, with their files
};

/// One line of a table: a figure of a row.
struct DiffLine {
  std::size_t row = 0;
  bool self = false;
};

/// Each figure that differs for sure, and each that does as far as one run a side shows; then, one
/// line each, the rows that do neither: their total.
struct DiffLines {
  std::vector<DiffLine> changed;
  std::vector<DiffLine> unsure;
  std::vector<DiffLine> others;
};
DiffLines lines_of(const EventDiff& event);

/// A change for sure.
bool is_change(DiffVerdict verdict);
const DiffFigure& figure_of(const EventDiff& event, const DiffLine& line);
/// `name at place`, with `module!` where several have the name; escaped for one line of text.
std::string title_of_row(const DiffRow& row);

/// `2.00%`, with DiffUnit::kTime `12.3/s`, with DiffUnit::kRun `12.3ms`.
std::string share_text_of(double share, const EventDiff& event);
/// `+1.10pp`, `+3.2/s` or `+1.20ms`.
std::string change_text_of(double difference, const EventDiff& event);
/// DiffUnit::kRun: `12.30%`, what a figure is now of all that is compared. Else empty.
std::string part_text_of(const DiffFigure& figure, const EventDiff& event);

/// What was compared with what, and how sure it is: some sentences.
std::vector<std::string> sentences_of(const EventDiff& event);
/// One sentence for each condition: passed, failed, or not enough samples. A name in it takes no
/// more columns than `name_width`; where that is not any width, it is shortened as those of tables.
std::vector<std::string> gate_sentences(const JudgedDiff& diff,
                                        std::size_t name_width = app::kAnyWidth);

struct DiffTableForm {
  std::size_t rows = 0;  ///< most; 0: all
  bool colours = false;
  app::FunctionNames names = app::FunctionNames::kFull;
};
void append_diff_table(std::string& out, const JudgedDiff& diff, const DiffTableForm& form);
/// What rows are called, in their order. Rows of functions have names that can be shortened;
/// callstacks, modules, ... have none.
std::vector<std::string> diff_titles(const EventDiff& event, const std::vector<DiffLine>& lines,
                                     app::FunctionNames names, std::size_t width);

struct DiffMarkdownForm {
  std::optional<std::size_t> rows;  ///< most, 0: all; unset: ten, and 4 KiB in all
  app::FunctionNames names = app::FunctionNames::kShort;
  bool any_width = false;  ///< all columns, whole names; else 80 columns of text at most
};
void append_diff_markdown(std::string& out, const JudgedDiff& diff, const DiffMarkdownForm& form);
/// docs/diff.schema.json describes it.
void append_diff_json(std::string& out, const JudgedDiff& diff, const DiffArguments& arguments);
/// What a page says of the first event: the object `diff` of docs/page-format.md, all rows.
void append_diff_page(std::string& out, const JudgedDiff& diff);

}  // namespace stackpack::cli
