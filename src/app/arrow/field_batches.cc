#include <array>
#include <memory>
#include <vector>

#include "app/arrow/capture_tables.h"
#include "query/selection/capture_view.h"
#include "stackpack/sample_fields.h"

namespace stackpack::app {

namespace {

using arrow::Batch;
using arrow::ColumnType;
using arrow::Field;

// After the number of the sample in the order of SampleField.
constexpr std::array<Field, 1 + stackpack::kFigureFieldCount> kFieldRowFields{{
    {"sample", ColumnType::kUInt64, false},
    {"address", ColumnType::kUInt64, true},
    {"weight", ColumnType::kUInt64, true, "cycles"},
    {"instruction_latency", ColumnType::kUInt64, true, "cycles"},
    {"stage_latency", ColumnType::kUInt64, true, "cycles"},
    {"data_source", ColumnType::kUInt64, true},
    {"transaction", ColumnType::kUInt64, true},
    {"physical_address", ColumnType::kUInt64, true},
    {"data_page_size", ColumnType::kUInt64, true, "bytes"},
    {"code_page_size", ColumnType::kUInt64, true, "bytes"},
    {"cgroup", ColumnType::kDictionary, true},
}};

void put_field_row(Batch& batch, const FieldRow& row, const std::vector<ControlGroup>& groups) {
  batch.put_number(0, row.sample);
  for (std::size_t i = 0; i < stackpack::kFigureFieldCount; ++i) {
    const auto field = static_cast<stackpack::SampleField>(i);
    const std::uint64_t value = row.value(field);
    const bool is_group = field == stackpack::SampleField::kControlGroup;
    if (!row.has(field) || (is_group && value >= groups.size())) {
      batch.put_null(1 + i);
    } else if (is_group) {
      batch.put_text(1 + i, query::control_group_title(groups[static_cast<std::size_t>(value)]));
    } else {
      batch.put_number(1 + i, value);
    }
  }
  batch.end_row();
}

struct FieldRowsState {
  std::vector<FieldRow> rows;  // of a block
  std::size_t next = 0;
  std::size_t block = 0;
  bool ended = false;
};

}  // namespace

std::span<const Field> field_row_fields() {
  return kFieldRowFields;
}

NextRows field_rows(const SharedTables& tables, const ArrowOptions& options) {
  return [tables, most = options.batch_rows,
          state = std::make_shared<FieldRowsState>()](Batch& batch) -> Status {
    const auto view = tables->view();
    if (!view) {
      return view.error();
    }
    while (!batch.full(most) && !state->ended) {
      if (state->next == state->rows.size()) {
        const Status read = tables->reader().sample_field_block(state->block++, state->rows);
        if (!read) {
          return read;
        }
        state->next = 0;
        state->ended = state->rows.empty();
        continue;
      }
      if (const FieldRow& row = state->rows[state->next++]; row.has_figures()) {
        put_field_row(batch, row, (*view)->control_groups);
      }
    }
    return {};
  };
}

}  // namespace stackpack::app
