#pragma once

#include <span>
#include <string>

#include "spk/write/block_rows.h"
#include "spk/write/section_writer.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"

namespace stackpack::spk {

/// Writes the sections intervals and wait_reasons.
///
/// Order of calls: add() with the rows in the order of the file, then end(). Without rows nothing
/// is written. Memory: a block. Errors: those of the output file.
class IntervalWriter {
 public:
  explicit IntervalWriter(SectionWriter& out)
      : out_(out), rows_(out, SectionKind::kIntervals, kIntervalsPerBlock) {}

  Status add(const WaitInterval& row);
  Status end(std::span<const std::string> reasons);

 private:
  SectionWriter& out_;
  BlockRows<WaitInterval> rows_;
};

}  // namespace stackpack::spk
