// What a gate found, in the forms that CI systems read.
#pragma once

#include <string>

#include "cli/diff_report.h"

namespace stackpack::cli {

/// A JUnit document: a test case for each condition, passed, failed with its findings, or skipped
/// where nobody could decide.
void append_diff_junit(std::string& out, const JudgedDiff& diff);

/// A source line that takes more than before for sure.
struct GrownLine {
  std::string file;  ///< relative to the working directory, where it lies in that
  unsigned line = 0;
  std::string text;
};
/// Those of a comparison by DiffGrain::kLine, the largest growth first; ten at most, since that is
/// what GitHub shows of a step.
std::vector<GrownLine> grown_lines(const DiffReport& by_line, const std::string& working_directory);

/// A SARIF 2.1.0 document: a result for each finding that is not allowed, and for each grown line.
void append_diff_sarif(std::string& out, const JudgedDiff& diff,
                       const std::vector<GrownLine>& lines);

/// Commands of GitHub's runner, a line each: `::warning file=...,line=...::...`.
void append_annotations(std::string& out, const std::vector<GrownLine>& lines);

}  // namespace stackpack::cli
