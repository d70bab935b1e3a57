// Names of the loss counters that callstacks of several lines raise, and reasons for which their
// bytes are skipped. They are stored and shown: a name never changes.
#pragma once

#include <string_view>

#include "capture/byte_account.h"

namespace stackpack::stacks {

namespace loss {

// Damage.
inline constexpr std::string_view kTooDeep = "stacks_stack_too_deep";
inline constexpr std::string_view kWithoutCount = "stacks_stack_without_count";
inline constexpr std::string_view kSumsDiffer = "stacks_sums_differ";

}  // namespace loss

namespace skip {

// Damage.
inline constexpr capture::SkipReason kUnknownLine{"stacks_unknown_line"};
inline constexpr capture::SkipReason kBinaryLine{"stacks_binary_line"};
inline constexpr capture::SkipReason kLineTooLong{"stacks_line_too_long"};
// Notices: what the program printed beside callstacks.
inline constexpr capture::SkipReason kOtherLine{"stacks_other_line"};

}  // namespace skip

/// All of them, for the registry of formats.
inline constexpr std::string_view kLossNames[] = {
    loss::kTooDeep,
    loss::kWithoutCount,
    loss::kSumsDiffer,
};
inline constexpr capture::SkipReason kSkipReasons[] = {
    skip::kUnknownLine,
    skip::kBinaryLine,
    skip::kLineTooLong,
    skip::kOtherLine,
};

}  // namespace stackpack::stacks
