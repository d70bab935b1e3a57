// The sections intervals and wait_reasons, as docs/format.md has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bytes/byte_cursor.h"
#include "spk/format/column_codec.h"
#include "stackpack/result.h"
#include "stackpack/waits.h"

namespace stackpack::spk {

/// What rows of intervals may name.
struct IntervalBounds {
  std::uint64_t stacks = 0;
  std::size_t reasons = 0;
};

/// Whether its callstacks and its reason are among those. A writer refuses what a reader would.
bool is_within(const WaitInterval& row, const IntervalBounds& bounds);

/// Whether an interval may be in a file after `before`: it does not end before it begins, nor begin
/// before that of the same thread ends. A writer refuses what a reader would.
bool may_follow(const WaitInterval& row, const WaitInterval& before);

/// Appends one block of at most kIntervalsPerBlock rows. Rows of a thread follow each other, and
/// none begins before the one before it of the same thread ends.
void encode_intervals(std::span<const WaitInterval> rows, BlockContent& content);

/// The rows of one block, into `rows` (replaced). Errors: kCorrupt.
Status decode_intervals(bytes::ByteCursor in, const IntervalBounds& bounds,
                        std::vector<WaitInterval>& rows);

/// All reasons, in one block.
void encode_wait_reasons(std::span<const std::string> reasons, BlockContent& content);
Status decode_wait_reasons(bytes::ByteCursor in, std::vector<std::string>& reasons);

}  // namespace stackpack::spk
