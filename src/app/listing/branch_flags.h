#pragma once

#include <cstdint>
#include <string_view>

#include "stackpack/branches.h"

namespace stackpack::app {

/// StackedBranch::flags in parts.
struct BranchFlags {
  explicit BranchFlags(std::uint64_t flags);

  bool mispredicted;
  bool predicted;
  bool in_transaction;
  bool abort;
  std::uint32_t cycles;          ///< since the branch before; 0: not recorded
  std::string_view speculation;  ///< `WRONG_PATH`, ..., `-` where it is not recorded
  BranchType type;
};

}  // namespace stackpack::app
