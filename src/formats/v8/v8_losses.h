// Names of the loss counters that profiles of V8 raise. They are stored and shown: a name never
// changes.
#pragma once

#include <span>
#include <string_view>

#include "capture/byte_account.h"

namespace stackpack::v8 {

namespace loss {

// Damage: something was not converted.
inline constexpr std::string_view kChunkWithoutProfile = "v8_chunk_without_profile";
inline constexpr std::string_view kCutTrace = "v8_cut_trace";
inline constexpr std::string_view kSampleWithoutTime = "v8_sample_without_time";
inline constexpr std::string_view kStackTooDeep = "v8_stack_too_deep";
inline constexpr std::string_view kUnknownNode = "v8_unknown_node";

// Notices: slices and counters of a trace; lines within functions; times before the last one.
inline constexpr std::string_view kEventsNotKept = "v8_events_not_kept";
inline constexpr std::string_view kLinesNotKept = "v8_lines_not_kept";
inline constexpr std::string_view kTimeBackward = "v8_time_backward";

}  // namespace loss

/// All of them, for the registry of formats.
inline constexpr std::string_view kLossNames[] = {
    loss::kChunkWithoutProfile, loss::kCutTrace,      loss::kSampleWithoutTime, loss::kStackTooDeep,
    loss::kUnknownNode,         loss::kEventsNotKept, loss::kLinesNotKept,      loss::kTimeBackward,
};
inline constexpr std::span<const capture::SkipReason> kSkipReasons{};

}  // namespace stackpack::v8
