#pragma once

#include <cstdint>

namespace stackpack::symbolize {

/// What a reader of symbol files found and could not use.
struct ReadLosses {
  /// Tables, packed sections and units of debug information that cannot be read, or not to the end.
  std::uint64_t damaged_parts = 0;
  /// Files of split debug information that a file names and that are not there, or may not be read.
  std::uint64_t missing_files = 0;
  /// 1: the file, whose build id could not be looked at before, is of another build.
  std::uint64_t other_builds = 0;
  /// 1: the symbol that says how far the kernel was moved is not in it.
  std::uint64_t kernel_not_placed = 0;
  /// Inlined calls that have no name here: it is in a file that several share, and that is missing.
  std::uint64_t nameless_calls = 0;
  /// Above 0: there are functions, whether one has any of the addresses or not.
  std::uint64_t functions_there = 0;

  friend bool operator==(const ReadLosses&, const ReadLosses&) = default;
};

}  // namespace stackpack::symbolize
