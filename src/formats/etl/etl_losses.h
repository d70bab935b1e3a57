// Names of the loss counters that .etl files raise, and reasons for which their bytes are skipped.
// A reason that is counted as well has one name for both. They are stored and shown: a name never
// changes.
#pragma once

#include <string_view>

#include "capture/byte_account.h"

namespace stackpack::etl {

namespace loss {

// Damage: something was not converted.
inline constexpr std::string_view kAbsurdSequenceNumbers = "absurd_sequence_numbers";
inline constexpr std::string_view kBadBufferSizes = "bad_buffer_sizes";
inline constexpr std::string_view kBadContextSwitches = "bad_context_switches";
inline constexpr std::string_view kBadMethodEvents = "bad_method_events";
inline constexpr std::string_view kBadProfileEvents = "bad_profile_events";
inline constexpr std::string_view kBadStackEvents = "bad_stack_events";
inline constexpr std::string_view kBadSystemEvents = "bad_system_events";
inline constexpr std::string_view kBufferSizesDisagree = "buffer_sizes_disagree";
inline constexpr std::string_view kBuffersBeyondTheirSpace = "buffers_beyond_their_space";
inline constexpr std::string_view kBuffersOfWrongType = "buffers_of_wrong_type";
inline constexpr std::string_view kBuffersWithoutSize = "buffers_without_size";
inline constexpr std::string_view kCompressedInputLeft = "compressed_input_left";
inline constexpr std::string_view kDeclaredBuffersNotFound = "declared_buffers_not_found";
inline constexpr std::string_view kDoubtfulKernelEvents = "doubtful_kernel_events";
inline constexpr std::string_view kLateUserHalves = "late_user_halves";
inline constexpr std::string_view kMissingBuffers = "missing_buffers";
inline constexpr std::string_view kOverlongEvents = "overlong_events";
inline constexpr std::string_view kSessionClocksApart = "session_clocks_apart";
inline constexpr std::string_view kUndefinedStackKeys = "undefined_stack_keys";

// Said by the recorder.
inline constexpr std::string_view kBuffersFlaggedBufferLost = "buffers_flagged_buffer_lost";
inline constexpr std::string_view kBuffersFlaggedEventsLost = "buffers_flagged_events_lost";
inline constexpr std::string_view kRecorderLostBuffers = "recorder_lost_buffers";
inline constexpr std::string_view kRecorderLostEvents = "recorder_lost_events";
inline constexpr std::string_view kRecorderLostSamples = "recorder_lost_samples";

// Notices: nothing was lost.
inline constexpr std::string_view kAppendedSessions = "appended_sessions";
inline constexpr std::string_view kBuffersBeyondDeclared = "buffers_beyond_declared";
inline constexpr std::string_view kClockFrequencyUnknown = "clock_frequency_unknown";
inline constexpr std::string_view kClockLaps = "clock_laps";
inline constexpr std::string_view kClockWentBack = "clock_went_back";
inline constexpr std::string_view kClrStacksWithoutEvent = "clr_stacks_without_event";
inline constexpr std::string_view kCompressionFormatCorrected = "compression_format_corrected";
inline constexpr std::string_view kCutUnusedSpace = "cut_unused_space";
inline constexpr std::string_view kEmptyStackDefinitions = "empty_stack_definitions";
inline constexpr std::string_view kEmptyStackFragments = "empty_stack_fragments";
inline constexpr std::string_view kEventsOfUncountedKinds = "events_of_uncounted_kinds";
inline constexpr std::string_view kOrphanStacks = "orphan_stacks";
inline constexpr std::string_view kProcessorsMergedLate = "processors_merged_late";
inline constexpr std::string_view kProcessorsOutOfSequence = "processors_out_of_sequence";
inline constexpr std::string_view kRepeatedSequenceNumbers = "repeated_sequence_numbers";
inline constexpr std::string_view kRepeatedTraces = "repeated_traces";
inline constexpr std::string_view kSessionClocksOfOtherKinds = "session_clocks_of_other_kinds";
inline constexpr std::string_view kSessionNotEnded = "session_not_ended";
inline constexpr std::string_view kUnusedStackDefinitions = "unused_stack_definitions";
inline constexpr std::string_view kUnusedTailBytes = "unused_tail_bytes";

}  // namespace loss

namespace skip {

// Of no use to us.
inline constexpr capture::SkipReason kBuffersWithoutEvents{"buffers_without_events"};
inline constexpr capture::SkipReason kEventsNotKept{"events_not_kept"};

// Damage.
inline constexpr capture::SkipReason kSkippedBufferBytes{"skipped_buffer_bytes"};
inline constexpr capture::SkipReason kSkippedTailBytes{"skipped_tail_bytes"};
inline constexpr capture::SkipReason kCutBuffers{"cut_buffers"};
inline constexpr capture::SkipReason kOversizedBuffers{"oversized_buffers"};
inline constexpr capture::SkipReason kUndecodableBuffers{"undecodable_buffers"};
inline constexpr capture::SkipReason kBuffersEndedEarly{"buffers_ended_early"};
inline constexpr capture::SkipReason kBadEventMarkers{"bad_event_markers"};
inline constexpr capture::SkipReason kObsoleteEventHeaders{"obsolete_event_headers"};
inline constexpr capture::SkipReason kBadEventSizes{"bad_event_sizes"};
inline constexpr capture::SkipReason kBadExtendedItems{"bad_extended_items"};
inline constexpr capture::SkipReason kUnreadableTraces{
    "unreadable_traces"};  ///< of a session whose other traces were read

}  // namespace skip

/// All of them, for the registry of formats.
inline constexpr std::string_view kLossNames[] = {
    loss::kAbsurdSequenceNumbers,
    loss::kBadBufferSizes,
    loss::kBadContextSwitches,
    loss::kBadMethodEvents,
    loss::kBadProfileEvents,
    loss::kBadStackEvents,
    loss::kBadSystemEvents,
    loss::kBufferSizesDisagree,
    loss::kBuffersBeyondTheirSpace,
    loss::kBuffersOfWrongType,
    loss::kBuffersWithoutSize,
    loss::kCompressedInputLeft,
    loss::kDeclaredBuffersNotFound,
    loss::kDoubtfulKernelEvents,
    loss::kLateUserHalves,
    loss::kMissingBuffers,
    loss::kOverlongEvents,
    loss::kSessionClocksApart,
    loss::kUndefinedStackKeys,
    loss::kBuffersFlaggedBufferLost,
    loss::kBuffersFlaggedEventsLost,
    loss::kRecorderLostBuffers,
    loss::kRecorderLostEvents,
    loss::kRecorderLostSamples,
    loss::kAppendedSessions,
    loss::kBuffersBeyondDeclared,
    loss::kClockFrequencyUnknown,
    loss::kClockLaps,
    loss::kClockWentBack,
    loss::kClrStacksWithoutEvent,
    loss::kCompressionFormatCorrected,
    loss::kCutUnusedSpace,
    loss::kEmptyStackDefinitions,
    loss::kEmptyStackFragments,
    loss::kEventsOfUncountedKinds,
    loss::kOrphanStacks,
    loss::kProcessorsMergedLate,
    loss::kProcessorsOutOfSequence,
    loss::kRepeatedSequenceNumbers,
    loss::kRepeatedTraces,
    loss::kSessionClocksOfOtherKinds,
    loss::kSessionNotEnded,
    loss::kUnusedStackDefinitions,
    loss::kUnusedTailBytes,
};
inline constexpr capture::SkipReason kSkipReasons[] = {
    skip::kBuffersWithoutEvents, skip::kEventsNotKept,     skip::kSkippedBufferBytes,
    skip::kSkippedTailBytes,     skip::kCutBuffers,        skip::kOversizedBuffers,
    skip::kUndecodableBuffers,   skip::kBuffersEndedEarly, skip::kBadEventMarkers,
    skip::kObsoleteEventHeaders, skip::kBadEventSizes,     skip::kBadExtendedItems,
    skip::kUnreadableTraces,
};

}  // namespace stackpack::etl
