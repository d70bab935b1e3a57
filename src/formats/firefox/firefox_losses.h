// Names of the loss counters that files of the Firefox Profiler raise. They are stored and shown: a
// name never changes.
#pragma once

#include <span>
#include <string_view>

#include "capture/byte_account.h"

namespace stackpack::firefox {

namespace loss {

// Damage: something was not converted.
inline constexpr std::string_view kDamagedSample = "firefox_damaged_sample";
inline constexpr std::string_view kNegativeWeight = "firefox_negative_weight";
inline constexpr std::string_view kStackTooDeep = "firefox_stack_too_deep";
inline constexpr std::string_view kUnknownIndex = "firefox_unknown_index";

// Notice: markers, and counters.
inline constexpr std::string_view kMarkersNotKept = "firefox_markers_not_kept";

}  // namespace loss

/// All of them, for the registry of formats.
inline constexpr std::string_view kLossNames[] = {
    loss::kDamagedSample, loss::kNegativeWeight, loss::kStackTooDeep,
    loss::kUnknownIndex,  loss::kMarkersNotKept,
};
inline constexpr std::span<const capture::SkipReason> kSkipReasons{};

}  // namespace stackpack::firefox
