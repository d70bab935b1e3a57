#include "app/analysis/sample_types.h"

#include <algorithm>
#include <span>
#include <utility>

#include "bytes/utf8.h"
#include "capture/value_kinds.h"

namespace stackpack::app {

namespace {

constexpr Error kNoTypes{ErrorCode::kUsage, kNoOffset,
                         "no event of the file names a type; those of allocations and exceptions "
                         "of .NET do"};

// Where the type of a kind's values stands; kMostValueFields where there is none.
std::size_t type_field(const ValueSchema& schema) {
  const std::size_t at = schema.field("type");
  return at < kMostValueFields && schema.fields[at].type == ValueType::kText ? at
                                                                             : kMostValueFields;
}

capture::TypedEvent event_of(std::string_view name) {
  const auto kind = capture::value_kind_named(name);
  return kind == capture::ValueKind::kAllocation  ? capture::TypedEvent::kAllocation
         : kind == capture::ValueKind::kException ? capture::TypedEvent::kException
                                                  : capture::TypedEvent::kNone;
}

}  // namespace

Result<SampleTypes> SampleTypes::load(const Reader& reader) {
  Result<std::vector<ValueSchema>> kinds = reader.event_value_kinds();
  Result<std::vector<std::string>> texts = reader.event_value_texts();
  if (!kinds || !texts) {
    return kinds ? texts.error() : kinds.error();
  }
  SampleTypes types;
  const Status read = reader.event_values([&](std::span<const EventValue> rows) {
    for (const EventValue& row : rows) {
      const ValueSchema& kind = (*kinds)[row.kind];
      const capture::TypedEvent event = event_of(kind.name);
      const std::size_t at = type_field(kind);
      if (event != capture::TypedEvent::kNone && at < kMostValueFields) {
        const bool known = row.values[at] < texts->size();
        types.values_.push_back({{row.time_ns, row.pid, row.tid, row.stack, event},
                                 known ? static_cast<std::uint32_t>(row.values[at]) : 0});
      }
    }
    return true;
  });
  if (!read) {
    return read.error();
  }
  if (types.values_.empty()) {
    return Error(kNoTypes);
  }
  for (std::string& text : *texts) {
    types.texts_.push_back(bytes::valid_utf8(text));
  }
  std::stable_sort(types.values_.begin(), types.values_.end(),
                   [](const TypedValue& a, const TypedValue& b) { return a.key < b.key; });
  types.begin_pass();
  return types;
}

std::uint32_t SampleTypes::find(const query::SelectedSample& sample, std::string_view event) {
  const Key key{sample.time_ns, sample.pid, sample.tid, sample.stack, capture::typed_event(event)};
  const auto first = std::lower_bound(
      values_.begin(), values_.end(), key,
      [](const TypedValue& value, const Key& wanted) { return value.key < wanted; });
  if (first == values_.end() || first->key != key) {
    return 0;
  }
  const auto at = static_cast<std::size_t>(first - values_.begin());
  const std::size_t next = at + taken_[at];
  if (next >= values_.size() || values_[next].key != key) {
    return 0;
  }
  ++taken_[at];
  return values_[next].text;
}

std::string_view SampleTypes::title(std::uint32_t number) const {
  const bool known = number < texts_.size() && !texts_[number].empty();
  return known ? std::string_view(texts_[number]) : std::string_view("[no type]");
}

const query::EventGroup* group_with_types(const std::vector<query::EventGroup>& groups) {
  for (const capture::TypedEvent wanted :
       {capture::TypedEvent::kAllocation, capture::TypedEvent::kException}) {
    for (const query::EventGroup& group : groups) {
      if (group.samples != 0 && capture::typed_event(group.name) == wanted) {
        return &group;
      }
    }
  }
  return nullptr;
}

}  // namespace stackpack::app
