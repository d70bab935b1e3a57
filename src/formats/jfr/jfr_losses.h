// Names of the loss counters that JFR recordings raise, and reasons for which their bytes are
// skipped. They are stored and shown: a name never changes.
#pragma once

#include <string_view>

#include "capture/byte_account.h"

namespace stackpack::jfr {

namespace loss {

// Damage: something was not converted.
inline constexpr std::string_view kDamagedCheckpoint = "jfr_damaged_checkpoint";
inline constexpr std::string_view kDamagedEvent = "jfr_damaged_event";
inline constexpr std::string_view kDamagedMetadata = "jfr_damaged_metadata";
inline constexpr std::string_view kEventOverLimit = "jfr_event_over_limit";
inline constexpr std::string_view kNoMetadata = "jfr_chunk_without_metadata";
inline constexpr std::string_view kStackTooDeep = "jfr_stack_too_deep";
inline constexpr std::string_view kUnfinishedChunk = "jfr_unfinished_chunk";
inline constexpr std::string_view kUnknownConstant = "jfr_unknown_constant";

// Said by the recorder.
inline constexpr std::string_view kRecorderLostBytes = "jfr_recorder_lost_bytes";
inline constexpr std::string_view kRecorderLostSamples = "jfr_recorder_lost_samples";

// Notices: nothing was lost.
inline constexpr std::string_view kEventsWithoutCallstack = "jfr_events_without_callstack";
inline constexpr std::string_view kTruncatedStacks = "jfr_truncated_stacks";
inline constexpr std::string_view kUnknownThread = "jfr_unknown_thread";

}  // namespace loss

namespace skip {

// Damage.
inline constexpr capture::SkipReason kDamagedChunk{"jfr_damaged_chunk"};
inline constexpr capture::SkipReason kDamagedEvent{"jfr_damaged_event"};
inline constexpr capture::SkipReason kEventOverLimit{"jfr_event_over_limit"};

// Understood, and of no use.
inline constexpr capture::SkipReason kEventsWithoutCallstack{"jfr_events_without_callstack"};

}  // namespace skip

/// All of them, for the registry of formats.
inline constexpr std::string_view kLossNames[] = {
    loss::kDamagedCheckpoint, loss::kDamagedMetadata,     loss::kNoMetadata,
    loss::kStackTooDeep,      loss::kUnfinishedChunk,     loss::kUnknownConstant,
    loss::kRecorderLostBytes, loss::kRecorderLostSamples, loss::kTruncatedStacks,
    loss::kUnknownThread,
};
inline constexpr capture::SkipReason kSkipReasons[] = {
    skip::kDamagedChunk,
    skip::kDamagedEvent,
    skip::kEventOverLimit,
    skip::kEventsWithoutCallstack,
};

}  // namespace stackpack::jfr
