#include "export/formats/otlp_sample_fields.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>

#include "bytes/byte_writer.h"
#include "bytes/utf8.h"
#include "core/sort_rows.h"

namespace stackpack::exporting {

namespace {

constexpr std::string_view kKindPrefix = "otlp:";
constexpr std::size_t kLongestKindName = 255;  // of a file: longer names of events are cut

}  // namespace

struct OtlpSampleFields::Kinds {
  std::vector<ValueSchema> schemas;
  std::vector<std::string> texts;
  std::vector<std::uint32_t> numbers;  // by kind: that of its name, 0 for a kind of something else
  std::map<std::pair<Key, std::uint32_t>, std::uint32_t> seen;  // by key and kind
};

std::uint32_t OtlpSampleFields::number_of(OtlpField field) {
  const auto [known, fresh] =
      field_numbers_.try_emplace(field, static_cast<std::uint32_t>(fields_.size()));
  if (fresh) {
    fields_.push_back(std::move(field));
  }
  return known->second;
}

std::uint32_t OtlpSampleFields::number_of(const Set& set) {
  if (set.empty()) {
    return 0;
  }
  const auto [known, fresh] =
      set_numbers_.try_emplace(set, static_cast<std::uint32_t>(sets_.size()));
  if (fresh) {
    sets_.push_back(set);
  }
  return known->second;
}

void OtlpSampleFields::take(const EventValue& row, const Kinds& kinds, std::vector<Piece>& pieces) {
  const ValueSchema& kind = kinds.schemas[row.kind];
  Piece& piece = pieces.emplace_back();
  piece.key = {row.time_ns, row.pid, row.tid, row.stack, kinds.numbers[row.kind]};
  for (std::size_t i = 0; i < kind.fields.size(); ++i) {
    const std::uint64_t value = row.values[i];
    OtlpField field{kind.fields[i].name, {}};
    switch (kind.fields[i].type) {
      case ValueType::kText:
        field.value.text = value < kinds.texts.size() ? kinds.texts[value] : std::string();
        break;
      case ValueType::kSigned:
        field.value.type = OtlpValue::Type::kInteger;
        field.value.number = static_cast<std::uint64_t>(bytes::zigzag_decode(value));
        break;
      default:
        field.value.type = kind.fields[i].type == ValueType::kReal ? OtlpValue::Type::kReal
                                                                   : OtlpValue::Type::kBool;
        field.value.number = value;
    }
    const bool is_text = kind.fields[i].type == ValueType::kText;
    if (is_text ? !field.value.text.empty() : value != kNoValue) {
      piece.fields.push_back(number_of(std::move(field)));
    }
  }
}

Status OtlpSampleFields::load_labels(const query::CaptureView& view) {
  if (!view.label_sets || !view.fields) {
    return {};
  }
  return view.label_sets([this](std::span<const LabelSet> sets) {
    for (const LabelSet& labels : sets) {
      Set set;
      for (const Label& label : labels) {
        const OtlpValue::Type type = label.type == LabelType::kInteger ? OtlpValue::Type::kInteger
                                     : label.type == LabelType::kReal  ? OtlpValue::Type::kReal
                                     : label.type == LabelType::kBool  ? OtlpValue::Type::kBool
                                                                       : OtlpValue::Type::kText;
        set.push_back(number_of(OtlpField{
            bytes::valid_utf8(label.key),
            {type, label.number, bytes::valid_utf8(label.text), bytes::valid_utf8(label.unit)}}));
      }
      std::sort(set.begin(), set.end());
      label_sets_.push_back(number_of(set));
    }
    return true;
  });
}

Result<OtlpSampleFields> OtlpSampleFields::load(const Reader& reader,
                                                const query::CaptureView& view) {
  OtlpSampleFields found;
  if (const Status labels = found.load_labels(view); !labels) {
    return labels.error();
  }
  Result<std::vector<ValueSchema>> schemas = reader.event_value_kinds();
  Result<std::vector<std::string>> texts = reader.event_value_texts();
  if (!schemas || !texts) {
    return schemas ? texts.error() : schemas.error();
  }
  Kinds kinds{std::move(*schemas), std::move(*texts), {}, {}};
  std::map<std::string, std::uint32_t> names;
  for (const ValueSchema& kind : kinds.schemas) {
    const bool is_own = kind.name.starts_with(kKindPrefix);
    const auto fresh = static_cast<std::uint32_t>(names.size() + 1);
    kinds.numbers.push_back(is_own ? names.try_emplace(kind.name, fresh).first->second : 0);
  }
  for (const Event& event : view.events) {
    const auto known =
        names.find((std::string(kKindPrefix) + event.name).substr(0, kLongestKindName));
    found.number_of_event_.push_back(known == names.end() ? 0 : known->second);
  }
  if (names.empty()) {
    return found;
  }
  std::vector<Piece> pieces;
  const Status read = reader.event_values([&](std::span<const EventValue> rows) {
    for (const EventValue& row : rows) {
      if (kinds.numbers[row.kind] != 0) {
        found.take(row, kinds, pieces);
        pieces.back().nth = kinds.seen[{pieces.back().key, row.kind}]++;
      }
    }
    return true;
  });
  if (!read) {
    return read.error();
  }
  found.join(pieces);
  return found;
}

void OtlpSampleFields::join(std::vector<Piece>& pieces) {
  const auto place = [](const Piece& piece) { return std::tie(piece.key, piece.nth); };
  core::sort_rows(pieces, [&](const Piece& a, const Piece& b) { return place(a) < place(b); });
  for (std::size_t begin = 0; begin < pieces.size();) {
    Set whole;
    std::size_t end = begin;
    for (; end < pieces.size() && place(pieces[end]) == place(pieces[begin]); ++end) {
      whole.insert(whole.end(), pieces[end].fields.begin(), pieces[end].fields.end());
    }
    std::sort(whole.begin(), whole.end());
    samples_.push_back({pieces[begin].key, number_of(whole)});
    begin = end;
  }
  begin_pass();
}

std::uint32_t OtlpSampleFields::find(const query::SelectedSample& sample) {
  const std::uint32_t labels =
      sample.label_set < label_sets_.size() ? label_sets_[sample.label_set] : 0;
  return both(labels, values_of(sample));
}

std::uint32_t OtlpSampleFields::both(std::uint32_t labels, std::uint32_t values) {
  if (labels == 0 || values == 0) {
    return labels + values;
  }
  const auto [known, fresh] = joined_.try_emplace({labels, values}, 0);
  if (fresh) {
    Set whole;
    std::set_union(sets_[labels].begin(), sets_[labels].end(), sets_[values].begin(),
                   sets_[values].end(), std::back_inserter(whole));
    known->second = number_of(whole);
  }
  return known->second;
}

std::uint32_t OtlpSampleFields::values_of(const query::SelectedSample& sample) {
  const std::uint32_t event =
      sample.event < number_of_event_.size() ? number_of_event_[sample.event] : 0;
  const Key key{sample.time_ns, sample.pid, sample.tid, sample.stack, event};
  const auto first =
      std::lower_bound(samples_.begin(), samples_.end(), key,
                       [](const SampleSet& set, const Key& wanted) { return set.key < wanted; });
  if (event == 0 || first == samples_.end() || first->key != key) {
    return 0;
  }
  const auto at = static_cast<std::size_t>(first - samples_.begin());
  const std::size_t next = at + taken_[at];
  if (next >= samples_.size() || samples_[next].key != key) {
    return 0;
  }
  ++taken_[at];
  return samples_[next].set;
}

}  // namespace stackpack::exporting
