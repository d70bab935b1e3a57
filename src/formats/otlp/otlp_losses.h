// Names of the loss counters that OpenTelemetry profiles raise, and reasons for which their bytes
// are skipped. They are stored and shown: a name never changes.
#pragma once

#include <string_view>

#include "capture/byte_account.h"

namespace stackpack::otlp {

namespace loss {

// Damage: something was not converted.
inline constexpr std::string_view kDamagedSample = "otlp_damaged_sample";
inline constexpr std::string_view kDamagedTableEntry = "otlp_damaged_table_entry";
inline constexpr std::string_view kNoDictionary = "otlp_no_dictionary";
inline constexpr std::string_view kNegativeValue = "otlp_negative_value";
inline constexpr std::string_view kSampleTooDeep = "otlp_sample_too_deep";
inline constexpr std::string_view kSampleTooLarge = "otlp_sample_too_large";
inline constexpr std::string_view kUnknownIndex = "otlp_unknown_index";
inline constexpr std::string_view kValuesAndTimesDiffer = "otlp_values_and_times_differ";

// Notices: what samples have beside the model.
inline constexpr std::string_view kAttributeCut = "otlp_attribute_cut";
inline constexpr std::string_view kAttributesNotKept = "otlp_attributes_not_kept";
inline constexpr std::string_view kFieldsNotKept = "otlp_fields_not_kept";
inline constexpr std::string_view kFrameAttributesNotKept = "otlp_frame_attributes_not_kept";
inline constexpr std::string_view kSampleOfZeros = "otlp_sample_of_zeros";

}  // namespace loss

namespace skip {

// Damage: from a place where the structure is lost to the end of the message.
inline constexpr capture::SkipReason kDamagedStream{"otlp_damaged_stream"};

}  // namespace skip

/// All of them, for the registry of formats.
inline constexpr std::string_view kLossNames[] = {
    loss::kDamagedSample,        loss::kDamagedTableEntry, loss::kNegativeValue,
    loss::kSampleTooDeep,        loss::kSampleTooLarge,    loss::kUnknownIndex,
    loss::kValuesAndTimesDiffer, loss::kAttributesNotKept, loss::kFieldsNotKept,
    loss::kSampleOfZeros,        loss::kNoDictionary,      loss::kFrameAttributesNotKept,
    loss::kAttributeCut,
};
inline constexpr capture::SkipReason kSkipReasons[] = {
    skip::kDamagedStream,
};

}  // namespace stackpack::otlp
