#include "app/analysis/sample_types.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "app/analysis/value_texts.h"
#include "bytes/utf8.h"
#include "capture/value_kinds.h"
#include "core/sort_rows.h"

namespace stackpack::app {

namespace {

constexpr Error kNoTypes{ErrorCode::kUsage, kNoOffset,
                         "no event of the file names a type; those of allocations and exceptions "
                         "of .NET do"};

constexpr Error kNoField{ErrorCode::kUsage, kNoOffset,
                         "no tracepoint of the file has that field; dump --fields lists them"};

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
        types.values_.push_back(
            {{row.time_ns, row.pid, row.tid, row.stack, static_cast<std::uint32_t>(event)},
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
  types.finish(*texts);
  return types;
}

void SampleTypes::finish(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    texts_.push_back(bytes::valid_utf8(text));
  }
  core::sort_rows(values_, [](const TypedValue& a, const TypedValue& b) { return a.key < b.key; });
  begin_pass();
}

Result<std::vector<std::string>> tracepoints_with(const Reader& reader, std::string_view field) {
  const Result<std::vector<ValueSchema>> kinds = reader.event_value_kinds();
  if (!kinds) {
    return kinds.error();
  }
  std::vector<std::string> names;
  for (const ValueSchema& kind : *kinds) {
    if (capture::is_own_kind(kind) && kind.field(field) < kMostValueFields) {
      names.push_back(kind.name);
    }
  }
  return names.empty() ? Result<std::vector<std::string>>(kNoField)
                       : Result<std::vector<std::string>>(std::move(names));
}

bool is_tracepoint(std::string_view event, std::string_view tracepoint) {
  // Attributes of OTLP's samples: the kind is called by the event and where it comes from.
  constexpr std::string_view kOtlp = "otlp:";
  if (tracepoint.starts_with(kOtlp) && event == tracepoint.substr(kOtlp.size())) {
    return true;
  }
  return event.starts_with(tracepoint) &&
         (event.size() == tracepoint.size() || event[tracepoint.size()] == ':');
}

Result<SampleTypes> SampleTypes::load_field(const Reader& reader, std::string_view field) {
  Result<std::vector<std::string>> names = tracepoints_with(reader, field);
  const Result<std::vector<ValueSchema>> kinds = reader.event_value_kinds();
  Result<std::vector<std::string>> texts = reader.event_value_texts();
  if (!names || !kinds || !texts) {
    return !names ? names.error() : !kinds ? kinds.error() : texts.error();
  }
  SampleTypes types;
  types.is_field_ = true;
  types.tracepoints_ = std::move(*names);
  std::map<std::string, std::uint32_t> numbers;  // of texts of values
  std::vector<std::string> words{std::string()};
  const Status read = reader.event_values([&](std::span<const EventValue> rows) {
    for (const EventValue& row : rows) {
      const ValueSchema& kind = (*kinds)[row.kind];
      const std::size_t at = kind.field(field);
      if (at == kMostValueFields || !capture::is_own_kind(kind)) {
        continue;
      }
      const std::uint64_t value = row.values[at];
      const bool is_text = kind.fields[at].type == ValueType::kText;
      const std::string word = !is_text                ? value_text(kind.fields[at].type, value)
                               : value < texts->size() ? (*texts)[static_cast<std::size_t>(value)]
                                                       : std::string();
      const auto [known, fresh] =
          numbers.try_emplace(word, static_cast<std::uint32_t>(words.size()));
      if (fresh) {
        words.push_back(word);
      }
      types.values_.push_back(
          {{row.time_ns, row.pid, row.tid, row.stack, types.event_number(kind.name)},
           known->second});
    }
    return true;
  });
  if (!read) {
    return read.error();
  }
  types.finish(words);
  return types;
}

std::uint32_t SampleTypes::event_number(std::string_view event) const {
  if (!is_field_) {
    return static_cast<std::uint32_t>(capture::typed_event(event));
  }
  for (std::size_t i = 0; i < tracepoints_.size(); ++i) {
    if (is_tracepoint(event, tracepoints_[i])) {
      return static_cast<std::uint32_t>(i + 1);
    }
  }
  return 0;
}

std::uint32_t SampleTypes::find(const query::SelectedSample& sample, std::string_view event) {
  const Key key{sample.time_ns, sample.pid, sample.tid, sample.stack, event_number(event)};
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
  return known ? std::string_view(texts_[number])
               : std::string_view(is_field_ ? "[no value]" : "[no type]");
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
