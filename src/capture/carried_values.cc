#include "capture/carried_values.h"

#include <optional>

namespace stackpack::capture {

ValueTranslation::ValueTranslation(std::span<const ValueSchema> kinds) {
  for (const ValueSchema& schema : kinds) {
    KindPlace& place = places_.emplace_back();
    const std::optional<ValueKind> found = value_kind_named(schema.name);
    if (!found) {
      continue;
    }
    place.known = true;
    place.kind = *found;
    for (const ValueKindField& field : value_kinds()[static_cast<std::size_t>(*found)].fields) {
      const std::size_t at = schema.field(field.name);
      const bool same_type =
          at < kMostValueFields &&
          (schema.fields[at].type == ValueType::kText) == (field.type == ValueType::kText);
      place.fields[place.count++] = same_type ? at : kMostValueFields;
    }
  }
}

bool ValueTranslation::translate(const EventValue& value, ValueKind& kind, Fields& fields) const {
  const KindPlace& place = places_[value.kind];
  if (!place.known) {
    return false;
  }
  kind = place.kind;
  const std::span<const ValueKindField> known =
      value_kinds()[static_cast<std::size_t>(place.kind)].fields;
  for (std::size_t i = 0; i < place.count; ++i) {
    const std::size_t at = place.fields[i];
    const std::uint64_t none = known[i].type == ValueType::kText ? 0 : kNoValue;
    fields[i] = at < kMostValueFields ? value.values[at] : none;
  }
  return true;
}

}  // namespace stackpack::capture
