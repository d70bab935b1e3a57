// Names of the loss counters which only perf.data raises. docs/perf-notes.md explains each.
#pragma once

#include <string_view>

namespace stackpack::perf::loss {

// Damage: something was not converted.
inline constexpr std::string_view kDataSizeMissing = "data_size_missing";
inline constexpr std::string_view kDataSectionCut = "data_section_cut";
inline constexpr std::string_view kRecordCut = "record_cut";
inline constexpr std::string_view kRecordHeaderDamaged = "record_header_damaged";
inline constexpr std::string_view kDamagedBytes = "damaged_bytes";
inline constexpr std::string_view kBadRecords = "bad_records";
inline constexpr std::string_view kBadSamples = "bad_samples";
inline constexpr std::string_view kBadAttributes = "bad_attributes";
inline constexpr std::string_view kUnknownRecordTypes = "unknown_record_types";
inline constexpr std::string_view kUnknownEventId = "unknown_event_id";
inline constexpr std::string_view kEventIdsMissing = "event_ids_missing";
inline constexpr std::string_view kCompressedDataDamaged = "compressed_data_damaged";
inline constexpr std::string_view kCompressedRecordsUnread = "compressed_records_unread";
inline constexpr std::string_view kOutsidePayloadCut = "outside_payload_cut";
inline constexpr std::string_view kFeaturesDamaged = "feature_sections_damaged";

// Said by the recorder.
inline constexpr std::string_view kDeferredUnmatched = "deferred_chains_unmatched";

// Notices: nothing was lost.
inline constexpr std::string_view kDeferredReleasedEarly = "deferred_chains_released_early";
inline constexpr std::string_view kThrottle = "throttle_events";
inline constexpr std::string_view kUnthrottle = "unthrottle_events";
inline constexpr std::string_view kUnknownContexts = "callchain_unknown_context_values";
inline constexpr std::string_view kDumpWithoutChain = "user_stack_dump_without_chain";
inline constexpr std::string_view kTrailingText = "trailing_text_bytes";
inline constexpr std::string_view kUnreadSampleBytes = "samples_with_unread_bytes";
inline constexpr std::string_view kCompressedSizeOverflow = "compressed_size_overflow";
inline constexpr std::string_view kUnreferencedBytes = "unreferenced_bytes";

}  // namespace stackpack::perf::loss
