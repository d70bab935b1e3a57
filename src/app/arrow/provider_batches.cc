#include <array>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "app/arrow/batch_producer.h"
#include "app/arrow/capture_tables.h"
#include "app/convert/provider_events.h"
#include "arrow/arrow_stream.h"
#include "bytes/utf8.h"
#include "core/guard.h"
#include "stackpack/arrow.h"

namespace stackpack {

namespace app {
namespace {

using arrow::Batch;
using arrow::ColumnType;
using arrow::Field;
using capture::PayloadValue;

enum ProviderColumn : std::size_t {
  kProviderEvent,
  kProviderTime,
  kProviderPid,
  kProviderTid,
  kProviderName,
  kProviderEventName,
  kProviderField,
  kProviderPosition,
  kProviderType,
  kProviderNumber,
  kProviderReal,
  kProviderText,
  kProviderColumnCount
};

constexpr std::array<Field, kProviderColumnCount> kProviderColumns{{
    {"event", ColumnType::kUInt64, false},
    {"time_ns", ColumnType::kUInt64, false, "ns"},
    {"pid", ColumnType::kUInt32, true},
    {"tid", ColumnType::kUInt32, true},
    {"provider", ColumnType::kDictionary, false},
    {"name", ColumnType::kDictionary, false},
    {"field", ColumnType::kDictionary, true},
    {"position", ColumnType::kUInt32, true},
    {"type", ColumnType::kDictionary, true},
    {"number", ColumnType::kInt64, true},
    {"real", ColumnType::kDouble, true},
    {"text", ColumnType::kText, true},
}};

// In the order of PayloadValue::Form.
constexpr std::array<std::string_view, 6> kTypes{"unsigned", "signed", "hex",
                                                 "real",     "bool",   "text"};

/// Rows of events, into the batches of a producer.
class EventRows {
 public:
  EventRows(BatchProducer& out, std::uint64_t from_ns, std::uint64_t to_ns)
      : out_(out), from_ns_(from_ns), to_ns_(to_ns) {}

  Status put(const ProviderEvent& event) {
    const std::uint64_t number = next_++;
    if (event.time_ns < from_ns_ || event.time_ns > to_ns_) {
      return {};
    }
    provider_ = bytes::valid_utf8(event.provider);
    name_ = bytes::valid_utf8(event.name);
    if (event.fields.empty()) {
      return put_row(number, event, nullptr, kNoPosition, nullptr);
    }
    for (const capture::DecodedField& field : event.fields) {
      if (const Status put = put_field(number, event, field); !put) {
        return put;
      }
    }
    return {};
  }

 private:
  static constexpr std::size_t kNoPosition = kUnknownId;

  // A list without values has a row, too, as has a field whose value is not known.
  Status put_field(std::uint64_t number, const ProviderEvent& event,
                   const capture::DecodedField& field) {
    Status put;
    for (std::size_t i = 0; put && (i == 0 || i < field.values.size()); ++i) {
      put = put_row(number, event, &field, field.is_list ? i : kNoPosition,
                    field.values.empty() ? nullptr : &field.values[i]);
    }
    return put;
  }

  Status put_row(std::uint64_t number, const ProviderEvent& event,
                 const capture::DecodedField* field, std::size_t position,
                 const PayloadValue* value) {
    Batch& batch = out_.batch();
    batch.put_number(kProviderEvent, number);
    batch.put_number(kProviderTime, event.time_ns);
    batch.put_number(kProviderPid, event.pid, kUnknownId);
    batch.put_number(kProviderTid, event.tid, kUnknownId);
    batch.put_text(kProviderName, provider_);
    batch.put_text(kProviderEventName, name_);
    if (field == nullptr) {
      batch.put_null(kProviderField);
    } else if (batch.wants(kProviderField)) {
      batch.put_text(kProviderField, bytes::valid_utf8(field->name));
    }
    batch.put_number(kProviderPosition, position, kNoPosition);
    if (value == nullptr) {
      for (const std::size_t column :
           {kProviderType, kProviderNumber, kProviderReal, kProviderText}) {
        batch.put_null(column);
      }
    } else {
      put_value(batch, *value);
    }
    return out_.end_row();
  }

  void put_value(Batch& batch, const PayloadValue& value) {
    using Form = PayloadValue::Form;
    batch.put_text(kProviderType, kTypes[static_cast<std::size_t>(value.form)]);
    const bool is_whole = value.form != Form::kReal && value.form != Form::kText;
    const bool fits = value.form == Form::kSigned ||
                      value.bits <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    if (is_whole && fits) {
      batch.put_number(kProviderNumber,
                       value.form == Form::kBool ? std::uint64_t{value.bits != 0} : value.bits);
    } else {
      batch.put_null(kProviderNumber);
    }
    if (value.form == Form::kReal) {
      batch.put_number(kProviderReal, value.bits);
    } else {
      batch.put_null(kProviderReal);
    }
    if (batch.wants(kProviderText)) {
      text_.clear();
      append_payload_value(text_, value);
      batch.put_text(kProviderText, text_);
    }
  }

  BatchProducer& out_;
  const std::uint64_t from_ns_;
  const std::uint64_t to_ns_;
  std::uint64_t next_ = 0;  // the number of an event
  std::string provider_;    // of the present event, as is the name
  std::string name_;
  std::string text_;
};

Status make_event_stream(const std::string& capture, const ConvertOptions& reading,
                         const ProviderEventOptions& options, ArrowArrayStream* out) {
  if (out == nullptr) {
    return Error{ErrorCode::kUsage, kNoOffset, "there is no stream"};
  }
  if (const Status checked = check_batch_rows(options.table.batch_rows); !checked) {
    return checked;
  }
  Result<arrow::Projection> projection =
      arrow::Projection::create(kProviderColumns, options.table.columns);
  if (!projection) {
    return projection.error();
  }
  Result<ProviderEvents> opened = ProviderEvents::open(capture, reading);
  if (!opened) {
    return opened.error();
  }
  auto fill = [events = std::make_shared<ProviderEvents>(std::move(*opened)), options](
                  BatchProducer& batches, const capture::ReadControl& control) -> Status {
    EventRows rows(batches, options.table.from_ns, options.table.to_ns);
    const auto visited =
        events->visit(options.providers, control,
                      [&rows](const ProviderEvent& event) { return rows.put(event); });
    return visited ? Status() : Status(visited.error());
  };
  auto producer =
      std::make_shared<BatchProducer>(*projection, options.table.batch_rows, std::move(fill));
  arrow::make_stream({kProviderEventTable, std::move(*projection),
                      [producer](Batch& batch) { return producer->next(batch); }},
                     out);
  return {};
}

}  // namespace
}  // namespace app

Status stream_provider_events(const std::string& capture, const ConvertOptions& reading,
                              const ProviderEventOptions& options, ArrowArrayStream* out) {
  return core::guarded([&] { return app::make_event_stream(capture, reading, options, out); });
}

}  // namespace stackpack
