#include "formats/perf/tracepoint_values.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "bytes/byte_text.h"
#include "bytes/byte_writer.h"
#include "capture/recorder_losses.h"
#include "formats/perf/perf_losses.h"
#include "formats/perf/switch_events.h"

namespace stackpack::perf {

namespace {

constexpr std::uint32_t kTracepointType = 2;

bool is_wanted_value(std::string_view system, std::string_view name) {
  return system != "sched" || (name != "sched_switch" && name != "sched_waking" &&
                               name != "sched_wakeup" && name != "sched_wakeup_new");
}

ValueType type_of(const TracepointField& field) {
  switch (field.content) {
    case TracepointContent::kText:
    case TracepointContent::kTextElsewhere:
    case TracepointContent::kTextAfter:
      return ValueType::kText;
    case TracepointContent::kAddress:
      return ValueType::kAddress;
    default:
      return field.is_signed ? ValueType::kSigned : ValueType::kNumber;
  }
}

// Where a text lies that its field describes: u16 offset, u16 size, as one u32.
std::string_view text_elsewhere(bytes::ByteCursor payload, std::uint64_t description,
                                std::size_t from) {
  payload.skip(from + (description & 0xFFFF));
  const std::span<const std::byte> bytes = payload.read_bytes(description >> 16 & 0xFFFF);
  return payload.ok() ? bytes::text_of(bytes) : std::string_view();
}

}  // namespace

bool TracepointValues::read_formats(bytes::ByteCursor tracing_data) {
  plans_.clear();
  return read_tracepoint_formats(tracing_data, is_wanted_value, formats_);
}

TracepointValues::Plan& TracepointValues::plan_of(std::size_t number, const AttrTable::Row& row) {
  if (number >= plans_.size()) {
    plans_.resize(number + 1);
  }
  Plan& plan = plans_[number];
  if (plan.looked_up) {
    return plan;
  }
  plan.looked_up = true;
  const auto format =
      row.attr.type == kTracepointType ? formats_.find(row.attr.config) : formats_.end();
  if (format == formats_.end()) {
    return plan;
  }
  std::vector<std::pair<std::uint32_t, std::string>> order;  // as they lie in the payload
  for (const auto& [name, field] : format->second.fields) {
    if (!name.starts_with("common_")) {
      order.emplace_back(field.offset, name);
    }
  }
  std::sort(order.begin(), order.end());
  ValueSchema schema{format->second.system + ":" + format->second.name, {}};
  for (const auto& [offset, name] : order) {
    const TracepointField& field = format->second.fields.find(name)->second;
    const bool fits = name.size() <= capture::ValueRecorder::kLongestFieldName;
    if (field.content == TracepointContent::kOther || !fits ||
        plan.fields.size() == kMostValueFields) {
      plan.leaves_out = true;
      continue;
    }
    plan.fields.push_back(field);
    schema.fields.push_back({name, type_of(field)});
  }
  plan.kind = values_->own_kind(schema);
  plan.event = values_->own_event(row.event);
  return plan;
}

bool TracepointValues::keeps(std::size_t number, const AttrTable::Row& row) {
  return row.attr.type == kTracepointType && plan_of(number, row).kind.has_value();
}

std::uint64_t TracepointValues::value_of(const bytes::ByteCursor& payload,
                                         const TracepointField& field) {
  const bool is_text = type_of(field) == ValueType::kText;
  if (field.content == TracepointContent::kText) {
    bytes::ByteCursor in = payload;
    in.skip(field.offset);
    const std::string_view text = bytes::text_of(in.read_bytes(field.size));
    is_bad_ = is_bad_ || !in.ok();
    return values_->path(text.substr(0, text.find('\0')));
  }
  const std::optional<std::uint64_t> number = read_tracepoint_field(payload, field);
  if (!number) {
    is_bad_ = true;
    return is_text ? 0 : kNoValue;
  }
  if (is_text) {
    const bool after = field.content == TracepointContent::kTextAfter;
    const std::string_view text =
        text_elsewhere(payload, *number, after ? std::size_t{field.offset} + field.size : 0);
    return values_->path(text.substr(0, text.find('\0')));
  }
  return type_of(field) == ValueType::kSigned
             ? bytes::zigzag_encode(static_cast<std::int64_t>(*number))
             : *number;
}

void TracepointValues::add(std::size_t number, const AttrTable::Row& row,
                           const SampleFields& fields, std::uint64_t record_offset) {
  const Plan& plan = plan_of(number, row);
  if (!plan.kind) {
    return;
  }
  capture::RecordedValue value;
  value.time_ns = fields.time;
  value.stack_time_ns = fields.time;
  value.pid = fields.pid;
  value.tid = fields.tid;
  value.stack_tid = fields.tid;
  value.kind = *plan.kind;
  value.stack_event = plan.event.value_or(capture::RecordedValue::kNoEvent);
  is_bad_ = false;
  for (std::size_t i = 0; i < plan.fields.size(); ++i) {
    value.values[i] = value_of(fields.raw, plan.fields[i]);
  }
  values_->add(value);
  if (is_bad_) {
    bad_.add(1, record_offset);
  }
  if (plan.leaves_out) {
    left_out_.add(1, record_offset);
  }
}

void TracepointValues::finish(CaptureContext& context) const {
  if (bad_.count != 0) {
    context.damage(capture::value_loss::kBadValues, bad_.count, bad_.first_offset);
  }
  if (left_out_.count != 0) {
    context.notice(loss::kTracepointFieldsLeftOut, left_out_.count, left_out_.first_offset);
  }
}

bool read_formats(const CaptureContext& context, bytes::ByteCursor tracing_data) {
  bool good = true;
  if (context.switches != nullptr) {
    good = context.switches->read_formats(tracing_data);
  }
  return context.tracepoints == nullptr || context.tracepoints->read_formats(tracing_data) ? good
                                                                                           : false;
}

bool wants_formats(const CaptureContext& context) {
  return context.switches != nullptr || context.tracepoints != nullptr;
}

}  // namespace stackpack::perf
