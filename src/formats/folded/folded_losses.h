// Reasons for which bytes of folded text are skipped, and the loss counters of the same names. They
// are stored and shown: a name never changes.
#pragma once

#include "capture/byte_account.h"

namespace stackpack::folded {

namespace skip {

// Damage.
inline constexpr capture::SkipReason kFoldedBinaryLine{"folded_binary_line"};
inline constexpr capture::SkipReason kFoldedLineTooLong{"folded_line_too_long"};
inline constexpr capture::SkipReason kFoldedLineWithoutCount{"folded_line_without_count"};

}  // namespace skip

/// All of them, for the registry of formats.
inline constexpr capture::SkipReason kSkipReasons[] = {
    skip::kFoldedBinaryLine,
    skip::kFoldedLineTooLong,
    skip::kFoldedLineWithoutCount,
};

}  // namespace stackpack::folded
