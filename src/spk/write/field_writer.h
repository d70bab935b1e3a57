#pragma once

#include <span>
#include <vector>

#include "spk/write/block_rows.h"
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
  explicit FieldWriter(SectionWriter& out)
      : out_(out), rows_(out, SectionKind::kSampleFields, kFieldRowsPerBlock) {}

  Status add(const FieldRow& row);
  Status end(std::span<const ControlGroup> groups = {});

 private:
  SectionWriter& out_;
  BlockRows<FieldRow> rows_;
};

}  // namespace stackpack::spk
