// Merges captures of many processes, starts and machines into one .spk file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stackpack/convert.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack {

struct MergeOptions {
  std::string format;  ///< of captures among the inputs; empty: by the first bytes
  int level = 9;       ///< zstd level of the output, 1..22
  /// As ConvertOptions::memory_limit; 0: kDefaultMemory for the merge, and the default of a
  /// conversion for the packing of captures.
  std::uint64_t memory_limit = 0;
  static constexpr std::uint64_t kDefaultMemory = std::uint64_t{256} << 20;
  /// False: counts per (callstack, event, process, origin) only, as when an input has no more.
  bool samples = true;
  std::uint64_t time_resolution_ns = 0;  ///< as ConvertOptions::time_resolution_ns
  unsigned encoders = ConvertOptions::kAutoEncoders;
  bool force = false;       ///< replace an existing file that is neither a .spk file nor empty
  bool keep_going = false;  ///< leave out inputs that are bad
};

/// What became of one input.
struct MergeInputReport {
  std::string file;
  std::uint64_t sources = 0;     ///< captures in it
  std::uint64_t repeated = 0;    ///< of them in inputs before it
  std::uint64_t callstacks = 0;  ///< distinct recorded ones of its sources, before the merge
  std::optional<Error> error;    ///< it was left out for this
};

struct MergeReport {
  std::vector<MergeInputReport> inputs;  ///< in the order given
  std::uint64_t sources = 0;             ///< distinct ones that were merged
  std::uint64_t callstacks_before = 0;   ///< of them, each by itself
  std::uint64_t output_bytes = 0;
  std::uint64_t bad_inputs = 0;
  Statistics statistics;
};

/// Merges .spk files, merged ones among them, and captures (which are packed first) into `output`
/// ("-": standard output), which appears whole or not at all and is no file that is read.
///
/// Frames become independent of where code was mapped: an image, known by its build id, has one
/// place in the output, and a name without an image (run-time code) one address. So the same code
/// in other processes is the same callstack. Processes get numbers of their own; Reader::sources()
/// has the recorded ones. Times are wall time where a capture knows it. docs/merge.md.
/// The output depends on the set of sources alone: the order and grouping of inputs, a source that
/// is in several of them, and memory_limit do not show.
/// Errors: as convert(), Error::part is the number of the input; kUnsupported: an imported profile
/// among captures; kLimit: too many images or processes.
Result<MergeReport> merge(const std::vector<std::string>& inputs, const std::string& output,
                          const MergeOptions& options, ConvertProgress* progress);

}  // namespace stackpack
