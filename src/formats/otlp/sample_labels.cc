#include "formats/otlp/sample_labels.h"

#include "capture/field_recorder.h"
#include "formats/otlp/otlp_losses.h"
#include "formats/otlp/resource_fields.h"

namespace stackpack::otlp {

namespace {

LabelType type_of(AttributeType type) {
  switch (type) {
    case AttributeType::kInteger:
      return LabelType::kInteger;
    case AttributeType::kReal:
      return LabelType::kReal;
    case AttributeType::kBool:
      return LabelType::kBool;
    default:
      return LabelType::kText;
  }
}

// Those that are columns of samples are no labels.
bool is_column(OtlpTables::Key key) {
  using Key = OtlpTables::Key;
  return key != Key::kOther && key != Key::kEvent && key != Key::kBuildId && key != Key::kFrameType;
}

}  // namespace

void SampleLabels::begin_profile() {
  own_.clear();
  profile_id_.clear();
}

void SampleLabels::see_own(std::uint64_t id) {
  if (own_.size() < OwnerFields::kMost) {
    own_.insert(id);
  } else if (!own_.contains(id)) {
    not_kept(1);
  }
}

void SampleLabels::settle() {
  common_.clear();
  for (const auto* const fields : {&resource_, &scope_}) {
    for (const FieldValue& field : *fields) {
      add(common_, field.name, field.value);
    }
  }
  for (const std::uint64_t id : own_) {
    const OtlpTables::Attribute* const given = tables_.find_attribute(id);
    if (given != nullptr && given->key != OtlpTables::Key::kEvent) {
      add(common_, std::string(kProfilePrefix) + tables_.name_of(*given), given->value,
          tables_.text(given->unit));
    }
  }
  if (!profile_id_.empty()) {
    add(common_, "id.profile", {AttributeType::kText, 0, profile_id_});
  }
}

void SampleLabels::attribute(std::uint64_t id) {
  const OtlpTables::Attribute* const given = tables_.find_attribute(id);
  if (given != nullptr && !is_column(given->key)) {
    add(labels_, tables_.name_of(*given), given->value, tables_.text(given->unit));
  }
}

void SampleLabels::link(std::uint64_t id) {
  const OtlpTables::Link* const link = id == 0 ? nullptr : tables_.link(id);
  if (link == nullptr) {
    return;
  }
  for (const auto& [name, text] :
       {std::pair("link.trace_id", &link->trace), std::pair("link.span_id", &link->span)}) {
    if (!text->empty()) {
      add(labels_, name, {AttributeType::kText, 0, *text});
    }
  }
}

// Numbers alone have units.
void SampleLabels::add(LabelSet& labels, std::string name, const AttributeValue& value,
                       std::string_view unit) {
  const bool is_text = value.type == AttributeType::kText;
  const bool is_number = value.type == AttributeType::kInteger;
  if (name.empty() && value.type == AttributeType::kNone) {  // the entry that means none
    return;
  }
  if (name.empty() || value.type == AttributeType::kNone || (is_text && value.text.empty())) {
    not_kept(1);
    return;
  }
  if (!unit.empty() && !is_number) {
    sink_.losses().add(loss::kFieldsNotKept, LossKind::kNotice, 1);
  }
  labels.push_back({std::move(name), type_of(value.type), value.text, is_text ? 0 : value.number,
                    std::string(is_number ? unit : std::string_view())});
}

void SampleLabels::not_kept(std::uint64_t count) {
  sink_.losses().add(loss::kAttributesNotKept, LossKind::kNotice, count);
}

std::optional<FieldRow> SampleLabels::row() {
  if (labels_.empty()) {
    return std::nullopt;
  }
  capture::FieldRecorder* const fields = sink_.sample_fields();
  if (fields == nullptr) {
    not_kept(labels_.size());
    return std::nullopt;
  }
  const std::uint64_t cut = fields->labels().cut();
  FieldRow row;
  row.set(stackpack::SampleField::kLabelSet, fields->labels().number_of(labels_));
  if (fields->labels().cut() != cut) {
    sink_.losses().add(loss::kAttributeCut, LossKind::kNotice, fields->labels().cut() - cut);
  }
  return row;
}

}  // namespace stackpack::otlp
