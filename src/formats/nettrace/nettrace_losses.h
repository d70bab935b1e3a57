// Names of the loss counters that .nettrace files raise, and reasons for which their bytes are
// skipped. They are stored and shown: a name never changes.
#pragma once

#include <string_view>

#include "capture/byte_account.h"

namespace stackpack::nettrace {

namespace loss {

// Damage: something was not converted.
inline constexpr std::string_view kBadBlockHeader = "bad_block_header";
inline constexpr std::string_view kBadBlockSize = "bad_block_size";
inline constexpr std::string_view kBadEvent = "bad_event";
inline constexpr std::string_view kBadMetadata = "bad_metadata";
inline constexpr std::string_view kBadMethod = "bad_method";
inline constexpr std::string_view kBadObjectName = "bad_object_name";
inline constexpr std::string_view kBadObjectTag = "bad_object_tag";
inline constexpr std::string_view kBadPayload = "bad_payload";
inline constexpr std::string_view kBadSequencePoint = "bad_sequence_point";
inline constexpr std::string_view kBadStack = "bad_stack";
inline constexpr std::string_view kBadStackBlock = "bad_stack_block";
inline constexpr std::string_view kBadThread = "bad_thread";
inline constexpr std::string_view kBlockOverLimit = "block_over_limit";
inline constexpr std::string_view kCutBlock = "cut_block";
inline constexpr std::string_view kCutEvent = "cut_event";
inline constexpr std::string_view kCutStack = "cut_stack";
inline constexpr std::string_view kNoEndOfStream = "no_end_of_stream";
inline constexpr std::string_view kObjectsOutOfOrder = "objects_out_of_order";
inline constexpr std::string_view kOddStack = "odd_stack";
inline constexpr std::string_view kStackCount = "stack_count";
inline constexpr std::string_view kStackIdTwice = "stack_id_twice";
inline constexpr std::string_view kStacksOverLimit = "stacks_over_limit";
inline constexpr std::string_view kSymbolsOverLimit = "symbols_over_limit";
inline constexpr std::string_view kThreadIndexTwice = "thread_index_twice";
inline constexpr std::string_view kThreadsOverLimit = "threads_over_limit";
inline constexpr std::string_view kUnknownMetadata = "unknown_metadata";
inline constexpr std::string_view kUnknownObject = "unknown_object";
inline constexpr std::string_view kUnknownObjectVersion = "unknown_object_version";
inline constexpr std::string_view kUnknownStack = "unknown_stack";
inline constexpr std::string_view kUnknownThread = "unknown_thread";

// Said by the recorder, by numbers that no event has.
inline constexpr std::string_view kRecorderLostEvents = "recorder_lost_events";

// Notices: nothing was lost.
inline constexpr std::string_view kBookkeepingStacks = "bookkeeping_stacks";
inline constexpr std::string_view kEventsWithoutCallstack = "events_without_callstack";
inline constexpr std::string_view kLongThreadIds = "long_thread_ids";
inline constexpr std::string_view kNoMethodNames = "no_method_names";
inline constexpr std::string_view kSequenceWentBack = "sequence_went_back";
inline constexpr std::string_view kStacksCutByRuntime = "stacks_cut_by_runtime";
inline constexpr std::string_view kSwitchesWithoutState = "switches_without_state";
inline constexpr std::string_view kSymbolsRefused = "symbols_refused";
inline constexpr std::string_view kThreadIdsUsedAgain = "thread_ids_used_again";
inline constexpr std::string_view kUnknownBlockKind = "unknown_block_kind";

}  // namespace loss

namespace skip {

// Damage: what comes after a place where the structure of the file is lost.
inline constexpr capture::SkipReason kUnreadBytes{"unread_bytes"};
// Not of the stream.
inline constexpr capture::SkipReason kBytesBehindTheEnd{"bytes_behind_the_end"};

}  // namespace skip

/// All of them, for the registry of formats.
inline constexpr std::string_view kLossNames[] = {
    loss::kBadBlockHeader,
    loss::kBadBlockSize,
    loss::kBadEvent,
    loss::kBadMetadata,
    loss::kBadMethod,
    loss::kBadObjectName,
    loss::kBadObjectTag,
    loss::kBadPayload,
    loss::kBadSequencePoint,
    loss::kBadStack,
    loss::kBadStackBlock,
    loss::kBadThread,
    loss::kBlockOverLimit,
    loss::kCutBlock,
    loss::kCutEvent,
    loss::kCutStack,
    loss::kNoEndOfStream,
    loss::kObjectsOutOfOrder,
    loss::kOddStack,
    loss::kStackCount,
    loss::kStackIdTwice,
    loss::kStacksOverLimit,
    loss::kSymbolsOverLimit,
    loss::kThreadIndexTwice,
    loss::kThreadsOverLimit,
    loss::kUnknownMetadata,
    loss::kUnknownObject,
    loss::kUnknownObjectVersion,
    loss::kUnknownStack,
    loss::kUnknownThread,
    loss::kRecorderLostEvents,
    loss::kBookkeepingStacks,
    loss::kEventsWithoutCallstack,
    loss::kLongThreadIds,
    loss::kNoMethodNames,
    loss::kSequenceWentBack,
    loss::kStacksCutByRuntime,
    loss::kSwitchesWithoutState,
    loss::kSymbolsRefused,
    loss::kThreadIdsUsedAgain,
    loss::kUnknownBlockKind,
};
inline constexpr capture::SkipReason kSkipReasons[] = {
    skip::kUnreadBytes,
    skip::kBytesBehindTheEnd,
};

}  // namespace stackpack::nettrace
