#include "spk/read/interval_store.h"

#include <utility>

#include "spk/format/interval_codec.h"
#include "spk/format/layout.h"
#include "spk/read/dag_store.h"

namespace stackpack::spk {

namespace {

bool fits(const WaitInterval& row, const WaitQuery& query) {
  return row.to_ns >= query.from_ns && row.from_ns <= query.to_ns &&
         (!query.pid || row.pid == *query.pid) && (!query.tid || row.tid == *query.tid);
}

Error number_of_rows(const SectionRecord& section) {
  return {ErrorCode::kCorrupt, section.offset, "spk: intervals: number of rows"};
}

}  // namespace

Result<std::vector<std::string>> read_wait_reasons(BlockReader& blocks,
                                                   const Directory& directory) {
  std::vector<std::string> reasons;
  const SectionRecord* const section = directory.find(SectionKind::kWaitReasons);
  if (section == nullptr) {
    return reasons;
  }
  BlockReader::Lease scratch = blocks.borrow();
  const Status done = for_each_block(blocks, *section, *scratch, [&](const bytes::ByteCursor& in) {
    return reasons.empty() ? decode_wait_reasons(in, reasons)
                           : Status(Error{ErrorCode::kCorrupt, kNoOffset,
                                          "spk: wait reasons: more than one block"});
  });
  if (!done) {
    return done.error();
  }
  if (reasons.size() != section->items) {
    return Error{ErrorCode::kCorrupt, section->offset, "spk: wait reasons: number of rows"};
  }
  return reasons;
}

Status read_intervals(BlockReader& blocks, const Directory& directory, std::uint64_t stacks,
                      const WaitQuery& query,
                      const std::function<bool(std::span<const WaitInterval>)>& visit) {
  const SectionRecord* const section = directory.find(SectionKind::kIntervals);
  if (section == nullptr) {
    return {};
  }
  const Result<std::vector<std::string>> reasons = read_wait_reasons(blocks, directory);
  if (!reasons) {
    return reasons.error();
  }
  const IntervalBounds bounds{stacks, reasons->size()};
  BlockReader::Lease scratch = blocks.borrow();
  std::vector<WaitInterval> rows;
  std::uint64_t count = 0;
  bool stopped = false;
  const Status done =
      for_each_block(blocks, *section, *scratch, [&](const bytes::ByteCursor& in) -> Status {
        if (stopped) {
          return {};
        }
        if (const Status decoded = decode_intervals(in, bounds, rows); !decoded) {
          return decoded;
        }
        count += rows.size();
        if (count > section->items) {
          return number_of_rows(*section);
        }
        std::erase_if(rows, [&query](const WaitInterval& row) { return !fits(row, query); });
        stopped = !rows.empty() && !visit(rows);
        return {};
      });
  if (!done || stopped) {
    return done;
  }
  return count == section->items ? Status{} : Status{number_of_rows(*section)};
}

}  // namespace stackpack::spk
