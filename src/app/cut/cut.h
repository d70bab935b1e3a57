// A part of a .spk file as a .spk file.
#pragma once

#include <cstdint>
#include <string>

#include "app/analysis/hot_spot_query.h"
#include "stackpack/convert.h"
#include "stackpack/filter.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::app {

struct CutOptions {
  SampleFilter filter;     ///< idle threads are kept unless it says otherwise
  StackPatterns patterns;  ///< focus and ignore; frames are not taken out of callstacks
  int level = 9;           ///< zstd level of the output, 1..22
  std::uint64_t memory_limit = std::uint64_t{256} << 20;
  bool force = false;  ///< replace an existing file that is neither a .spk file nor empty
};

struct CutReport {
  std::uint64_t samples_before = 0;
  std::uint64_t output_bytes = 0;
  Statistics statistics;  ///< those in the output
};

/// Writes the samples of `input` that the options choose, with their callstacks, to `output` ("-":
/// standard output), which appears whole or not at all and is no file that is read. Tables of the
/// system, names, facts and counters of losses stay as they are; intervals and branches are left
/// out, and counted (cut_loss). The metadata `cut.of` is the identity of the capture, and the
/// output has none of its own: it is another set of samples.
/// Memory: tables, names, 12 bytes for each callstack of the input, and options.memory_limit.
/// Errors: those of the reader; kUsage: no sample is chosen, or what the file does not have is
/// asked for; Error::part is kOutputPart for those of the output.
Result<CutReport> cut_file(const std::string& input, const std::string& output,
                           const CutOptions& options, ConvertProgress& progress);

}  // namespace stackpack::app
