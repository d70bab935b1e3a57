#include <array>
#include <memory>
#include <vector>

#include "app/arrow/table_rows.h"
#include "app/listing/branch_flags.h"
#include "app/listing/branch_listing.h"
#include "stackpack/branches.h"
#include "stackpack/sample_fields.h"

namespace stackpack::app {

namespace {

using arrow::Batch;
using arrow::ColumnType;
using arrow::Field;

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

std::span<const Field> branch_stack_fields() {
  return kBranchStackFields;
}

NextRows branch_stack_rows(const SharedTables& tables, const ArrowOptions& options) {
  return [tables, most = options.batch_rows, rows = std::make_shared<BranchStackRows>()](
             Batch& batch) { return rows->fill(tables->reader(), batch, most); };
}

}  // namespace stackpack::app
