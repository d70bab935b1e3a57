#include "cli/branch_dump.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/listing/branch_listing.h"
#include "cli/json_text.h"
#include "cli/text_escape.h"

namespace stackpack::cli {

namespace {

Status print_sorted(std::vector<std::string>& lines, app::TextOutput& out) {
  std::sort(lines.begin(), lines.end());
  for (const std::string& line : lines) {
    append_escaped(out.text(), line);
    out.text() += '\n';
    if (const Status printed = out.checkpoint(); !printed) {
      return printed;
    }
  }
  return {};
}

// Rows as JSON or as sorted lines: `write` puts fields into an object, `line` makes a text.
template <typename Row, typename Write, typename Line>
Status print_rows(const Result<std::vector<Row>>& rows, bool as_json, app::TextOutput& out,
                  const Write& write, const Line& line) {
  if (!rows) {
    return rows.error();
  }
  if (!as_json) {
    std::vector<std::string> lines;
    lines.reserve(rows->size());
    for (const Row& row : *rows) {
      lines.push_back(line(row));
    }
    return print_sorted(lines, out);
  }
  JsonLines lines(out.text());
  for (const Row& row : *rows) {
    JsonText json = lines.element();
    json.begin_object();
    write(json, row);
    json.end_object();
    if (const Status printed = out.checkpoint(); !printed) {
      return printed;
    }
  }
  lines.end();
  return {};
}

}  // namespace

Status dump_branches(const Reader& reader, bool as_json, app::TextOutput& out) {
  return print_rows(
      app::listed_branches(reader), as_json, out,
      [](JsonText& json, const app::ListedBranch& row) {
        json.field("count", row.count);
        json.field("mispredicted", row.mispredicted);
        json.field("type", row.type);
        json.field("from", row.from);
        json.field("to", row.to);
      },
      [](const app::ListedBranch& row) {
        return fmt::format("{} {} {} {} {}", row.count, row.mispredicted ? 1 : 0, row.type,
                           row.from, row.to);
      });
}

Status dump_ranges(const Reader& reader, bool as_json, app::TextOutput& out) {
  return print_rows(
      app::listed_ranges(reader), as_json, out,
      [](JsonText& json, const app::ListedRange& row) {
        json.field("count", row.count);
        json.field("begin", row.begin);
        json.field("end", fmt::format("{:x}", row.end));
      },
      [](const app::ListedRange& row) {
        return fmt::format("{} {} {:x}", row.count, row.begin, row.end);
      });
}

}  // namespace stackpack::cli
