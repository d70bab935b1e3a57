// Names of the loss counters which only perf.data raises, but for those that are also reasons for
// bytes to be skipped (capture/byte_account.h). docs/perf-notes.md explains each.
#pragma once

#include <string_view>

namespace stackpack::perf::loss {

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

// Said by the recorder.
inline constexpr std::string_view kDeferredUnmatched = "deferred_chains_unmatched";

// Notices: nothing was lost.
inline constexpr std::string_view kDeferredReleasedEarly = "deferred_chains_released_early";
inline constexpr std::string_view kThrottle = "throttle_events";
inline constexpr std::string_view kUnthrottle = "unthrottle_events";
inline constexpr std::string_view kUnknownContexts = "callchain_unknown_context_values";
inline constexpr std::string_view kDumpWithoutChain = "user_stack_dump_without_chain";
inline constexpr std::string_view kUnreadSampleBytes = "samples_with_unread_bytes";
inline constexpr std::string_view kCompressedSizeOverflow = "compressed_size_overflow";

}  // namespace stackpack::perf::loss
