// One side of a comparison whose sums are known already, as those in tables of many captures.
#pragma once

#include <cstdint>
#include <span>

#include "app/diff/side_profile.h"
#include "stackpack/diff.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Which of the sums of a function stands as what lies in it alone.
enum class CountedSum : std::uint8_t { kSelf, kTotal };

/// The runs as callstacks of one function each. A run without samples is no run of the side.
/// Errors: kUsage: a count of no function, or functions that have more than the run.
Result<SideProfile> counted_side(std::span<const CountedRun> runs,
                                 std::span<const CountedFunction> functions, CountedSum sum);

}  // namespace stackpack::app
