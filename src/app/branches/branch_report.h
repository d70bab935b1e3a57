// What branches of a file say to a person: the hottest ones, and how often loops turn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stackpack/branches.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// An instruction that a branch is at or goes to.
struct BranchPlace {
  std::string image;         ///< its path; empty: no image is known
  std::uint64_t offset = 0;  ///< in the file; without image the address
  std::string function;      ///< as people read it; empty: no name
  std::string linkage;       ///< as linked
  std::uint64_t function_offset = 0;
  std::string file;  ///< of the source; empty: not known
  std::uint32_t line = 0;
};

/// A branch to one target, whatever the event.
struct ReportedBranch {
  BranchPlace from;
  BranchPlace to;
  BranchType type = BranchType::kUnknown;
  std::uint64_t taken = 0;
  std::uint64_t mispredicted = 0;  ///< of taken
  std::uint64_t cycles = 0;        ///< since the branch before, added up; 0: not recorded
  std::uint64_t all_taken = 0;     ///< to all of its targets
  std::uint64_t not_taken = 0;     ///< runs that went on after the instruction
};

/// Code of a function that jumps back: see loop_finder.h.
struct ReportedLoop {
  BranchPlace head;
  BranchPlace end;  ///< the last branch that goes back
  std::uint64_t iterations = 0;
  std::uint64_t entries = 0;  ///< 0: none was recorded
};

struct BranchReport {
  std::uint64_t taken = 0;
  std::uint64_t mispredicted = 0;
  std::uint64_t wrong_path = 0;  ///< speculated and given up; not in `taken`, and in no row
  std::vector<ReportedBranch> branches;
  std::vector<ReportedLoop> loops;  ///< most iterations first
  std::size_t all_branches = 0;     ///< how many there are, and of how many not all are in the rows
  std::size_t all_loops = 0;
};

enum class BranchOrder : std::uint8_t { kTaken, kMispredicted };

/// The report of a file, branches in the order asked for. At most `rows` of branches and of loops
/// have names; 0: all. Memory: that of Reader::branches() and Symbols, some 100 bytes a branch.
/// Errors: those of the reader.
Result<BranchReport> report_branches(const Reader& reader, BranchOrder order, std::size_t rows);

}  // namespace stackpack::app
