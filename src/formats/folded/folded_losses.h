// Names of the loss counters that folded text raises, and reasons for which its bytes are skipped,
// which are counters of the same names as well. They are stored and shown: a name never changes.
#pragma once

#include <string_view>

#include "capture/byte_account.h"

namespace stackpack::folded {

namespace loss {

// Damage: a count may be the beginning of a longer one.
inline constexpr std::string_view kLastLineUnended = "folded_last_line_unended";

}  // namespace loss

namespace skip {

// Damage.
inline constexpr capture::SkipReason kFoldedBinaryLine{"folded_binary_line"};
inline constexpr capture::SkipReason kFoldedLineTooLong{"folded_line_too_long"};
inline constexpr capture::SkipReason kFoldedStackTooDeep{"folded_stack_too_deep"};
inline constexpr capture::SkipReason kFoldedLineWithoutCount{"folded_line_without_count"};
inline constexpr capture::SkipReason kFoldedNegativeCount{"folded_negative_count"};

}  // namespace skip

/// All of them, for the registry of formats.
inline constexpr std::string_view kLossNames[] = {
    loss::kLastLineUnended,
};
inline constexpr capture::SkipReason kSkipReasons[] = {
    skip::kFoldedBinaryLine,       skip::kFoldedLineTooLong,   skip::kFoldedStackTooDeep,
    skip::kFoldedLineWithoutCount, skip::kFoldedNegativeCount,
};

}  // namespace stackpack::folded
