#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "app/arrow/callstack_numbers.h"
#include "app/arrow/frame_rows.h"
#include "arrow/arrow_batch.h"
#include "query/selection/capture_view.h"
#include "stackpack/arrow.h"
#include "stackpack/branches.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/sources.h"
#include "stackpack/waits.h"
#include "symbols/symbol_index.h"

namespace stackpack::app {

/// What the tables of an open file are made of, each part at its first use.
/// Threads: any number; what is given out is immutable and lives as long as this.
class CaptureTables {
 public:
  explicit CaptureTables(std::shared_ptr<const Reader> reader) : reader_(std::move(reader)) {}

  [[nodiscard]] const Reader& reader() const { return *reader_; }

  // Errors: those of the reader. A failure is tried again at the next call.
  Result<const query::CaptureView*> view();
  Result<const CallstackNumbers*> stacks();
  Result<const FrameRows*> frames();
  /// Of a file that is not merged one, made of what is known of it.
  Result<const std::vector<MergedSource>*> sources();
  /// Empty in a file without branches.
  Result<const Branches*> branches();
  /// Of all threads, in the order of the file. Memory: 48 bytes each.
  Result<const std::vector<WaitInterval>*> intervals();

 private:
  Status load_view();
  Status load_stacks();
  Status load_frames();

  const std::shared_ptr<const Reader> reader_;
  std::mutex mutex_;  // guards the loading of what follows
  std::optional<query::CaptureView> view_;
  std::unique_ptr<const symbols::SymbolIndex> symbols_;
  std::unique_ptr<const CallstackNumbers> stacks_;
  std::unique_ptr<const FrameRows> frames_;
  std::optional<std::vector<MergedSource>> sources_;
  std::optional<Branches> branches_;
  std::optional<std::vector<WaitInterval>> intervals_;
};

// What each table of a capture gives to a stream: its columns, and a function that puts the next
// rows into a batch (see arrow::BatchSource::next). That function keeps the tables alive; what has
// to be found first is found by its first call.

/// What the column `origin` calls a StackOrigin.
inline constexpr std::array<std::string_view, kStackOriginCount> kOriginNames{
    "none", "ip-only", "recorded", "unwound"};

/// Errors: kUsage, a batch cannot have so many rows.
Status check_batch_rows(std::uint32_t rows);

using NextRows = std::function<Status(arrow::Batch&)>;
using SharedTables = std::shared_ptr<CaptureTables>;

std::span<const arrow::Field> sample_fields();
NextRows sample_rows(const SharedTables& tables, const ArrowOptions& options);

std::span<const arrow::Field> callstack_fields();
NextRows callstack_rows(const SharedTables& tables, const ArrowOptions& options);

std::span<const arrow::Field> frame_fields();
NextRows frame_rows(const SharedTables& tables, const ArrowOptions& options);

std::span<const arrow::Field> count_fields();
NextRows count_rows(const SharedTables& tables, const ArrowOptions& options);

/// Functions, modules, processes, threads, events, sources, losses and metadata.
std::span<const arrow::Field> system_fields(ArrowTable table);
NextRows system_rows(const SharedTables& tables, ArrowTable table, const ArrowOptions& options);

/// Branches and ranges.
std::span<const arrow::Field> branch_fields(ArrowTable table);
NextRows branch_rows(const SharedTables& tables, ArrowTable table, const ArrowOptions& options);

std::span<const arrow::Field> interval_fields();
NextRows interval_rows(const SharedTables& tables, const ArrowOptions& options);

std::span<const arrow::Field> value_fields();
NextRows value_rows(const SharedTables& tables, const ArrowOptions& options);

/// What samples have besides their callstacks.
std::span<const arrow::Field> field_row_fields();
NextRows field_rows(const SharedTables& tables, const ArrowOptions& options);

/// The branch stacks of samples, where they were kept: a row for each branch.
std::span<const arrow::Field> branch_stack_fields();
NextRows branch_stack_rows(const SharedTables& tables, const ArrowOptions& options);

std::span<const arrow::Field> top_fields();
/// Errors: kUsage, options.by is none of the kinds.
Result<NextRows> top_rows(const SharedTables& tables, const ArrowOptions& options);

/// Rows of a table that is in memory: `find()` gives it, a Result with something that has size()
/// and operator[], or a pointer to that; `put(batch, row number, row)` puts everything but
/// end_row().
template <typename Find, typename Put>
NextRows rows_in_memory(std::uint32_t batch_rows, Find find, Put put) {
  return [batch_rows, find = std::move(find), put = std::move(put),
          next = std::size_t{0}](arrow::Batch& batch) mutable -> Status {
    const auto found = find();
    if (!found) {
      return found.error();
    }
    const auto& rows = **found;
    for (; next < rows.size() && !batch.full(batch_rows); ++next) {
      put(batch, next, rows[next]);
      batch.end_row();
    }
    return {};
  };
}

}  // namespace stackpack::app
