#include "formats/otlp/sample_values.h"

#include <algorithm>

#include "bytes/byte_writer.h"
#include "capture/redaction.h"
#include "formats/otlp/otlp_losses.h"

namespace stackpack::otlp {

namespace {

constexpr std::string_view kKindPrefix = "otlp:";

ValueType type_of(AttributeType type) {
  switch (type) {
    case AttributeType::kText:
      return ValueType::kText;
    case AttributeType::kInteger:
      return ValueType::kSigned;
    case AttributeType::kReal:
      return ValueType::kReal;
    default:
      return ValueType::kNumber;
  }
}

}  // namespace

void SampleValues::add_kind(EventKinds& event, std::string_view name,
                            std::span<const FieldKey> keys) {
  constexpr std::size_t kLongest = capture::ValueRecorder::kLongestFieldName;
  ValueSchema schema{std::string(kKindPrefix), {}};
  schema.name += name.substr(0, kLongest - kKindPrefix.size());
  auto& nothing = event.nothing.emplace_back();
  for (const FieldKey& key : keys) {
    const ValueType type = type_of(key.type);
    nothing[schema.fields.size()] = type == ValueType::kText ? 0 : kNoValue;
    schema.fields.push_back({key.name, type});
  }
  const std::optional<capture::ValueKind> kind = recorder_->own_kind(schema);
  if (!kind) {
    event.nothing.pop_back();
    return;
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    event.places[keys[i]] = {event.kinds.size(), static_cast<std::uint32_t>(i)};
  }
  event.kinds.push_back(*kind);
}

void SampleValues::place(EventKinds& event, std::string_view name, const std::set<FieldKey>& keys) {
  std::vector<FieldKey> fresh;
  for (const FieldKey& key : keys) {
    if (!event.places.contains(key) && !key.name.empty() &&
        key.name.size() <= capture::ValueRecorder::kLongestFieldName) {
      fresh.push_back(key);
    }
  }
  for (std::size_t begin = 0; begin < fresh.size(); begin += kMostValueFields) {
    const std::size_t count = std::min(fresh.size() - begin, kMostValueFields);
    add_kind(event, name, std::span(fresh).subspan(begin, count));
  }
}

void SampleValues::begin_profile(std::uint32_t event, std::string_view name,
                                 const std::set<FieldKey>& keys) {
  common_.clear();
  if (!keeps()) {
    return;
  }
  event_ = &events_[event];
  event_number_ = keys.empty() ? std::nullopt : recorder_->own_event(event);
  place(*event_, name, keys);
  std::set<std::size_t> used;
  for (const FieldKey& key : keys) {
    if (const auto known = event_->places.find(key); known != event_->places.end()) {
      used.insert(known->second.kind);
    }
  }
  for (const std::size_t kind : used) {
    common_.push_back({kind, event_->nothing[kind]});
  }
}

std::uint64_t SampleValues::number_of(const FieldValue& field) {
  const AttributeValue& value = field.value;
  switch (value.type) {
    case AttributeType::kText:
      if (value.text.size() > capture::ValueRecorder::kLongestText) {
        losses_.add(loss::kAttributeCut, LossKind::kNotice, 1);
      }
      return capture::is_identifying(field.name) ? recorder_->message(value.text)
                                                 : recorder_->path(value.text);
    case AttributeType::kInteger:
      return bytes::zigzag_encode(static_cast<std::int64_t>(value.number));
    default:
      return value.number;
  }
}

void SampleValues::count_not_kept() const {
  if (!keeps()) {
    return;
  }
  losses_.add(loss::kAttributesNotKept, LossKind::kNotice, 1);
}

std::optional<SampleValues::Cell> SampleValues::cell(const FieldValue& field) {
  if (!keeps()) {
    return std::nullopt;
  }
  const auto known = event_->places.find(field.key());
  const bool is_text = field.value.type == AttributeType::kText;
  if (known != event_->places.end()) {
    const auto part = std::find_if(common_.begin(), common_.end(), [&](const Part& candidate) {
      return candidate.kind == known->second.kind;
    });
    const std::uint64_t number = number_of(field);
    if (part != common_.end() && (is_text ? !field.value.text.empty() : number != kNoValue)) {
      return Cell{static_cast<std::uint32_t>(part - common_.begin()), known->second.field, number};
    }
  }
  count_not_kept();
  return std::nullopt;
}

void SampleValues::set(const Cell& cell) {
  Part& part = current_[cell.kind];
  std::uint64_t& value = part.fields[cell.field];
  if (value != event_->nothing[part.kind][cell.field] && value != cell.number) {
    count_not_kept();
  }
  value = cell.number;
}

void SampleValues::add(const Sample& sample) {
  for (std::size_t i = 0; i < current_.size(); ++i) {
    capture::RecordedValue value;
    value.time_ns = sample.time_ns;
    value.stack_time_ns = sample.time_ns;
    value.pid = sample.pid;
    value.tid = sample.tid;
    value.stack_tid = sample.tid;
    value.kind = event_->kinds[current_[i].kind];
    value.stack_event = event_number_.value_or(capture::RecordedValue::kNoEvent);
    value.with_previous = i != 0;
    value.values = current_[i].fields;
    recorder_->add(value);
  }
}

}  // namespace stackpack::otlp
