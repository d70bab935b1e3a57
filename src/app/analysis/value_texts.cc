#include "app/analysis/value_texts.h"

#include <bit>

#include <fmt/format.h>

#include "bytes/byte_writer.h"
#include "capture/value_kinds.h"
#include "query/name_pattern.h"
#include "query/selection/capture_view.h"
#include "query/selection/label_choice.h"

namespace stackpack::app {

std::string value_text(ValueType type, std::uint64_t value) {
  if (value == kNoValue) {
    return "-";
  }
  switch (type) {
    case ValueType::kAddress:
      return fmt::format("0x{:x}", value);
    case ValueType::kReal:
      return fmt::format("{:.6g}", std::bit_cast<double>(value));
    case ValueType::kSigned:
      return std::to_string(bytes::zigzag_decode(value));
    default:
      return std::to_string(value);
  }
}

std::string label_value(const Label& label) {
  return query::label_text(label);
}

std::vector<bool> listed_kinds(std::span<const ValueSchema> kinds,
                               const std::vector<std::string>& patterns, bool tracepoints) {
  std::vector<bool> listed;
  for (const ValueSchema& kind : kinds) {
    const bool fits = patterns.empty() || query::fits_any(kind.name, patterns);
    listed.push_back(fits && (!tracepoints || capture::is_own_kind(kind)));
  }
  return listed;
}

std::string control_group_of(const FieldRow& row, const std::vector<ControlGroup>& groups) {
  const std::uint64_t number = row.value(SampleField::kControlGroup);
  return row.has(SampleField::kControlGroup) && number < groups.size()
             ? query::control_group_title(groups[static_cast<std::size_t>(number)])
             : std::string();
}

}  // namespace stackpack::app
