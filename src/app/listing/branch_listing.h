#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/branches.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

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

/// What a branch was, as listings have it: `COND`, `CALL`, `RET`, ...; `?` for a type that nobody
/// knows.
std::string_view branch_type_name(BranchType type);

/// Branches of all events of a file, with the same ends, type and prediction.
struct ListedBranch {
  std::string from;  ///< IMAGE+OFFSET; an address without image
  std::string to;
  std::string_view type;
  bool mispredicted = false;
  std::uint64_t count = 0;
};

/// Ranges of all events of a file.
struct ListedRange {
  std::string begin;  ///< IMAGE+OFFSET
  std::uint64_t end = 0;
  std::uint64_t count = 0;
};

/// By from, to, type; by begin, end. Errors: those of Reader::branches() and modules().
Result<std::vector<ListedBranch>> listed_branches(const Reader& reader);
Result<std::vector<ListedRange>> listed_ranges(const Reader& reader);

}  // namespace stackpack::app
