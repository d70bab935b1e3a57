#include "capture/value_translation.h"

#include <algorithm>

namespace stackpack::capture {

ValueTranslation::ValueTranslation(std::span<const ValueSchema> kinds) {
  const std::span<const ValueKindRow> known = value_kinds();
  for (const ValueSchema& schema : kinds) {
    KindPlace& place = places_.emplace_back();
    const auto found = std::find_if(known.begin(), known.end(), [&schema](const ValueKindRow& row) {
      return row.name == schema.name;
    });
    if (found == known.end()) {
      continue;
    }
    place.known = true;
    place.kind = static_cast<ValueKind>(found - known.begin());
    for (const ValueKindField& field : found->fields) {
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
