#include "spk/write/interval_writer.h"

#include <algorithm>
#include <utility>

#include "spk/format/interval_codec.h"
#include "spk/format/layout.h"
#include "spk/format/table_rules.h"
#include "spk/write/block_rows.h"

namespace stackpack::spk {

IntervalWriter::IntervalWriter(SectionWriter& out, std::uint64_t stacks, bool threaded)
    : out_(out),
      stacks_(stacks),
      zstd_(out.level()),
      pipeline_(
          threaded ? 1 : 0, threaded ? 2 : 1,
          [this](unsigned, Block& block) { return pack(block); },
          [this](Block& block) { return write(block); }) {}

Status IntervalWriter::pack(Block& block) {
  block.frames.clear();
  return pack_rows(block.rows, block.frames);
}

// Rows that are alike take blocks of few rows: no reader would take more for so few bytes.
Status IntervalWriter::pack_rows(std::span<const WaitInterval> rows, std::vector<Frame>& frames) {
  content_.clear();
  encode_intervals(rows, content_);
  Frame frame;
  frame.raw_bytes = static_cast<std::uint32_t>(content_.size());
  if (const Status packed = zstd_.compress_parts(content_.parts(), frame.bytes); !packed) {
    return packed;
  }
  if (rows.size() <= frame.bytes.size() * kIntervalsPerByte) {
    frames.push_back(std::move(frame));
    return {};
  }
  const std::size_t half = rows.size() / 2;
  const Status first = pack_rows(rows.first(half), frames);
  return first ? pack_rows(rows.subspan(half), frames) : first;
}

Status IntervalWriter::write(Block& block) {
  block.rows.clear();
  for (const Frame& frame : block.frames) {
    if (const Result<BlockRecord> added = out_.add_frame(frame.bytes, frame.raw_bytes); !added) {
      return added.error();
    }
  }
  return {};
}

Status IntervalWriter::add(const WaitInterval& row) {
  if (!may_follow(row, count_ == 0 ? WaitInterval() : last_)) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: intervals of a thread overlap"};
  }
  if (!is_within(row, {stacks_, kMaxWaitReasons})) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: an interval of what is not there"};
  }
  reasons_used_ = std::max(reasons_used_, std::uint64_t{row.reason} + 1);
  if (count_++ == 0) {
    out_.begin_section(SectionKind::kIntervals);
  }
  last_ = row;
  std::vector<WaitInterval>& rows = pipeline_.filling().rows;
  rows.push_back(row);
  return rows.size() < kIntervalsPerBlock ? Status{} : pipeline_.submit();
}

Status IntervalWriter::end(std::span<const std::string> reasons) {
  if (count_ == 0) {
    return {};
  }
  if (const Status rules = check_wait_reasons(reasons); !rules) {
    return refused(rules);
  }
  if (reasons_used_ > std::max<std::uint64_t>(reasons.size(), 1)) {
    return Error{ErrorCode::kLimit, kNoOffset, "spk: an interval of a reason that is not there"};
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
