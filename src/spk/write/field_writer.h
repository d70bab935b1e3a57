#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spk/write/section_writer.h"
#include "stackpack/result.h"
#include "stackpack/sample_fields.h"

namespace stackpack::spk {

/// Writes the sections sample_fields and control_groups.
///
/// Order of calls: add() with the rows in the order of their samples, then end() with the table
/// that they refer to. Without rows nothing is written. Memory: a block. Errors: those of the
/// output file.
class FieldWriter {
 public:
  explicit FieldWriter(SectionWriter& out) : out_(out) {}

  Status add(const FieldRow& row);
  Status end(std::span<const ControlGroup> groups = {});

 private:
  Status flush();

  SectionWriter& out_;
  std::vector<FieldRow> rows_;
  std::uint64_t count_ = 0;
  BlockContent content_;
};

}  // namespace stackpack::spk
