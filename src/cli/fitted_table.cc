#include "cli/fitted_table.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "app/listing/function_titles.h"
#include "cli/name_column.h"

namespace stackpack::cli {

namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kGone = ~std::size_t{0};  // the width of a column that has left

bool is_number(const FittedColumn& column) {
  return column.width != 0;
}

std::size_t least_width(const FittedColumn& column, std::size_t natural) {
  return column.least == 0 ? natural : std::min(natural, column.least);
}

// What a line takes, with texts as they are or cut as far as they may be.
std::size_t line_width(const std::vector<FittedColumn>& columns,
                       const std::vector<std::size_t>& widths, bool cut) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] != kGone) {
      sum += (is_number(columns[i]) ? 0 : kGap) +
             (cut ? least_width(columns[i], widths[i]) : widths[i]);
    }
  }
  return sum;
}

// Columns leave until the others fit, then texts are cut, the last ones first.
void fit(const std::vector<FittedColumn>& columns, std::size_t room,
         std::vector<std::size_t>& widths) {
  unsigned last = 0;
  for (const FittedColumn& column : columns) {
    last = std::max(last, column.leaves);
  }
  for (unsigned leaves = 1; leaves <= last && line_width(columns, widths, true) > room; ++leaves) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      widths[i] = columns[i].leaves == leaves ? kGone : widths[i];
    }
  }
  for (std::size_t i = columns.size(); i-- > 0;) {
    const std::size_t line = line_width(columns, widths, false);
    if (widths[i] != kGone && line > room) {
      widths[i] -= std::min(line - room, widths[i] - least_width(columns[i], widths[i]));
    }
  }
}

}  // namespace

std::vector<std::size_t> FittedTable::natural_widths(bool narrow) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = columns_[i].head.size();
    for (const std::vector<std::string>& row : rows_) {
      widest = std::max(widest, app::columns_of(row[i]));
    }
    const bool is_first = i == 0;
    widths.push_back(!is_number(columns_[i]) ? widest
                     : narrow                ? widest + (is_first ? 0 : kGap)
                                             : columns_[i].width);
  }
  return widths;
}

void FittedTable::append_line(std::string& out, const std::vector<std::string>& texts,
                              const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (widths[i] == kGone) {
      continue;
    }
    const std::string text = is_number(columns_[i]) ? texts[i] : app::cut_to(texts[i], widths[i]);
    const std::size_t taken = app::columns_of(text);
    const std::string blanks(widths[i] - std::min(taken, widths[i]), ' ');
    line += is_number(columns_[i]) ? blanks : "  ";
    line += text;
    line += is_number(columns_[i]) ? "" : blanks;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

void FittedTable::append_to(std::string& out, std::optional<std::size_t> room) const {
  std::vector<std::size_t> widths = natural_widths(false);
  if (room && line_width(columns_, widths, false) > *room) {
    widths = natural_widths(true);
    fit(columns_, *room, widths);
  }
  std::vector<std::string> heads;
  std::string gone;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    heads.push_back(columns_[i].head);
    if (widths[i] == kGone) {
      gone += (gone.empty() ? "" : ", ") + columns_[i].head;
    }
  }
  append_line(out, heads, widths);
  for (const std::vector<std::string>& row : rows_) {
    append_line(out, row, widths);
  }
  if (!gone.empty()) {
    out += fmt::format("no room for: {}; a wider terminal and --json have them\n", gone);
  }
}

std::string wrapped_for_terminal(std::string text, std::size_t indent) {
  const std::optional<std::size_t> room = output_columns();
  if (!room || *room < 2 * indent) {
    return text;
  }
  std::string out;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    std::size_t before = 0;
    while (before + app::columns_of(line) > *room) {
      const std::size_t first = line.find_first_not_of(' ');
      const std::size_t blank = line.rfind(' ', *room - before);
      if (blank == std::string_view::npos || blank <= first || blank == 0) {
        break;
      }
      out.append(line.substr(0, blank)).append("\n").append(indent, ' ');
      line.remove_prefix(blank + 1);
      before = indent;
    }
    out.append(line).append("\n");
  }
  return out;
}

}  // namespace stackpack::cli
