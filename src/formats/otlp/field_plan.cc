#include "formats/otlp/field_plan.h"

#include "formats/otlp/resource_fields.h"

namespace stackpack::otlp {

namespace {

constexpr std::string_view kTraceField = "link.trace_id";
constexpr std::string_view kSpanField = "link.span_id";
constexpr std::string_view kProfileIdField = "id.profile";

FieldValue text_field(std::string_view name, const std::string& text) {
  return {std::string(name), {AttributeType::kText, 0, text}};
}

}  // namespace

void FieldPlan::begin() {
  attributes_.clear();
  links_.clear();
  own_.clear();
  profile_id_.clear();
}

template <typename Map>
void FieldPlan::see(std::uint64_t id, Map& map) {
  if (map.size() < kMost || map.contains(id)) {
    map.try_emplace(id);
  } else {
    values_.count_not_kept();
  }
}

// What is not in the dictionary is counted where samples are read, and takes no room here.
void FieldPlan::see_attribute(std::uint64_t id) {
  if (tables_.find_attribute(id) != nullptr) {
    see(id, attributes_);
  }
}

void FieldPlan::see_own(std::uint64_t id) {
  if (tables_.find_attribute(id) == nullptr) {
    return;
  }
  if (own_.size() < OwnerFields::kMost || own_.contains(id)) {
    own_.insert(id);
  } else {
    values_.count_not_kept();
  }
}

void FieldPlan::see_link(std::uint64_t id) {
  if (id != 0 && tables_.link(id) != nullptr) {
    see(id, links_);
  }
}

// Those that are columns of samples are no fields.
std::optional<FieldValue> FieldPlan::field_of(std::uint64_t id, std::string_view prefix) const {
  using Key = OtlpTables::Key;
  const OtlpTables::Attribute* const given = tables_.find_attribute(id);
  if (given == nullptr || id == 0) {
    return std::nullopt;
  }
  const bool of_profile = !prefix.empty();
  const bool is_column = of_profile
                             ? given->key == Key::kEvent
                             : given->key != Key::kOther && given->key != Key::kEvent &&
                                   given->key != Key::kBuildId && given->key != Key::kFrameType;
  return is_column ? std::nullopt
                   : std::optional(
                         FieldValue{std::string(prefix) + tables_.name_of(*given), given->value});
}

void FieldPlan::take_key(const std::optional<FieldValue>& field, std::set<FieldKey>& keys) {
  if (field && field->value.type != AttributeType::kNone) {
    keys.insert(field->key());
  }
}

std::set<FieldKey> FieldPlan::keys_of(const std::vector<FieldValue>& own) const {
  std::set<FieldKey> keys;
  for (const auto* const fields : {&resource_, &scope_, &own}) {
    for (const FieldValue& field : *fields) {
      take_key(field, keys);
    }
  }
  for (const auto& [id, cell] : attributes_) {
    take_key(field_of(id, {}), keys);
  }
  if (!links_.empty()) {
    keys.insert(text_field(kTraceField, {}).key());
    keys.insert(text_field(kSpanField, {}).key());
  }
  return keys;
}

void FieldPlan::set_for_all(const std::vector<FieldValue>& fields) {
  for (const FieldValue& field : fields) {
    if (const Cell cell = values_.cell(field)) {
      values_.set_for_all(*cell);
    }
  }
}

void FieldPlan::settle(std::uint32_t event, std::string_view name) {
  if (!keeps()) {
    return;
  }
  std::vector<FieldValue> own;
  for (const std::uint64_t id : own_) {
    if (std::optional<FieldValue> field = field_of(id, kProfilePrefix)) {
      own.push_back(std::move(*field));
    }
  }
  if (!profile_id_.empty()) {
    own.push_back(text_field(kProfileIdField, profile_id_));
  }
  values_.begin_profile(event, name, keys_of(own));
  set_for_all(resource_);
  set_for_all(scope_);
  set_for_all(own);
  for (auto& [id, cell] : attributes_) {
    const std::optional<FieldValue> field = field_of(id, {});
    cell = field ? values_.cell(*field) : std::nullopt;
  }
  for (auto& [id, cells] : links_) {
    const OtlpTables::Link* const link = tables_.link(id);
    if (link != nullptr) {
      cells.trace = values_.cell(text_field(kTraceField, link->trace));
      cells.span = values_.cell(text_field(kSpanField, link->span));
    }
  }
}

void FieldPlan::attribute(std::uint64_t id) {
  if (const auto known = attributes_.find(id); known != attributes_.end() && known->second) {
    values_.set(*known->second);
  }
}

void FieldPlan::link(std::uint64_t id) {
  if (const auto known = links_.find(id); known != links_.end()) {
    for (const Cell& cell : {known->second.trace, known->second.span}) {
      if (cell) {
        values_.set(*cell);
      }
    }
  }
}

}  // namespace stackpack::otlp
