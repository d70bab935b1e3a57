#include <array>
#include <memory>
#include <vector>

#include "app/arrow/capture_tables.h"
#include "app/listing/branch_listing.h"
#include "query/naming/build_id_text.h"
#include "query/selection/file_name.h"
#include "stackpack/branches.h"
#include "stackpack/sample_fields.h"

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

constexpr std::array<Field, 12> kBranchStackFields{{
    {"sample", ColumnType::kUInt64, false},
    {"stack", ColumnType::kUInt64, false},
    {"position", ColumnType::kUInt32, false},
    {"from", ColumnType::kUInt64, false},
    {"to", ColumnType::kUInt64, false},
    {"mispredicted", ColumnType::kBool, false},
    {"predicted", ColumnType::kBool, false},
    {"in_transaction", ColumnType::kBool, false},
    {"abort", ColumnType::kBool, false},
    {"cycles", ColumnType::kUInt32, false, "cycles"},
    {"type", ColumnType::kDictionary, false},
    {"speculation", ColumnType::kDictionary, true},
}};

// The branches of one sample after the other, block by block of the samples that have fields.
class BranchStackRows {
 public:
  Status fill(const Reader& reader, Batch& batch, std::size_t most) {
    while (!batch.full(most) && !ended_) {
      if (next_branch_ != branches_.size()) {
        put(batch);
        continue;
      }
      if (const Status found = find_stack(reader); !found) {
        return found;
      }
    }
    return {};
  }

 private:
  // The branches of the next sample, or the next block of samples.
  Status find_stack(const Reader& reader) {
    branches_.clear();
    next_branch_ = 0;
    if (next_row_ == rows_.size()) {
      next_row_ = 0;
      const Status read = reader.sample_field_block(block_++, rows_);
      ended_ = read && rows_.empty();
      return read;
    }
    const FieldRow& row = rows_[next_row_++];
    return row.has(SampleField::kBranchStack) ? reader.branch_stack(row, branches_) : Status{};
  }

  void put(Batch& batch) {
    const FieldRow& row = rows_[next_row_ - 1];
    const StackedBranch& branch = branches_[next_branch_];
    const BranchFlags flags(branch.flags);
    std::size_t field = 0;
    batch.put_number(field++, row.sample);
    batch.put_number(field++, row.value(SampleField::kBranchStack));
    batch.put_number(field++, next_branch_++);
    batch.put_number(field++, branch.from);
    batch.put_number(field++, branch.to);
    batch.put_bool(field++, flags.mispredicted);
    batch.put_bool(field++, flags.predicted);
    batch.put_bool(field++, flags.in_transaction);
    batch.put_bool(field++, flags.abort);
    batch.put_number(field++, flags.cycles);
    batch.put_text(field++, branch_type_name(flags.type));
    batch.put_text_or_null(field++, flags.speculation == "-" ? "" : flags.speculation);
    batch.end_row();
  }

  std::vector<FieldRow> rows_;  // of a block
  std::size_t next_row_ = 0;
  std::size_t block_ = 0;
  std::vector<StackedBranch> branches_;  // of the row before next_row_
  std::size_t next_branch_ = 0;
  bool ended_ = false;
};

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

std::span<const Field> branch_stack_fields() {
  return kBranchStackFields;
}

NextRows branch_stack_rows(const SharedTables& tables, const ArrowOptions& options) {
  return [tables, most = options.batch_rows, rows = std::make_shared<BranchStackRows>()](
             Batch& batch) { return rows->fill(tables->reader(), batch, most); };
}

}  // namespace stackpack::app
