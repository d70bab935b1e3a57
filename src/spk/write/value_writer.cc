#include "spk/write/value_writer.h"

#include <algorithm>
#include <cstddef>

#include "bytes/label_bytes.h"
#include "spk/format/field_codec.h"
#include "spk/format/label_codec.h"
#include "spk/format/layout.h"
#include "spk/format/table_rules.h"
#include "spk/format/value_codec.h"
#include "spk/write/section_writer.h"

namespace stackpack::spk {

namespace {

// The fields from here on name rows.
constexpr std::size_t kFirstName = static_cast<std::size_t>(SampleField::kControlGroup);

}  // namespace

Status ValueWriter::add(const EventValue& row) {
  if (const Status rules = rows_.empty() ? check_value_kinds(kinds_) : Status{}; !rules) {
    return refused(rules);
  }
  if (row.time_ns < last_ns_) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: event values: not in order of time"};
  }
  if (!is_within(row, {stacks_, 0, kinds_})) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: an event value of what is not there"};
  }
  last_ns_ = row.time_ns;
  const std::vector<ValueField>& fields = kinds_[row.kind].fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].type == ValueType::kText) {
      highest_text_ = std::max(highest_text_, row.values[i]);
      has_texts_ = true;
    }
  }
  return rows_.add(row, [this](std::span<const EventValue> rows, BlockContent& content) {
    encode_values(rows, kinds_, content);
  });
}

Status write_value_texts(std::span<const std::string> texts, SectionWriter& out) {
  if (const Status rules = check_value_texts(texts); !rules) {
    return refused(rules);
  }
  BlockContent content;
  out.begin_section(SectionKind::kValueTexts);
  for (std::size_t begin = 0; begin < texts.size();) {
    std::size_t end = begin;
    std::size_t bytes = 0;
    while (end < texts.size() && end - begin < kRowsPerTableBlock && bytes < kTableTextTarget) {
      bytes += texts[end++].size();
    }
    content.clear();
    encode_value_texts(texts.subspan(begin, end - begin), content);
    if (const Result<BlockRecord> added = out.add_block(content); !added) {
      return added.error();
    }
    begin = end;
  }
  out.end_section(texts.size());
  return {};
}

Status ValueWriter::end(std::span<const std::string> texts) {
  const Status ended = rows_.end([this](std::span<const EventValue> rows, BlockContent& content) {
    encode_values(rows, kinds_, content);
  });
  if (!ended || rows_.empty()) {
    return ended;
  }
  if (has_texts_ && highest_text_ >= texts.size()) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: an event value of a text that is not there"};
  }
  const Status written =
      write_one_block(out_, SectionKind::kValueKinds, kinds_.size(),
                      [this](BlockContent& content) { encode_value_kinds(kinds_, content); });
  return written ? write_value_texts(texts, out_) : written;
}

Status LabelSetWriter::flush() {
  BlockContent content;
  encode_label_sets(sets_, content);
  sets_.clear();
  bytes_ = 0;
  const Result<BlockRecord> added = out_.add_block(content);
  return added ? Status{} : Status{added.error()};
}

Status LabelSetWriter::add(std::string_view set) {
  if (!bytes::read_labels(bytes::ByteCursor(std::as_bytes(std::span(set)), 0), labels_)) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: label sets: a row that cannot be"};
  }
  if (count_++ == 0) {
    out_.begin_section(SectionKind::kLabelSets);
  }
  sets_.emplace_back(set);
  bytes_ += set.size();
  return sets_.size() < kRowsPerTableBlock && bytes_ < kTableTextTarget ? Status{} : flush();
}

Status LabelSetWriter::end() {
  const Status flushed = sets_.empty() ? Status{} : flush();
  if (flushed && count_ != 0) {
    out_.end_section(count_);
  }
  return flushed;
}

Status FieldWriter::add(const FieldRow& row) {
  if (!rows_.empty() && row.sample <= last_sample_) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: fields of samples are not in order"};
  }
  last_sample_ = row.sample;
  for (std::size_t i = kFirstName; i < kSampleFieldCount; ++i) {
    if (row.has(static_cast<SampleField>(i))) {
      highest_[i] = std::max(highest_[i].value_or(0), row.values[i]);
    }
  }
  return rows_.add(row, encode_fields);
}

// Of what a field names.
std::uint64_t FieldWriter::there_are(SampleField field) const {
  switch (field) {
    case SampleField::kControlGroup:
      return out_.items(SectionKind::kControlGroups);
    case SampleField::kLabelSet:
      return out_.items(SectionKind::kLabelSets);
    case SampleField::kBranchStack:
      return stacks_.stacks;
    case SampleField::kBranchCycles:
      return stacks_.cycles;
    default:
      return ~std::uint64_t{0};
  }
}

Status FieldWriter::check_references() const {
  if (!rows_.empty() && last_sample_ >= out_.items(SectionKind::kSamples)) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: fields of a sample that is not there"};
  }
  for (std::size_t i = kFirstName; i < kSampleFieldCount; ++i) {
    if (highest_[i] && *highest_[i] >= there_are(static_cast<SampleField>(i))) {
      return Error{ErrorCode::kLimit, kNoOffset,
                   "spk: a field of a sample names what is not there"};
    }
  }
  return {};
}

Status FieldWriter::end(std::span<const ControlGroup> groups) {
  if (const Status rules = check_control_groups(groups); !rules) {
    return refused(rules);
  }
  const Status flushed = rows_.end(encode_fields);
  return flushed && !groups.empty() ? write_table(out_, SectionKind::kControlGroups, groups)
                                    : flushed;
}

}  // namespace stackpack::spk
