// What a merged file was made of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stackpack/model.h"

namespace stackpack {

/// One capture of a merged file. The processes of a merged file have numbers of their own: those of
/// the first source begin at 1, those of the next one follow.
struct MergedSource {
  using Hash = std::array<std::byte, 16>;

  /// The identity of the capture, else of what its file holds, names aside: two files with the same
  /// id are one source.
  Hash id{};
  Hash names_hash{};            ///< of the names in that file
  std::uint64_t functions = 0;  ///< that the file named
  std::string kind;             ///< "perf", "etl", ...
  std::uint64_t bytes = 0;      ///< of the capture
  std::string fingerprint;      ///< as of the file; may be empty
  std::string host;             ///< empty: not known
  std::string command_line;     ///< of the recorder; empty: not known
  /// Time of the first sample: wall time if it is known, else of the capture's own clock. Unknown
  /// in a source without samples.
  std::uint64_t start_ns = kUnknownTime;
  /// What was added to the times of the capture; none: its clock is not known.
  std::optional<std::int64_t> wall_offset_ns;
  std::uint64_t samples = 0;
  std::uint64_t records = 0;
  std::uint64_t empty_chains = 0;
  std::uint64_t stack_dump_only = 0;
  std::uint64_t unwound = 0;
  std::uint64_t callstacks = 0;  ///< distinct recorded ones, as they were before the merge
  /// The recorded pids behind the numbers of the merged file, ascending; kUnknownId, the last, is
  /// for what had none.
  std::vector<std::uint32_t> pids;
  std::vector<LossCounter> losses;  ///< by name, without offsets

  friend bool operator==(const MergedSource&, const MergedSource&) = default;
};

}  // namespace stackpack
