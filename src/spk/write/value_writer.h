#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spk/write/block_rows.h"
#include "spk/write/branch_writer.h"
#include "spk/write/section_writer.h"
#include "stackpack/event_values.h"
#include "stackpack/labels.h"
#include "stackpack/result.h"
#include "stackpack/sample_fields.h"

namespace stackpack::spk {

/// Writes the section value_texts, at least one text.
Status write_value_texts(std::span<const std::string> texts, SectionWriter& out);

/// Writes the sections event_values, value_kinds and value_texts.
///
/// Order of calls: set_kinds(), add() with the rows in order of time, then end(). Without rows
/// nothing is written. Memory: a block. Errors: those of the output file; kLimit: rows out of
/// order, or of kinds, callstacks or texts that are not there.
class ValueWriter {
 public:
  /// `stacks`: callstacks of the file.
  ValueWriter(SectionWriter& out, std::uint64_t stacks)
      : out_(out), stacks_(stacks), rows_(out, SectionKind::kEventValues, kValuesPerBlock) {}

  void set_kinds(std::vector<ValueSchema> kinds) { kinds_ = std::move(kinds); }
  Status add(const EventValue& row);
  Status end(std::span<const std::string> texts);

 private:
  SectionWriter& out_;
  std::uint64_t stacks_;
  std::vector<ValueSchema> kinds_;
  BlockRows<EventValue> rows_;
  std::uint64_t last_ns_ = 0;
  std::uint64_t highest_text_ = 0;
  bool has_texts_ = false;
};

/// Writes the section label_sets.
///
/// Order of calls: add() with sets as bytes::write_labels makes them, then end(). Without sets
/// nothing is written. Memory: a block. Errors: those of the output file; kLimit: other bytes.
class LabelSetWriter {
 public:
  explicit LabelSetWriter(SectionWriter& out) : out_(out) {}

  Status add(std::string_view set);
  Status end();

 private:
  Status flush();

  SectionWriter& out_;
  LabelSet labels_;  // of a set
  std::vector<std::string> sets_;
  std::size_t bytes_ = 0;  // of those
  std::uint64_t count_ = 0;
};

/// Writes the sections sample_fields, control_groups and label_sets.
///
/// Order of calls: add() with the rows in the order of their samples, then end() with the table
/// that they refer to, then labels(), then check_references(). Without rows nothing is written.
/// Memory: a block. Errors: those of the output file; kLimit: rows out of order.
class FieldWriter {
 public:
  /// `stacks`: branch stacks of the file.
  FieldWriter(SectionWriter& out, const BranchStackCounts& stacks)
      : out_(out), stacks_(stacks), rows_(out, SectionKind::kSampleFields, kFieldRowsPerBlock) {}

  Status add(const FieldRow& row);
  Status end(std::span<const ControlGroup> groups = {});
  [[nodiscard]] LabelSetWriter labels() { return LabelSetWriter(out_); }

  /// Errors: kLimit: a row of a sample, or that names a control group, labels or a branch stack,
  /// which the file has not.
  [[nodiscard]] Status check_references() const;

 private:
  [[nodiscard]] std::uint64_t there_are(SampleField field) const;

  SectionWriter& out_;
  BranchStackCounts stacks_;
  BlockRows<FieldRow> rows_;
  std::uint64_t last_sample_ = 0;
  std::array<std::optional<std::uint64_t>, kSampleFieldCount> highest_;  // of those that name rows
};

}  // namespace stackpack::spk
