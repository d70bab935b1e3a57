#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spk/write/block_rows.h"
#include "spk/write/section_writer.h"
#include "stackpack/event_values.h"
#include "stackpack/result.h"

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

}  // namespace stackpack::spk
