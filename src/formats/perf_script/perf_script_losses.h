// Names of the loss counters that the text of perf script raises, and reasons for which its bytes
// are skipped. They are stored and shown: a name never changes.
#pragma once

#include <string_view>

#include "capture/byte_account.h"

namespace stackpack::perf_script {

namespace loss {

// Damage: samples that were not converted.
inline constexpr std::string_view kTooManyEvents = "perf_script_too_many_events";
inline constexpr std::string_view kTooDeep = "perf_script_stack_too_deep";

// Notices: what a sample has beside its callstack, and what the text does not say.
inline constexpr std::string_view kBranchesNotKept = "perf_script_branches_not_kept";
inline constexpr std::string_view kTraceTextNotKept = "perf_script_trace_text_not_kept";
inline constexpr std::string_view kProcessNotTold = "perf_script_process_not_told";
// Samples that are branches of a decoded hardware trace, as Intel PT.
inline constexpr std::string_view kTracedBranches = "perf_script_traced_branches";

}  // namespace loss

namespace skip {

// Damage.
inline constexpr capture::SkipReason kUnknownLine{"perf_script_unknown_line"};
inline constexpr capture::SkipReason kBinaryLine{"perf_script_binary_line"};
inline constexpr capture::SkipReason kLineTooLong{"perf_script_line_too_long"};
// Notices: records that are no samples (`perf script --show-mmap-events` and the like).
inline constexpr capture::SkipReason kOtherRecord{"perf_script_other_record"};

}  // namespace skip

/// All of them, for the registry of formats.
inline constexpr std::string_view kLossNames[] = {
    loss::kTooManyEvents,    loss::kTooDeep,        loss::kBranchesNotKept,
    loss::kTraceTextNotKept, loss::kProcessNotTold, loss::kTracedBranches,
};
inline constexpr capture::SkipReason kSkipReasons[] = {
    skip::kUnknownLine,
    skip::kBinaryLine,
    skip::kLineTooLong,
    skip::kOtherRecord,
};

}  // namespace stackpack::perf_script
