#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/arrow/capture_tables.h"
#include "query/selection/pid_sources.h"
#include "stackpack/event_values.h"

namespace stackpack::app {

namespace {

using arrow::Batch;
using arrow::ColumnType;
using arrow::Field;

enum ValueColumn : std::size_t {
  kValueEvent,
  kValueTime,
  kValuePid,
  kValueTid,
  kValueCallstack,
  kValueStack,
  kValueKindName,
  kValueFieldName,
  kValueNumber,
  kValueReal,
  kValueText,
  kValueUnit,
  kValueSource,
  kValueColumnCount
};

constexpr std::array<Field, kValueColumnCount> kValueColumns{{
    {"event", ColumnType::kUInt64, false},
    {"time_ns", ColumnType::kUInt64, false, "ns"},
    {"pid", ColumnType::kUInt32, true},
    {"tid", ColumnType::kUInt32, true},
    {"callstack", ColumnType::kUInt32, true},
    {"stack", ColumnType::kUInt32, true},
    {"kind", ColumnType::kDictionary, false},
    {"field", ColumnType::kDictionary, false},
    {"number", ColumnType::kUInt64, true},
    {"real", ColumnType::kDouble, true},
    {"text", ColumnType::kDictionary, true},
    {"unit", ColumnType::kDictionary, true},
    {"source", ColumnType::kUInt32, true},
}};

std::string_view unit_of(ValueType type) {
  return type == ValueType::kBytes ? "bytes" : type == ValueType::kNanoseconds ? "ns" : "";
}

/// The values of a file, a row for each field of each event. Threads: one at a time.
class ValueRows {
 public:
  ValueRows(SharedTables tables, const ArrowOptions& options)
      : tables_(std::move(tables)),
        batch_rows_(options.batch_rows),
        from_ns_(options.from_ns),
        to_ns_(options.to_ns) {}

  Status next(Batch& batch) {
    if (const Status started = started_ ? Status{} : start(batch); !started) {
      return started;
    }
    for (; next_ < rows_.size() && !batch.full(batch_rows_); ++next_) {
      const std::vector<ValueField>& fields = kinds_[rows_[next_].kind].fields;
      for (; field_ < fields.size() && !batch.full(batch_rows_); ++field_) {
        put_field(batch, fields[field_]);
        batch.end_row();
      }
      if (field_ < fields.size()) {
        break;
      }
      field_ = 0;
    }
    return {};
  }

 private:
  Status start(const Batch& batch) {
    const Reader& reader = tables_->reader();
    Result<std::vector<ValueSchema>> kinds = reader.event_value_kinds();
    Result<std::vector<std::string>> texts = reader.event_value_texts();
    if (!kinds || !texts) {
      return kinds ? Status(texts.error()) : Status(kinds.error());
    }
    kinds_ = std::move(*kinds);
    texts_ = std::move(*texts);
    std::uint64_t number = 0;
    const Status read = reader.event_values([&](std::span<const EventValue> rows) {
      for (const EventValue& row : rows) {
        if (row.time_ns >= from_ns_ && row.time_ns <= to_ns_) {
          rows_.push_back(row);
          numbers_.push_back(number);
        }
        ++number;
      }
      return true;
    });
    if (!read) {
      return read;
    }
    if (batch.wants(kValueSource)) {
      const auto view = tables_->view();
      const auto sources = tables_->sources();
      if (!view || !sources) {
        return view ? Status(sources.error()) : Status(view.error());
      }
      sources_.emplace(**sources, (*view)->source_count != 0);
    }
    started_ = true;
    return batch.wants(kValueCallstack) ? find_callstacks() : Status{};
  }

  Status find_callstacks() {
    const auto stacks = tables_->stacks();
    if (!stacks) {
      return stacks.error();
    }
    std::vector<std::uint64_t> times;
    std::vector<std::uint32_t> pids;
    std::vector<StackId> ids;
    for (const EventValue& row : rows_) {
      times.push_back(row.time_ns);
      pids.push_back(row.pid);
      ids.push_back(row.stack);
    }
    callstacks_.resize(rows_.size());
    PlaceCache cache;
    return (*stacks)->find({times, pids, ids}, cache, callstacks_.data());
  }

  void put_field(Batch& batch, const ValueField& field) const {
    constexpr std::uint32_t kNone = CallstackNumbers::kNone;
    const EventValue& row = rows_[next_];
    const std::uint64_t value = row.values[field_];
    const bool is_text = field.type == ValueType::kText;
    const bool is_real = field.type == ValueType::kReal;
    batch.put_number(kValueEvent, numbers_[next_]);
    batch.put_number(kValueTime, row.time_ns);
    batch.put_number(kValuePid, row.pid, kUnknownId);
    batch.put_number(kValueTid, row.tid, kUnknownId);
    batch.put_number(kValueCallstack, callstacks_.empty() ? kNone : callstacks_[next_], kNone);
    batch.put_number(kValueStack, row.stack, kNoStack);
    batch.put_text(kValueKindName, kinds_[row.kind].name);
    batch.put_text(kValueFieldName, field.name);
    batch.put_number(kValueNumber, is_text || is_real ? kNoValue : value, kNoValue);
    if (is_real && value != kNoValue) {
      batch.put_number(kValueReal, value);
    } else {
      batch.put_null(kValueReal);
    }
    batch.put_text_or_null(
        kValueText, is_text ? std::string_view(texts_[static_cast<std::size_t>(value)]) : "");
    batch.put_text_or_null(kValueUnit, unit_of(field.type));
    batch.put_number(kValueSource, sources_ ? sources_->of(row.pid).source : kUnknownId,
                     kUnknownId);
  }

  SharedTables tables_;
  std::size_t batch_rows_;
  std::uint64_t from_ns_;
  std::uint64_t to_ns_;
  bool started_ = false;
  std::vector<ValueSchema> kinds_;
  std::vector<std::string> texts_;
  std::optional<query::PidSources> sources_;
  std::vector<EventValue> rows_;
  std::vector<std::uint64_t> numbers_;  // of rows_ in the file
  std::vector<std::uint32_t> callstacks_;
  std::size_t next_ = 0;
  std::size_t field_ = 0;
};

}  // namespace

std::span<const Field> value_fields() {
  return kValueColumns;
}

NextRows value_rows(const SharedTables& tables, const ArrowOptions& options) {
  return [rows = std::make_shared<ValueRows>(tables, options)](Batch& batch) {
    return rows->next(batch);
  };
}

}  // namespace stackpack::app
