// Names of the loss counters that perf.data raises, and reasons for which their bytes are skipped.
// A reason that is counted as well has one name for both. They are stored and shown: a name never
// changes. docs/perf-notes.md explains each.
#pragma once

#include <string_view>

#include "capture/byte_account.h"
#include "capture/loss_counters.h"

namespace stackpack::perf {

namespace loss {

// Damage: something was not converted.
inline constexpr std::string_view kDataSizeMissing = "data_size_missing";
inline constexpr std::string_view kDataSectionCut = "data_section_cut";
inline constexpr std::string_view kRecordHeaderDamaged = "record_header_damaged";
inline constexpr std::string_view kBadAttributes = "bad_attributes";
inline constexpr std::string_view kEventIdsMissing = "event_ids_missing";
inline constexpr std::string_view kUnknownCounterIds = "unknown_counter_ids";
inline constexpr std::string_view kCountersWentBack = "counters_went_back";
inline constexpr std::string_view kOutsidePayloadCut = "outside_payload_cut";
inline constexpr std::string_view kOverlongRecords = "overlong_records";
inline constexpr std::string_view kOverlongSamples = "overlong_samples";
/// Payloads of switches and wakings that lack a field.
inline constexpr std::string_view kBadWaitEvents = "bad_wait_events";

// Said by the recorder.
inline constexpr std::string_view kRecorderLostEvents = "recorder_lost_events";
inline constexpr std::string_view kRecorderLostSamples = "recorder_lost_samples";
/// AUX records that say so: truncated, with gaps, or overwritten by a collision.
inline constexpr std::string_view kRecorderLostAux = "recorder_lost_aux";
/// AUXTRACE_ERROR records: what a decoder of a hardware trace could not make out.
inline constexpr std::string_view kRecorderTraceErrors = "recorder_trace_errors";
/// Lists of mappings that took too long to read when the recording began.
inline constexpr std::string_view kRecorderCutMaps = "recorder_cut_mapping_lists";
inline constexpr std::string_view kDeferredUnmatched = "deferred_chains_unmatched";

// Notices: nothing was lost. What is not kept has its names in not_kept.h.
inline constexpr std::string_view kSamplesFiltered = "samples_filtered_by_bpf";
inline constexpr std::string_view kTraceBytesMissing = "hardware_trace_bytes_missing";
inline constexpr std::string_view kDeferredReleasedEarly = "deferred_chains_released_early";
inline constexpr std::string_view kThrottle = "throttle_events";
inline constexpr std::string_view kUnthrottle = "unthrottle_events";
inline constexpr std::string_view kUnknownContexts = "callchain_unknown_context_values";
/// Samples whose callchain does not begin at their instruction pointer, which was put in front.
inline constexpr std::string_view kChainsWithoutIp = "callchains_without_ip";
inline constexpr std::string_view kDumpWithoutChain = "user_stack_dump_without_chain";
inline constexpr std::string_view kUnreadSampleBytes = "samples_with_unread_bytes";
inline constexpr std::string_view kCompressedSizeOverflow = "compressed_size_overflow";
inline constexpr std::string_view kJitMappingsForgotten = "jit_mappings_forgotten";
/// Records of a processor whose time is before that of the one before them.
inline constexpr std::string_view kClockStepsBack = "clock_steps_back";
/// Samples of tracepoints without the formats that say what they are.
inline constexpr std::string_view kWaitEventsWithoutFormat = "wait_events_without_format";
/// Sums of time off the processor, which have no time of their own.
inline constexpr std::string_view kOffCpuSumsWithoutTime = "offcpu_sums_without_time";
/// Samples of tracepoints with more fields than are kept, or with such as are no single values.
inline constexpr std::string_view kTracepointFieldsLeftOut = "tracepoint_fields_left_out";
/// Samples whose control group is one more than are kept.
inline constexpr std::string_view kControlGroupsOverLimit = "control_groups_over_limit";
inline constexpr std::string_view kNamespacesOverLimit = "namespaces_over_limit";

}  // namespace loss

namespace skip {

// Of no use to us.
inline constexpr capture::SkipReason kAuxtraceData{
    "auxtrace_data"};  ///< what follows an AUXTRACE record: hardware traces
inline constexpr capture::SkipReason kTracingData{
    "tracing_data"};  ///< what follows a TRACING_DATA record
inline constexpr capture::SkipReason kFieldsNotKept{"sample_fields_not_kept"};
inline constexpr capture::SkipReason kRecordsNotKept{"records_not_kept"};
inline constexpr capture::SkipReason kUnreadSections{
    "unread_sections"};  ///< sections of the file header, not asked for
inline constexpr capture::SkipReason kTrailingText{
    "trailing_text_bytes"};  ///< what perf printed into the pipe at the end
inline constexpr capture::SkipReason kTrailingBytes{
    "trailing_bytes"};  ///< of a whole file, after its last section

// Damage.
inline constexpr capture::SkipReason kBadRecords{"bad_records"};
inline constexpr capture::SkipReason kBadSamples{"bad_samples"};
inline constexpr capture::SkipReason kUnknownEventId{"unknown_event_id"};
inline constexpr capture::SkipReason kUnknownRecordTypes{"unknown_record_types"};
inline constexpr capture::SkipReason kFeaturesDamaged{"feature_sections_damaged"};
inline constexpr capture::SkipReason kCompressedDataDamaged{"compressed_data_damaged"};
inline constexpr capture::SkipReason kCompressedRecordsUnread{"compressed_records_unread"};
inline constexpr capture::SkipReason kDamagedBytes{
    "damaged_bytes"};  ///< up to where records begin again
inline constexpr capture::SkipReason kRecordCut{
    "record_cut"};  ///< of a record that the end of the capture cuts
inline constexpr capture::SkipReason kUnreferenced{"unreferenced_bytes"};  ///< between sections

}  // namespace skip

/// All of them but those in not_kept.h, for the registry of formats.
inline constexpr std::string_view kLossNames[] = {
    loss::kDataSizeMissing,
    loss::kDataSectionCut,
    loss::kRecordHeaderDamaged,
    loss::kBadAttributes,
    loss::kEventIdsMissing,
    loss::kUnknownCounterIds,
    loss::kCountersWentBack,
    loss::kOutsidePayloadCut,
    loss::kOverlongRecords,
    loss::kOverlongSamples,
    loss::kRecorderLostEvents,
    loss::kRecorderLostSamples,
    loss::kRecorderLostAux,
    loss::kRecorderTraceErrors,
    loss::kRecorderCutMaps,
    loss::kDeferredUnmatched,
    loss::kSamplesFiltered,
    loss::kTraceBytesMissing,
    loss::kDeferredReleasedEarly,
    loss::kThrottle,
    loss::kUnthrottle,
    loss::kUnknownContexts,
    loss::kChainsWithoutIp,
    loss::kDumpWithoutChain,
    loss::kUnreadSampleBytes,
    capture::kRecordsWithoutCounts,
    loss::kCompressedSizeOverflow,
    loss::kJitMappingsForgotten,
    loss::kClockStepsBack,
    loss::kWaitEventsWithoutFormat,
    loss::kOffCpuSumsWithoutTime,
    loss::kControlGroupsOverLimit,
    loss::kNamespacesOverLimit,
    loss::kTracepointFieldsLeftOut,
    loss::kBadWaitEvents,
};
inline constexpr capture::SkipReason kSkipReasons[] = {
    skip::kAuxtraceData,
    skip::kTracingData,
    skip::kFieldsNotKept,
    skip::kRecordsNotKept,
    skip::kUnreadSections,
    skip::kTrailingText,
    skip::kTrailingBytes,
    skip::kBadRecords,
    skip::kBadSamples,
    skip::kUnknownEventId,
    skip::kUnknownRecordTypes,
    skip::kFeaturesDamaged,
    skip::kCompressedDataDamaged,
    skip::kCompressedRecordsUnread,
    skip::kDamagedBytes,
    skip::kRecordCut,
    skip::kUnreferenced,
};

}  // namespace stackpack::perf
