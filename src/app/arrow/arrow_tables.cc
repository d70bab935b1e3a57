#include <algorithm>
#include <array>
#include <utility>

#include "app/analysis/hot_spots.h"
#include "app/arrow/capture_tables.h"
#include "arrow/arrow_stream.h"
#include "core/guard.h"
#include "stackpack/arrow.h"

namespace stackpack {

namespace app {
namespace {

using arrow::Batch;
using arrow::ColumnType;
using arrow::Field;

constexpr std::array<Field, 9> kTopFields{{
    {"event", ColumnType::kDictionary, true},
    {"name", ColumnType::kText, false},
    {"module", ColumnType::kDictionary, true},
    {"place", ColumnType::kText, true},
    {"self", ColumnType::kUInt64, false},
    {"total", ColumnType::kUInt64, false},
    {"value", ColumnType::kUInt64, false},
    {"samples", ColumnType::kUInt64, false},
    {"unit", ColumnType::kDictionary, false},
}};

constexpr std::array<std::pair<std::string_view, HotSpotKind>, 16> kTopKinds{{
    {"function", HotSpotKind::kFunction},
    {"module", HotSpotKind::kModule},
    {"line", HotSpotKind::kLine},
    {"file", HotSpotKind::kFile},
    {"process", HotSpotKind::kProcess},
    {"thread", HotSpotKind::kThread},
    {"comm", HotSpotKind::kComm},
    {"pool", HotSpotKind::kPool},
    {"event", HotSpotKind::kEvent},
    {"callstack", HotSpotKind::kCallstack},
    {"source", HotSpotKind::kSource},
    {"type", HotSpotKind::kType},
    {"cgroup", HotSpotKind::kControlGroup},
    {"package", HotSpotKind::kPackage},
    {"waker", HotSpotKind::kWaker},
    {"reason", HotSpotKind::kReason},
}};

void put_spot(Batch& batch, const HotSpots& spots, const HotSpot& row) {
  std::size_t field = 0;
  batch.put_text_or_null(field++, spots.event);
  batch.put_text(field++, row.name);
  batch.put_text_or_null(field++, row.module);
  batch.put_text_or_null(field++, row.place);
  batch.put_number(field++, row.self);
  batch.put_number(field++, row.total);
  batch.put_number(field++, spots.value);
  batch.put_number(field++, spots.samples);
  batch.put_text(field++, spots.unit);
}

}  // namespace

Status check_batch_rows(std::uint32_t rows) {
  constexpr std::uint32_t kMostBatchRows = 1U << 24;
  return rows == 0 || rows > kMostBatchRows
             ? Status(Error{ErrorCode::kUsage, kNoOffset, "a batch has 1 to 16777216 rows"})
             : Status();
}

std::span<const Field> top_fields() {
  return kTopFields;
}

Result<NextRows> top_rows(const SharedTables& tables, const ArrowOptions& options) {
  HotSpotQuery query;
  const std::string by = options.by.empty() ? "function" : options.by;
  const auto kind = std::find_if(kTopKinds.begin(), kTopKinds.end(),
                                 [&by](const auto& known) { return known.first == by; });
  if (kind != kTopKinds.end()) {
    query.by = kind->second;
  } else if (!take_keyed_grain(by, query)) {
    return Error{ErrorCode::kUsage, kNoOffset, "top has no such rows"};
  }
  if (!options.event.empty()) {
    query.filters.filter.events.push_back(options.event);
  }
  if (options.from_ns != 0) {
    query.filters.filter.from = CaptureTime{options.from_ns, false};
  }
  if (options.to_ns != kUnknownTime) {
    query.filters.filter.to = CaptureTime{options.to_ns, false};
  }
  query.filters.count = options.count;
  query.filters.filter.idle = options.idle;
  struct State {
    std::optional<HotSpots> spots;
    std::size_t next = 0;
  };
  return NextRows([tables, query, most = options.batch_rows,
                   state = std::make_shared<State>()](Batch& batch) -> Status {
    if (!state->spots) {
      auto counted = hot_spots(tables->reader(), query);
      if (!counted) {
        return counted.error();
      }
      sort_hot_spots(counted->rows, true);
      state->spots = std::move(*counted);
    }
    for (; state->next < state->spots->rows.size() && !batch.full(most); ++state->next) {
      put_spot(batch, *state->spots, state->spots->rows[state->next]);
      batch.end_row();
    }
    return {};
  });
}

}  // namespace app

namespace {

constexpr std::array<std::string_view, kArrowTableCount> kTableNames{
    "samples",   "callstacks",   "frames",        "functions",    "modules",
    "processes", "threads",      "events",        "sources",      "losses",
    "metadata",  "counts",       "top",           "branches",     "ranges",
    "intervals", "event_values", "sample_fields", "branch_stacks"};

std::span<const arrow::Field> fields_of(ArrowTable table) {
  switch (table) {
    case ArrowTable::kSamples:
      return app::sample_fields();
    case ArrowTable::kCallstacks:
      return app::callstack_fields();
    case ArrowTable::kFrames:
      return app::frame_fields();
    case ArrowTable::kCounts:
      return app::count_fields();
    case ArrowTable::kTop:
      return app::top_fields();
    case ArrowTable::kBranches:
    case ArrowTable::kRanges:
      return app::branch_fields(table);
    case ArrowTable::kIntervals:
      return app::interval_fields();
    case ArrowTable::kEventValues:
      return app::value_fields();
    case ArrowTable::kSampleFields:
      return app::field_row_fields();
    case ArrowTable::kBranchStacks:
      return app::branch_stack_fields();
    default:
      return app::system_fields(table);
  }
}

Result<app::NextRows> rows_of(const app::SharedTables& tables, ArrowTable table,
                              const ArrowOptions& options) {
  switch (table) {
    case ArrowTable::kSamples:
      return app::sample_rows(tables, options);
    case ArrowTable::kCallstacks:
      return app::callstack_rows(tables, options);
    case ArrowTable::kFrames:
      return app::frame_rows(tables, options);
    case ArrowTable::kCounts:
      return app::count_rows(tables, options);
    case ArrowTable::kTop:
      return app::top_rows(tables, options);
    case ArrowTable::kBranches:
    case ArrowTable::kRanges:
      // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the returned function owns it
      return app::branch_rows(tables, table, options);
    case ArrowTable::kIntervals:
      return app::interval_rows(tables, options);
    case ArrowTable::kEventValues:
      return app::value_rows(tables, options);
    case ArrowTable::kSampleFields:
      return app::field_rows(tables, options);
    case ArrowTable::kBranchStacks:
      return app::branch_stack_rows(tables, options);
    default:
      return app::system_rows(tables, table, options);
  }
}

Error usage(std::string_view what) {
  return {ErrorCode::kUsage, kNoOffset, what};
}

Status make_table_stream(const app::SharedTables& tables, ArrowTable table,
                         const ArrowOptions& options, ArrowArrayStream* out) {
  if (static_cast<unsigned>(table) >= kArrowTableCount || out == nullptr) {
    return usage("there is no such table");
  }
  if (const Status checked = app::check_batch_rows(options.batch_rows); !checked) {
    return checked;
  }
  if (table == ArrowTable::kSamples && !tables->reader().has_samples()) {
    return usage("the file was written without samples; the table counts has what it keeps");
  }
  Result<arrow::Projection> projection =
      arrow::Projection::create(fields_of(table), options.columns);
  if (!projection) {
    return projection.error();
  }
  Result<app::NextRows> rows = rows_of(tables, table, options);
  if (!rows) {
    return rows.error();
  }
  const std::string_view name = kTableNames[static_cast<std::size_t>(table)];
  arrow::make_stream({name, std::move(*projection), std::move(*rows)}, out);
  return {};
}

}  // namespace

struct ArrowTables::Impl : app::CaptureTables {
  using CaptureTables::CaptureTables;
};

ArrowTables::ArrowTables(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
ArrowTables::~ArrowTables() = default;

std::span<const std::string_view> arrow_table_names() {
  return kTableNames;
}

std::optional<ArrowTable> arrow_table_of(std::string_view name) {
  const auto found = std::find(kTableNames.begin(), kTableNames.end(), name);
  return found == kTableNames.end()
             ? std::nullopt
             : std::optional(static_cast<ArrowTable>(found - kTableNames.begin()));
}

std::shared_ptr<const ArrowTables> ArrowTables::of(std::shared_ptr<const Reader> reader) {
  return std::shared_ptr<const ArrowTables>(
      new ArrowTables(std::make_shared<Impl>(std::move(reader))));
}

Status ArrowTables::stream(ArrowTable table, const ArrowOptions& options,
                           ArrowArrayStream* out) const {
  return core::guarded([&] { return make_table_stream(impl_, table, options, out); });
}

}  // namespace stackpack
