// Names of the loss counters that speedscope's files raise. They are stored and shown: a name never
// changes.
#pragma once

#include <span>
#include <string_view>

#include "capture/byte_account.h"

namespace stackpack::speedscope {

namespace loss {

// Damage: something was not converted.
inline constexpr std::string_view kNegativeWeight = "speedscope_negative_weight";
inline constexpr std::string_view kSampleWithoutWeight = "speedscope_sample_without_weight";
inline constexpr std::string_view kStackTooDeep = "speedscope_stack_too_deep";
inline constexpr std::string_view kUnbalancedEvent = "speedscope_unbalanced_event";
inline constexpr std::string_view kUnknownFrame = "speedscope_unknown_frame";

// Notices: time in which nothing ran.
inline constexpr std::string_view kGaps = "speedscope_gaps";

}  // namespace loss

/// All of them, for the registry of formats.
inline constexpr std::string_view kLossNames[] = {
    loss::kNegativeWeight,  loss::kSampleWithoutWeight, loss::kStackTooDeep,
    loss::kUnbalancedEvent, loss::kUnknownFrame,        loss::kGaps,
};
inline constexpr std::span<const capture::SkipReason> kSkipReasons{};

}  // namespace stackpack::speedscope
