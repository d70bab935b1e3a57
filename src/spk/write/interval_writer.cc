#include "spk/write/interval_writer.h"

#include "spk/format/interval_codec.h"
#include "spk/format/layout.h"
#include "spk/write/block_rows.h"

namespace stackpack::spk {

IntervalWriter::IntervalWriter(SectionWriter& out, bool threaded)
    : out_(out),
      zstd_(out.level()),
      pipeline_(
          threaded ? 1 : 0, threaded ? 2 : 1,
          [this](unsigned, Block& block) { return pack(block); },
          [this](Block& block) { return write(block); }) {}

Status IntervalWriter::pack(Block& block) {
  content_.clear();
  encode_intervals(block.rows, content_);
  block.raw_bytes = static_cast<std::uint32_t>(content_.size());
  return zstd_.compress_parts(content_.parts(), block.frame);
}

Status IntervalWriter::write(Block& block) {
  block.rows.clear();
  const Result<BlockRecord> added = out_.add_frame(block.frame, block.raw_bytes);
  return added ? Status{} : Status{added.error()};
}

Status IntervalWriter::add(const WaitInterval& row) {
  if (count_++ == 0) {
    out_.begin_section(SectionKind::kIntervals);
  }
  std::vector<WaitInterval>& rows = pipeline_.filling().rows;
  rows.push_back(row);
  return rows.size() < kIntervalsPerBlock ? Status{} : pipeline_.submit();
}

Status IntervalWriter::end(std::span<const std::string> reasons) {
  if (count_ == 0) {
    return {};
  }
  const Status ended = pipeline_.filling().rows.empty() ? pipeline_.drain() : pipeline_.finish();
  if (!ended) {
    return ended;
  }
  out_.end_section(count_);
  return write_one_block(
      out_, SectionKind::kWaitReasons, reasons.size(),
      [reasons](BlockContent& content) { encode_wait_reasons(reasons, content); });
}

}  // namespace stackpack::spk
