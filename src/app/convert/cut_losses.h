// Names of the loss counters that cutting raises. They are stored and shown: a name never changes.
// docs/cli.md explains each.
#pragma once

#include <array>
#include <string_view>

namespace stackpack::app::cut_loss {

/// Notices: rows of which a part cannot be taken; of values those under a filter by processor,
/// control group or module, and of kinds that this program does not know.
inline constexpr std::string_view kIntervalsLeftOut = "cut_intervals_left_out";
inline constexpr std::string_view kBranchesLeftOut = "cut_branches_left_out";
inline constexpr std::string_view kValuesLeftOut = "cut_event_values_left_out";

inline constexpr std::array kAll{kIntervalsLeftOut, kBranchesLeftOut, kValuesLeftOut};

}  // namespace stackpack::app::cut_loss
