#include "cli/field_dump.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/analysis/memory_report.h"
#include "app/analysis/value_texts.h"
#include "bytes/utf8.h"
#include "cli/json_text.h"
#include "cli/text_escape.h"
#include "stackpack/sample_fields.h"

namespace stackpack::cli {

namespace {

struct ListedField {
  std::string_view name;
  bool hexadecimal;
};

// In the order of SampleField.
constexpr std::array<ListedField, kFigureFieldCount> kListedFields = {{
    {"address", true},
    {"weight", false},
    {"instruction_latency", false},
    {"stage_latency", false},
    {"data_source", true},
    {"transaction", true},
    {"physical_address", true},
    {"data_page_size", false},
    {"code_page_size", false},
    {"cgroup", false},
}};

void append_field_line(std::string& text, const FieldRow& row,
                       const std::vector<ControlGroup>& groups) {
  text += fmt::format("{}", row.sample);
  for (std::size_t i = 0; i < kListedFields.size(); ++i) {
    if (!row.has(static_cast<SampleField>(i))) {
      text += "\t-";
    } else if (static_cast<SampleField>(i) == SampleField::kControlGroup) {
      text += '\t';
      append_escaped(text, app::control_group_of(row, groups));
    } else if (kListedFields[i].hexadecimal) {
      text += fmt::format("\t0x{:x}", row.values[i]);
    } else {
      text += fmt::format("\t{}", row.values[i]);
    }
  }
  text += '\n';
}

void append_field_object(JsonText json, const FieldRow& row,
                         const std::vector<ControlGroup>& groups) {
  json.begin_object();
  json.field("sample", row.sample);
  for (std::size_t i = 0; i < kListedFields.size(); ++i) {
    if (static_cast<SampleField>(i) == SampleField::kControlGroup) {
      continue;
    }
    if (row.has(static_cast<SampleField>(i))) {
      json.field(kListedFields[i].name, row.values[i]);
    }
  }
  if (row.has(SampleField::kDataSource)) {
    json.field("access", app::access_text(row.value(SampleField::kDataSource)));
  }
  if (const std::string group = app::control_group_of(row, groups); !group.empty()) {
    json.field("cgroup", bytes::valid_utf8(group));
  }
  json.end_object();
}

}  // namespace

Status dump_sample_fields(const Reader& reader, bool as_json, app::TextOutput& out) {
  const Result<std::vector<ControlGroup>> groups = reader.control_groups();
  if (!groups) {
    return groups.error();
  }
  std::optional<JsonLines> lines;
  if (as_json) {
    lines.emplace(out.text());
  } else {
    out.text() += "#sample";
    for (const ListedField& field : kListedFields) {
      out.text() += '\t';
      out.text() += field.name;
    }
    out.text() += '\n';
  }
  Status printed;
  const Status read = reader.sample_fields([&](std::span<const FieldRow> rows) {
    for (const FieldRow& row : rows) {
      if (!row.has_figures()) {
        continue;
      }
      if (lines) {
        append_field_object(lines->element(), row, *groups);
      } else {
        append_field_line(out.text(), row, *groups);
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
