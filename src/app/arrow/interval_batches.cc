#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "app/arrow/capture_tables.h"
#include "app/listing/wait_filter.h"
#include "query/selection/pid_sources.h"
#include "query/selection/waker_threads.h"
#include "stackpack/waits.h"

namespace stackpack::app {

namespace {

using arrow::Batch;
using arrow::ColumnType;
using arrow::Field;

enum IntervalField : std::size_t {
  kIntervalPid,
  kIntervalTid,
  kIntervalFrom,
  kIntervalTo,
  kIntervalLength,
  kIntervalState,
  kIntervalReason,
  kIntervalFlags,
  kIntervalCallstack,
  kIntervalStack,
  kIntervalWokenBy,
  kIntervalWakerPid,
  kIntervalWakerTid,
  kIntervalWakerCallstack,
  kIntervalWakerStack,
  kIntervalSource,
  kIntervalFieldCount
};

constexpr std::array<Field, kIntervalFieldCount> kIntervalFields{{
    {"pid", ColumnType::kUInt32, true},
    {"tid", ColumnType::kUInt32, false},
    {"from_ns", ColumnType::kUInt64, false, "ns"},
    {"to_ns", ColumnType::kUInt64, false, "ns"},
    {"length_ns", ColumnType::kUInt64, false, "ns"},
    {"state", ColumnType::kDictionary, false},
    {"reason", ColumnType::kDictionary, true},
    {"flags", ColumnType::kUInt8, false},
    {"callstack", ColumnType::kUInt32, true},
    {"stack", ColumnType::kUInt32, true},
    {"woken_by", ColumnType::kDictionary, true},
    {"waker_pid", ColumnType::kUInt32, true},
    {"waker_tid", ColumnType::kUInt32, true},
    {"waker_callstack", ColumnType::kUInt32, true},
    {"waker_stack", ColumnType::kUInt32, true},
    {"source", ColumnType::kUInt32, true},
}};

std::string_view waker_word(const WaitInterval& row) {
  switch (row.waker_kind) {
    case WakerKind::kThread:
      return (row.flags & kWaitHint) != 0 ? "hint" : "thread";
    case WakerKind::kInterrupt:
      return "interrupt";
    case WakerKind::kDeferred:
      return "dpc";
    case WakerKind::kNone:
      break;
  }
  return "";
}

/// The intervals of a file, batch by batch. Threads: one at a time.
class IntervalRows {
 public:
  IntervalRows(SharedTables tables, const ArrowOptions& options)
      : tables_(std::move(tables)),
        batch_rows_(options.batch_rows),
        from_ns_(options.from_ns),
        to_ns_(options.to_ns) {}

  Status next(Batch& batch) {
    if (const Status started = rows_ == nullptr ? start(batch) : Status{}; !started) {
      return started;
    }
    fill();
    if (const Status found = find_callstacks(batch); !found) {
      return found;
    }
    std::size_t put = 0;
    for (; put < chunk_.size() && !batch.full(batch_rows_); ++put) {
      put_row(batch, put);
      batch.end_row();
    }
    next_ = put == chunk_.size() ? next_ : places_[put];
    return {};
  }

 private:
  Status start(const Batch& batch) {
    const auto view = tables_->view();
    const auto rows = tables_->intervals();
    if (!view || !rows) {
      return view ? Status(rows.error()) : Status(view.error());
    }
    Result<std::vector<std::string>> reasons = tables_->reader().wait_reasons();
    if (!reasons) {
      return reasons.error();
    }
    reasons_ = std::move(*reasons);
    wakers_.emplace(**view);
    if (batch.wants(kIntervalSource)) {
      const auto sources = tables_->sources();
      if (!sources) {
        return sources.error();
      }
      sources_.emplace(**sources, (*view)->source_count != 0);
    }
    if (batch.wants(kIntervalCallstack) || batch.wants(kIntervalWakerCallstack)) {
      const auto stacks = tables_->stacks();
      if (!stacks) {
        return stacks.error();
      }
      stacks_ = *stacks;
    }
    rows_ = *rows;
    return {};
  }

  // The rows of a batch, with their wakers.
  void fill() {
    chunk_.clear();
    places_.clear();
    waker_pids_.clear();
    for (; next_ < rows_->size() && chunk_.size() < batch_rows_; ++next_) {
      const WaitInterval& row = (*rows_)[next_];
      if (row.to_ns >= from_ns_ && row.from_ns <= to_ns_) {
        chunk_.push_back(row);
        places_.push_back(next_);
        waker_pids_.push_back(waker_pid(*wakers_, row));
      }
    }
  }

  Status find_callstacks(const Batch& batch) {
    if (stacks_ == nullptr) {
      return {};
    }
    times_.clear();
    pids_.clear();
    ids_.clear();
    waker_ids_.clear();
    for (const WaitInterval& row : chunk_) {
      times_.push_back(row.to_ns);
      pids_.push_back(row.pid);
      ids_.push_back(row.stack);
      waker_ids_.push_back(row.waker_stack);
    }
    numbers_.resize(chunk_.size());
    waker_numbers_.resize(chunk_.size());
    const Status found = stacks_->find({times_, pids_, ids_}, *cache_, numbers_.data());
    return found && batch.wants(kIntervalWakerCallstack)
               ? stacks_->find({times_, waker_pids_, waker_ids_}, *cache_, waker_numbers_.data())
               : found;
  }

  void put_row(Batch& batch, std::size_t i) const {
    const WaitInterval& row = chunk_[i];
    const bool is_woken = row.waker_kind != WakerKind::kNone;
    const bool has_numbers = stacks_ != nullptr;
    constexpr std::uint32_t kNone = CallstackNumbers::kNone;
    batch.put_number(kIntervalPid, row.pid, kUnknownId);
    batch.put_number(kIntervalTid, row.tid);
    batch.put_number(kIntervalFrom, row.from_ns);
    batch.put_number(kIntervalTo, row.to_ns);
    batch.put_number(kIntervalLength, row.to_ns - row.from_ns);
    batch.put_text(kIntervalState, wait_state_name(row.state));
    batch.put_text_or_null(kIntervalReason, reasons_[row.reason]);
    batch.put_number(kIntervalFlags, row.flags);
    batch.put_number(kIntervalCallstack, has_numbers ? numbers_[i] : kNone, kNone);
    batch.put_number(kIntervalStack, row.stack, kNoStack);
    batch.put_text_or_null(kIntervalWokenBy, waker_word(row));
    batch.put_number(kIntervalWakerPid, waker_pids_[i], kUnknownId);
    batch.put_number(kIntervalWakerTid, is_woken ? row.waker : kUnknownId, kUnknownId);
    batch.put_number(kIntervalWakerCallstack, has_numbers ? waker_numbers_[i] : kNone, kNone);
    batch.put_number(kIntervalWakerStack, row.waker_stack, kNoStack);
    batch.put_number(kIntervalSource, sources_ ? sources_->of(row.pid).source : kUnknownId,
                     kUnknownId);
  }

  SharedTables tables_;
  std::size_t batch_rows_;
  std::uint64_t from_ns_;
  std::uint64_t to_ns_;
  const std::vector<WaitInterval>* rows_ = nullptr;
  std::vector<std::string> reasons_;
  std::optional<query::WakerThreads> wakers_;
  std::optional<query::PidSources> sources_;
  const CallstackNumbers* stacks_ = nullptr;
  std::unique_ptr<PlaceCache> cache_ = std::make_unique<PlaceCache>();
  std::size_t next_ = 0;
  std::vector<WaitInterval> chunk_;
  std::vector<std::size_t> places_;  // in *rows_
  std::vector<std::uint32_t> waker_pids_;
  std::vector<std::uint64_t> times_;
  std::vector<std::uint32_t> pids_;
  std::vector<StackId> ids_;
  std::vector<StackId> waker_ids_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> waker_numbers_;
};

}  // namespace

std::span<const Field> interval_fields() {
  return kIntervalFields;
}

NextRows interval_rows(const SharedTables& tables, const ArrowOptions& options) {
  return [rows = std::make_shared<IntervalRows>(tables, options)](Batch& batch) {
    return rows->next(batch);
  };
}

}  // namespace stackpack::app
