#pragma once

#include <string>
#include <vector>

#include "app/analysis/hot_spots.h"
#include "cli/arguments.h"

namespace stackpack::cli {

/// Commands that go deeper from a report of one file, most useful first, without the program's
/// name: `callers out.spk 'ns::f'`. `rows`: the shown ones; `left_out`: how many are not.
std::vector<std::string> next_commands(const ReportArguments& arguments,
                                       const std::vector<app::HotSpot>& rows, std::size_t left_out);

}  // namespace stackpack::cli
