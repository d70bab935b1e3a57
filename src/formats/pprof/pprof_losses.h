// Names of the loss counters that pprof profiles raise, and reasons for which their bytes are
// skipped. A reason that is counted as well has one name for both. They are stored and shown: a
// name never changes.
#pragma once

#include <string_view>

#include "capture/byte_account.h"

namespace stackpack::pprof {

namespace loss {

// Damage: something was not converted.
inline constexpr std::string_view kDamagedSample = "pprof_damaged_sample";
inline constexpr std::string_view kDamagedTableEntry = "pprof_damaged_table_entry";
inline constexpr std::string_view kMissingString = "pprof_missing_string";
inline constexpr std::string_view kNegativeValue = "pprof_negative_value";
inline constexpr std::string_view kSampleOfOtherWidth = "pprof_sample_of_other_width";
inline constexpr std::string_view kUnknownFunction = "pprof_unknown_function";
inline constexpr std::string_view kUnknownLocation = "pprof_unknown_location";
inline constexpr std::string_view kUnknownMapping = "pprof_unknown_mapping";

// Notices: nothing was lost.
inline constexpr std::string_view kAddressesByName = "pprof_addresses_told_by_name";
inline constexpr std::string_view kBuildIdNotHex = "pprof_build_id_not_hex";
inline constexpr std::string_view kCommentsNotKept = "pprof_comments_not_kept";
inline constexpr std::string_view kDroppedFrames = "pprof_dropped_frames";
inline constexpr std::string_view kFramesNotDropped = "pprof_frames_not_dropped";
inline constexpr std::string_view kLabelsCut = "pprof_labels_cut";
inline constexpr std::string_view kLabelsNotKept = "pprof_labels_not_kept";
inline constexpr std::string_view kOverlappingMappings = "pprof_overlapping_mappings";
inline constexpr std::string_view kSampleOfZeros = "pprof_sample_of_zeros";

}  // namespace loss

namespace skip {

// Damage.
inline constexpr capture::SkipReason kPprofDamagedStream{"pprof_damaged_stream"};

}  // namespace skip

/// All of them, for the registry of formats.
inline constexpr std::string_view kLossNames[] = {
    loss::kDamagedSample,       loss::kDamagedTableEntry,  loss::kMissingString,
    loss::kNegativeValue,       loss::kSampleOfOtherWidth, loss::kUnknownFunction,
    loss::kUnknownLocation,     loss::kUnknownMapping,     loss::kAddressesByName,
    loss::kBuildIdNotHex,       loss::kCommentsNotKept,    loss::kDroppedFrames,
    loss::kFramesNotDropped,    loss::kLabelsCut,          loss::kLabelsNotKept,
    loss::kOverlappingMappings, loss::kSampleOfZeros,
};
inline constexpr capture::SkipReason kSkipReasons[] = {
    skip::kPprofDamagedStream,
};

}  // namespace stackpack::pprof
