#include <array>

#include "app/arrow/table_rows.h"
#include "app/listing/branch_listing.h"
#include "query/naming/build_id_text.h"
#include "query/selection/file_name.h"

namespace stackpack::app {

namespace {

using arrow::Batch;
using arrow::ColumnType;
using arrow::Field;

constexpr std::array<Field, 15> kBranchFields{{
    {"event", ColumnType::kDictionary, false},
    {"from_module", ColumnType::kUInt32, true},
    {"from_image", ColumnType::kDictionary, true},
    {"from_build_id", ColumnType::kDictionary, true},
    {"from", ColumnType::kUInt64, false, "bytes"},
    {"to_module", ColumnType::kUInt32, true},
    {"to_image", ColumnType::kDictionary, true},
    {"to_build_id", ColumnType::kDictionary, true},
    {"to", ColumnType::kUInt64, false, "bytes"},
    {"type", ColumnType::kDictionary, false},
    {"wrong_path", ColumnType::kBool, false},
    {"count", ColumnType::kUInt64, false},
    {"mispredicted", ColumnType::kUInt64, false},
    {"cycles", ColumnType::kUInt64, false, "cycles"},
    {"head_duplicates", ColumnType::kUInt64, false},
}};

constexpr std::array<Field, 9> kRangeFields{{
    {"event", ColumnType::kDictionary, false},
    {"module", ColumnType::kUInt32, false},
    {"image", ColumnType::kDictionary, false},
    {"build_id", ColumnType::kDictionary, true},
    {"begin", ColumnType::kUInt64, false, "bytes"},
    {"end", ColumnType::kUInt64, false, "bytes"},
    {"count", ColumnType::kUInt64, false},
    {"head_duplicates", ColumnType::kUInt64, false},
    {"wrong_path", ColumnType::kUInt64, false},
}};

// Row, image and build id of what a branch or a range is in, into three columns.
void put_image(Batch& batch, std::size_t& field, const query::CaptureView& view,
               std::uint32_t image) {
  batch.put_number(field++, image, kNoImage);
  if (image == kNoImage) {
    batch.put_null(field++);
    batch.put_null(field++);
    return;
  }
  const Module& module = view.modules[image];
  batch.put_text(field++, query::file_name_of(module));
  batch.put_text_or_null(field++, query::build_id_text(module));
}

void put_branch(Batch& batch, const query::CaptureView& view, const BranchEdge& row) {
  std::size_t field = 0;
  batch.put_text(field++, view.events[row.event].name);
  put_image(batch, field, view, row.from_image);
  batch.put_number(field++, row.from);
  put_image(batch, field, view, row.to_image);
  batch.put_number(field++, row.to);
  batch.put_text(field++, branch_type_name(row.type));
  batch.put_bool(field++, row.wrong_path);
  batch.put_number(field++, row.count);
  batch.put_number(field++, row.mispredicted);
  batch.put_number(field++, row.cycles);
  batch.put_number(field++, row.head_duplicates);
}

void put_range(Batch& batch, const query::CaptureView& view, const BranchRange& row) {
  std::size_t field = 0;
  batch.put_text(field++, view.events[row.event].name);
  put_image(batch, field, view, row.image);
  batch.put_number(field++, row.begin);
  batch.put_number(field++, row.end);
  batch.put_number(field++, row.count);
  batch.put_number(field++, row.head_duplicates);
  batch.put_number(field++, row.wrong_path);
}

// Rows of one of the tables of branches: put(batch, view, row).
template <typename Row>
NextRows rows_of_branches(const SharedTables& tables, std::uint32_t most,
                          std::vector<Row> Branches::*table,
                          void (*put)(Batch&, const query::CaptureView&, const Row&)) {
  return [tables, most, table, put, next = std::size_t{0}](Batch& batch) mutable -> Status {
    const auto view = tables->view();
    const auto branches = tables->branches();
    if (!view || !branches) {
      return view ? Status(branches.error()) : Status(view.error());
    }
    const std::vector<Row>& rows = (*branches)->*table;
    for (; next < rows.size() && !batch.full(most); ++next) {
      put(batch, **view, rows[next]);
      batch.end_row();
    }
    return {};
  };
}

}  // namespace

std::span<const Field> branch_fields(ArrowTable table) {
  return table == ArrowTable::kBranches ? std::span<const Field>(kBranchFields)
                                        : std::span<const Field>(kRangeFields);
}

NextRows branch_rows(const SharedTables& tables, ArrowTable table, const ArrowOptions& options) {
  return table == ArrowTable::kBranches
             ? rows_of_branches(tables, options.batch_rows, &Branches::edges, put_branch)
             : rows_of_branches(tables, options.batch_rows, &Branches::ranges, put_range);
}

}  // namespace stackpack::app
