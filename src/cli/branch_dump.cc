#include "cli/branch_dump.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/listing/branch_listing.h"
#include "cli/json_text.h"
#include "cli/text_escape.h"
#include "stackpack/branches.h"
#include "stackpack/sample_fields.h"

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

// As the perf tool writes a branch, with its type and speculation where one is recorded.
void append_branch(std::string& text, const StackedBranch& branch) {
  const app::BranchFlags flags(branch.flags);
  text += fmt::format("0x{:x}/0x{:x}/{}/{}/{}/{}", branch.from, branch.to,
                      flags.mispredicted ? 'M'
                      : flags.predicted  ? 'P'
                                         : '-',
                      flags.in_transaction ? 'X' : '-', flags.abort ? 'A' : '-', flags.cycles);
  if (flags.type != BranchType::kUnknown || flags.speculation != "-") {
    text += fmt::format("/{}/{}", app::branch_type_name(flags.type), flags.speculation);
  }
}

void append_stack_line(std::string& text, std::uint64_t sample, std::uint64_t stack,
                       std::span<const StackedBranch> branches) {
  text += fmt::format("{}\t{}", sample, stack);
  char before = '\t';
  for (const StackedBranch& branch : branches) {
    text += before;
    append_branch(text, branch);
    before = ' ';
  }
  text += '\n';
}

void append_stack_object(JsonText json, std::uint64_t sample, std::uint64_t stack,
                         std::span<const StackedBranch> branches) {
  json.begin_object();
  json.field("sample", sample);
  json.field("stack", stack);
  json.key("branches");
  json.begin_array();
  for (const StackedBranch& branch : branches) {
    const app::BranchFlags flags(branch.flags);
    json.begin_object();
    json.field("from", branch.from);
    json.field("to", branch.to);
    json.field("mispredicted", flags.mispredicted);
    json.field("predicted", flags.predicted);
    json.field("in_transaction", flags.in_transaction);
    json.field("abort", flags.abort);
    json.field("cycles", std::uint64_t{flags.cycles});
    json.field("type", app::branch_type_name(flags.type));
    json.field("speculation", flags.speculation);
    json.end_object();
  }
  json.end_array();
  json.end_object();
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

Status dump_branch_stacks(const Reader& reader, bool as_json, app::TextOutput& out) {
  std::optional<JsonLines> lines;
  if (as_json) {
    lines.emplace(out.text());
  } else {
    out.text() += "#sample\tstack\tbranches\n";
  }
  Status printed;
  std::vector<StackedBranch> branches;
  const Status read = reader.sample_fields([&](std::span<const FieldRow> rows) {
    for (const FieldRow& row : rows) {
      if (!row.has(SampleField::kBranchStack)) {
        continue;
      }
      const std::uint64_t stack = row.value(SampleField::kBranchStack);
      if (printed = reader.branch_stack(row, branches); !printed) {
        return false;
      }
      if (lines) {
        append_stack_object(lines->element(), row.sample, stack, branches);
      } else {
        append_stack_line(out.text(), row.sample, stack, branches);
      }
      if (printed = out.checkpoint(); !printed) {
        return false;
      }
    }
    return true;
  });
  if (!read || !printed) {
    return read ? printed : read;
  }
  if (lines) {
    lines->end();
  }
  return {};
}

}  // namespace stackpack::cli
