#include "spk/write/interval_writer.h"

#include "spk/format/interval_codec.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

Status IntervalWriter::add(const WaitInterval& row) {
  if (count_ == 0) {
    out_.begin_section(SectionKind::kIntervals);
  }
  ++count_;
  rows_.push_back(row);
  return rows_.size() < kIntervalsPerBlock ? Status{} : flush();
}

Status IntervalWriter::flush() {
  content_.clear();
  encode_intervals(rows_, content_);
  rows_.clear();
  const Result<BlockRecord> added = out_.add_block(content_);
  return added ? Status{} : Status{added.error()};
}

Status IntervalWriter::end(std::span<const std::string> reasons) {
  if (count_ == 0) {
    return {};
  }
  if (!rows_.empty()) {
    if (const Status flushed = flush(); !flushed) {
      return flushed;
    }
  }
  out_.end_section(count_);
  out_.begin_section(SectionKind::kWaitReasons);
  content_.clear();
  encode_wait_reasons(reasons, content_);
  if (const Result<BlockRecord> added = out_.add_block(content_); !added) {
    return added.error();
  }
  out_.end_section(reasons.size());
  return {};
}

}  // namespace stackpack::spk
