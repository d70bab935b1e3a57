// Both sides of a comparison as one tree of callstacks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/diff/row_table.h"
#include "stackpack/diff.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

struct JointCallstacks {
  std::string event;
  std::string unit;  ///< of the values
  RowTable rows;     ///< callstacks; row 0 is the empty one; nothing by node of a side
  std::vector<std::array<std::uint64_t, 2>>
      values;  ///< by row: what samples count for, old and new
  std::array<std::size_t, 2> runs{};
  std::array<std::uint64_t, 2> samples{};
  std::array<IdleLeftOut, 2> idle{};
};

/// Of the event that a comparison shows first. Functions are paired as by compare_profiles.
/// Errors: as compare_profiles.
Result<JointCallstacks> joint_callstacks(std::span<const Reader* const> before,
                                         std::span<const Reader* const> after,
                                         const DiffOptions& options);

}  // namespace stackpack::app
