#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spk/write/block_rows.h"
#include "spk/write/section_writer.h"
#include "stackpack/event_values.h"
#include "stackpack/result.h"
#include "stackpack/sample_fields.h"

namespace stackpack::spk {

/// Writes the section value_texts, at least one text.
Status write_value_texts(std::span<const std::string> texts, SectionWriter& out);

/// Writes the sections event_values, value_kinds and value_texts.
///
/// Order of calls: set_kinds(), add() with the rows in order of time, then end(). Without rows
/// nothing is written. Memory: a block. Errors: those of the output file.
class ValueWriter {
 public:
  explicit ValueWriter(SectionWriter& out)
      : out_(out), rows_(out, SectionKind::kEventValues, kValuesPerBlock) {}

  void set_kinds(std::vector<ValueSchema> kinds) { kinds_ = std::move(kinds); }
  Status add(const EventValue& row);
  Status end(std::span<const std::string> texts);

 private:
  SectionWriter& out_;
  std::vector<ValueSchema> kinds_;
  BlockRows<EventValue> rows_;
};

/// Writes the section label_sets.
///
/// Order of calls: add() with sets as bytes::write_labels makes them, then end(). Without sets
/// nothing is written. Memory: a block. Errors: those of the output file.
class LabelSetWriter {
 public:
  explicit LabelSetWriter(SectionWriter& out) : out_(out) {}

  Status add(std::string_view set);
  Status end();

 private:
  Status flush();

  SectionWriter& out_;
  std::vector<std::string> sets_;
  std::size_t bytes_ = 0;  // of those
  std::uint64_t count_ = 0;
};

/// Writes the sections sample_fields, control_groups and label_sets.
///
/// Order of calls: add() with the rows in the order of their samples, then end() with the table
/// that they refer to, then labels(). Without rows nothing is written. Memory: a block. Errors:
/// those of the output file.
class FieldWriter {
 public:
  explicit FieldWriter(SectionWriter& out)
      : out_(out), rows_(out, SectionKind::kSampleFields, kFieldRowsPerBlock) {}

  Status add(const FieldRow& row);
  Status end(std::span<const ControlGroup> groups = {});
  [[nodiscard]] LabelSetWriter labels() { return LabelSetWriter(out_); }

 private:
  SectionWriter& out_;
  BlockRows<FieldRow> rows_;
  std::uint64_t last_sample_ = 0;
};

}  // namespace stackpack::spk
