// Rows of texts in columns that fit a terminal, or are of any width in a file or pipe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stackpack::cli {

/// Numbers stand to the right of their column, in front of the texts, which stand to the left.
struct FittedColumn {
  std::string head;
  std::size_t width = 0;  ///< of a column of numbers where there is room for all; 0: of texts
  std::size_t least = 0;  ///< of texts: they may be cut to this width
  unsigned leaves = 0;    ///< 1: leaves first where there is no room, 2: next, ...; 0: stays
};

class FittedTable {
 public:
  explicit FittedTable(std::vector<FittedColumn> columns) : columns_(std::move(columns)) {}

  /// A text for each column, escaped.
  void add_row(std::vector<std::string> texts) { rows_.push_back(std::move(texts)); }

  /// Adds heads and rows to `out`, a line each. `room`: columns of the terminal; unset: any number.
  /// A line at the end names the columns that had no room.
  void append_to(std::string& out, std::optional<std::size_t> room) const;

 private:
  [[nodiscard]] std::vector<std::size_t> natural_widths(bool narrow) const;
  void append_line(std::string& out, const std::vector<std::string>& texts,
                   const std::vector<std::size_t>& widths) const;

  std::vector<FittedColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The lines of a text that are too long for the terminal that standard output is are broken at
/// blanks and go on after `indent` blanks. Elsewhere nothing changes.
std::string wrapped_for_terminal(std::string text, std::size_t indent);

}  // namespace stackpack::cli
