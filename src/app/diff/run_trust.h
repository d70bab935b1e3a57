// Whether what runs cost can be compared.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "query/selection/capture_view.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// What a capture says of the conditions under which its program ran.
struct RunFacts {
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;       ///< samples or events that the recorder says it lost
  std::uint64_t damaged = 0;    ///< records that were not converted
  std::uint64_t throttled = 0;  ///< times that the kernel stopped sampling for a while
  std::string processors;       ///< their number; empty: not recorded
  std::string model;
  bool has_program = false;  ///< the process with most of the cost is known
  bool ended = false;        ///< it ended within the recording
  double hertz = 0;          ///< cycles for each second of processor time; 0: not recorded
};

/// `program`: the row of the process with most of the cost, or query::kNoRow.
/// Errors: those of the reader.
Result<RunFacts> facts_of_run(const query::CaptureView& view, std::uint32_t program);

/// What keeps costs of runs from being compared, a sentence each. `of_time`: cost is time, which
/// depends on the frequency.
std::vector<std::string> doubts_of(std::span<const RunFacts> before,
                                   std::span<const RunFacts> after, bool of_time);

}  // namespace stackpack::app
