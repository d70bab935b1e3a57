// Names of the loss counters that merging raises. They are stored and shown: a name never changes.
// docs/merge.md explains each.
#pragma once

#include <array>
#include <string_view>

namespace stackpack::app::merge_loss {

/// Notices. Frames are counted once for each process or epoch in which they mean another thing.
///
/// Frames at addresses where merged files have their images, which are moved to where nothing is.
inline constexpr std::string_view kMovedFrames = "merge_moved_frames";
/// Frames of the kernel that no image has: they keep their addresses, which other starts have for
/// something else.
inline constexpr std::string_view kKernelFramesLeft = "merge_kernel_frames_left";

/// Notice: event values of kinds that this program does not know; one of a source without samples.
inline constexpr std::string_view kValuesLeftOut = "merge_event_values_left_out";
/// Notice: a source whose samples have fields, in a merge that keeps counts of samples alone.
inline constexpr std::string_view kFieldsLeftOut = "merge_sample_fields_left_out";
/// Notice: sources with branch stacks, in a merge that keeps counts of samples alone.
inline constexpr std::string_view kBranchStacksLeftOut = "merge_branch_stacks_left_out";
/// Damage: branches of a merged file of which some captures are read from other inputs.
inline constexpr std::string_view kBranchesLeftOut = "merge_branches_left_out";

/// Sources whose intervals are not in the output, which keeps counts and no samples.
inline constexpr std::string_view kIntervalsLeftOut = "merge_intervals_left_out";

/// Notice: reasons of waits beyond those that a file holds. Their intervals have the reason `?`.
inline constexpr std::string_view kReasonsLeftOut = "merge_wait_reasons_left_out";

/// Notice: control groups beyond those that a file holds. Their samples are of none.
inline constexpr std::string_view kControlGroupsLeftOut = "merge_control_groups_left_out";

inline constexpr std::array kAll{kMovedFrames,      kKernelFramesLeft,     kBranchesLeftOut,
                                 kIntervalsLeftOut, kValuesLeftOut,        kReasonsLeftOut,
                                 kFieldsLeftOut,    kControlGroupsLeftOut, kBranchStacksLeftOut};

}  // namespace stackpack::app::merge_loss

namespace stackpack::app::cut_loss {

// Names of the loss counters that cutting raises. They are stored and shown: a name never changes.
// docs/cli.md explains each.

/// Notices: rows of which a part cannot be taken; of values those under a filter by processor,
/// control group or module, and of kinds that this program does not know.
inline constexpr std::string_view kIntervalsLeftOut = "cut_intervals_left_out";
inline constexpr std::string_view kBranchesLeftOut = "cut_branches_left_out";
inline constexpr std::string_view kValuesLeftOut = "cut_event_values_left_out";

inline constexpr std::array kAll{kIntervalsLeftOut, kBranchesLeftOut, kValuesLeftOut};

}  // namespace stackpack::app::cut_loss
