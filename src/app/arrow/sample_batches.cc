#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "app/arrow/capture_tables.h"
#include "query/selection/pid_sources.h"
#include "stackpack/sample_cursor.h"

namespace stackpack::app {

namespace {

using arrow::Batch;
using arrow::ColumnType;
using arrow::Field;

enum SampleField : std::size_t {
  kSampleTime,
  kSamplePid,
  kSampleTid,
  kSampleCpu,
  kSampleEvent,
  kSampleWeight,
  kSampleOrigin,
  kSampleFlagBits,
  kSampleCallstack,
  kSampleStack,
  kSampleSource,
  kSampleFieldCount
};

constexpr std::array<Field, kSampleFieldCount> kSampleFields{{
    {"time_ns", ColumnType::kUInt64, false, "ns"},
    {"pid", ColumnType::kUInt32, true},
    {"tid", ColumnType::kUInt32, true},
    {"cpu", ColumnType::kUInt32, true},
    {"event", ColumnType::kDictionary, false},
    {"weight", ColumnType::kUInt64, false},
    {"origin", ColumnType::kDictionary, false},
    {"flags", ColumnType::kUInt8, false},
    {"callstack", ColumnType::kUInt32, true},
    {"stack", ColumnType::kUInt32, true},
    {"source", ColumnType::kUInt32, true},
}};

std::shared_ptr<const arrow::Dictionary> origin_dictionary() {
  auto names = std::make_shared<arrow::Dictionary>();
  for (const std::string_view name : kOriginNames) {
    names->add(name);
  }
  return names;
}

std::shared_ptr<const arrow::Dictionary> event_dictionary(const std::vector<Event>& events) {
  auto names = std::make_shared<arrow::Dictionary>();
  for (const Event& event : events) {
    names->add(event.name);
  }
  return names;
}

/// The samples of a file, column by column. Threads: one at a time.
class SampleRows {
 public:
  SampleRows(SharedTables tables, const ArrowOptions& options)
      : tables_(std::move(tables)), batch_rows_(options.batch_rows) {
    scan_.query.from_ns = options.from_ns;
    scan_.query.to_ns = options.to_ns;
    scan_.query.any_order = options.any_order;
  }

  Status next(Batch& batch) {
    if (const Status started = cursor_ == nullptr ? start(batch) : Status{}; !started) {
      return started;
    }
    const Result<std::size_t> ready = cursor_->ready();
    if (!ready || *ready == 0) {
      return ready ? Status{} : Status(ready.error());
    }
    find_entry_numbers(batch);
    const std::size_t rows = std::min<std::size_t>(*ready, batch_rows_);
    SampleArrays to = places_in(batch, rows);
    cursor_->take(rows, to);
    end_columns(batch, rows, to);
    batch.add_rows(rows);
    return put_numbered(batch, rows, to);
  }

 private:
  Status start(const Batch& batch) {
    const auto view = tables_->view();
    if (!view) {
      return view.error();
    }
    events_ = event_dictionary((*view)->events);
    origins_ = origin_dictionary();
    if (batch.wants(kSampleCallstack)) {
      const auto stacks = tables_->stacks();
      if (!stacks) {
        return stacks.error();
      }
      stacks_ = *stacks;
    }
    if (const Status found = batch.wants(kSampleSource) ? find_sources() : Status{}; !found) {
      return found;
    }
    scan_.columns = columns_for(batch);
    Result<std::unique_ptr<SampleCursor>> cursor = SampleCursor::open(tables_->reader(), scan_);
    if (!cursor) {
      return cursor.error();
    }
    cursor_ = std::move(cursor).value();
    return {};
  }

  Status find_sources() {
    const auto sources = tables_->sources();
    const auto view = tables_->view();
    if (!sources || !view) {
      return sources ? Status(view.error()) : Status(sources.error());
    }
    sources_.emplace(**sources, (*view)->source_count != 0);
    return {};
  }

  static std::uint32_t columns_for(const Batch& batch) {
    struct Need {
      SampleField field;
      std::uint32_t columns;
    };
    constexpr std::array<Need, kSampleFieldCount> kNeeds{{
        {kSampleTime, kTimeColumn},
        {kSamplePid, kPidColumn},
        {kSampleTid, kTidColumn},
        {kSampleCpu, kCpuColumn},
        {kSampleEvent, kEventColumn},
        {kSampleWeight, kWeightColumn},
        {kSampleOrigin, kOriginColumn},
        {kSampleFlagBits, kFlagsColumn},
        {kSampleCallstack, kTimeColumn | kPidColumn | kStackColumn | kStackEntryColumn},
        {kSampleStack, kStackColumn},
        {kSampleSource, kPidColumn},
    }};
    std::uint32_t columns = 0;
    for (const Need& need : kNeeds) {
      columns |= batch.wants(need.field) ? need.columns : 0U;
    }
    return columns;
  }

  // The numbers of the callstacks of a block are found once, where that is possible.
  void find_entry_numbers(const Batch& batch) {
    if (!batch.wants(kSampleCallstack)) {
      return;
    }
    const StackEntries entries = cursor_->stack_entries();
    if (block_ != entries.block) {
      block_ = entries.block;
      by_entry_ = stacks_->find_entries(entries, *cache_, entry_numbers_);
    }
  }

  template <typename Number>
  static Number* place_of(Batch& batch, std::size_t field, std::size_t rows) {
    return batch.wants(field) ? batch.column(field).begin_numbers<Number>(rows) : nullptr;
  }

  // A wanted column's own memory, or `scratch` for one that is `needed` for others.
  template <typename Number>
  static Number* place_of(Batch& batch, std::size_t field, std::size_t rows, bool needed,
                          std::vector<Number>& scratch) {
    if (batch.wants(field) || !needed) {
      return place_of<Number>(batch, field, rows);
    }
    scratch.resize(rows);
    return scratch.data();
  }

  SampleArrays places_in(Batch& batch, std::size_t rows) {
    SampleArrays to;
    const bool one_by_one = batch.wants(kSampleCallstack) && !by_entry_;
    to.time_ns = place_of(batch, kSampleTime, rows, one_by_one, times_);
    to.pid = place_of(batch, kSamplePid, rows, one_by_one || batch.wants(kSampleSource), pids_);
    to.tid = place_of<std::uint32_t>(batch, kSampleTid, rows);
    to.cpu = place_of<std::uint32_t>(batch, kSampleCpu, rows);
    to.event = place_of<std::uint32_t>(batch, kSampleEvent, rows);  // as an int32: few
    to.weight = place_of<std::uint64_t>(batch, kSampleWeight, rows);
    if (batch.wants(kSampleOrigin)) {
      origin_.resize(rows);
      to.origin = origin_.data();
    }
    to.flags = place_of<std::uint8_t>(batch, kSampleFlagBits, rows);
    to.stack = place_of(batch, kSampleStack, rows, one_by_one, stack_ids_);
    // In place of callstacks their entries, until these are looked up.
    to.entry = by_entry_ ? place_of<std::uint32_t>(batch, kSampleCallstack, rows) : nullptr;
    return to;
  }

  template <typename Number>
  static void end_column(Batch& batch, std::size_t field, std::size_t rows, const Number* numbers,
                         const std::optional<Number>& null = {}) {
    if (batch.wants(field)) {
      batch.column(field).end_numbers(numbers, rows, null);
    }
  }

  void end_columns(Batch& batch, std::size_t rows, const SampleArrays& to) const {
    const std::optional<std::uint32_t> unknown = kUnknownId;
    end_column(batch, kSampleTime, rows, to.time_ns);
    end_column(batch, kSamplePid, rows, to.pid, unknown);
    end_column(batch, kSampleTid, rows, to.tid, unknown);
    end_column(batch, kSampleCpu, rows, to.cpu, unknown);
    end_column(batch, kSampleWeight, rows, to.weight);
    end_column(batch, kSampleFlagBits, rows, to.flags);
    end_column(batch, kSampleStack, rows, to.stack, std::optional<StackId>(kNoStack));
    if (batch.wants(kSampleEvent)) {
      batch.column(kSampleEvent).use_dictionary(events_);
    }
    if (batch.wants(kSampleOrigin)) {
      auto* const numbers = batch.column(kSampleOrigin).begin_numbers<std::int32_t>(rows);
      std::transform(to.origin, to.origin + rows, numbers,
                     [](StackOrigin origin) { return static_cast<std::int32_t>(origin); });
      batch.column(kSampleOrigin).use_dictionary(origins_);
    }
  }

  Status put_numbered(Batch& batch, std::size_t rows, const SampleArrays& to) {
    if (batch.wants(kSampleSource)) {
      auto* const numbers = batch.column(kSampleSource).begin_numbers<std::uint32_t>(rows);
      std::transform(to.pid, to.pid + rows, numbers,
                     [this](std::uint32_t pid) { return sources_->of(pid).source; });
      batch.column(kSampleSource)
          .end_numbers(numbers, rows, std::optional<std::uint32_t>(kUnknownId));
    }
    if (!batch.wants(kSampleCallstack)) {
      return {};
    }
    std::uint32_t* numbers = to.entry;
    if (by_entry_) {
      const std::uint32_t* const of_entry = entry_numbers_.data();
      std::transform(numbers, numbers + rows, numbers,
                     [of_entry](std::uint32_t entry) { return of_entry[entry]; });
    } else {
      numbers = batch.column(kSampleCallstack).begin_numbers<std::uint32_t>(rows);
      const CallstackNumbers::Samples samples{{to.time_ns, rows}, {to.pid, rows}, {to.stack, rows}};
      if (const Status found = stacks_->find(samples, *cache_, numbers); !found) {
        return found;
      }
    }
    batch.column(kSampleCallstack)
        .end_numbers(numbers, rows, std::optional<std::uint32_t>(CallstackNumbers::kNone));
    return {};
  }

  SharedTables tables_;  // the cursor's reader is theirs
  std::size_t batch_rows_;
  SampleScan scan_;
  std::unique_ptr<SampleCursor> cursor_;
  std::vector<std::uint64_t> times_;
  std::vector<std::uint32_t> pids_;
  std::vector<StackOrigin> origin_;
  std::vector<StackId> stack_ids_;
  std::shared_ptr<const arrow::Dictionary> events_;
  std::shared_ptr<const arrow::Dictionary> origins_;
  const CallstackNumbers* stacks_ = nullptr;
  std::uint64_t block_ = ~std::uint64_t{0};
  bool by_entry_ = false;                     // callstacks of the block, not samples, are looked up
  std::vector<std::uint32_t> entry_numbers_;  // of the block
  std::unique_ptr<PlaceCache> cache_ = std::make_unique<PlaceCache>();
  std::optional<query::PidSources> sources_;
};

}  // namespace

std::span<const Field> sample_fields() {
  return kSampleFields;
}

NextRows sample_rows(const SharedTables& tables, const ArrowOptions& options) {
  // A std::function is copied with what it has: a cursor is not.
  return [cursor = std::make_shared<SampleRows>(tables, options)](Batch& batch) {
    return cursor->next(batch);
  };
}

}  // namespace stackpack::app
