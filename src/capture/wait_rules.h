// By which rules the intervals of a file were worked out, as its metadata say it.
#pragma once

#include <string_view>

namespace stackpack::capture {

/// A key of the metadata of files with intervals. Where it is missing, threads that ended go on
/// running.
inline constexpr std::string_view kWaitRulesKey = "waits.rules";
inline constexpr std::string_view kWaitRules = "2";

/// Counts events of switches that were recorded by a period or frequency, so that most switches are
/// missing.
inline constexpr std::string_view kSampledSwitchEvents = "sampled_switch_events";

}  // namespace stackpack::capture
