// Which events two sides of a comparison have in common.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stackpack/diff.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// An event that a comparison may be about.
struct PairedEvent {
  std::string key;  ///< of its group
  std::string name;
  DiffUnit unit = DiffUnit::kSamples;  ///< what the options ask for, or what it measures
  std::string measure = "samples";     ///< what values are counted in
  bool weighted = false;               ///< samples count for their weights
  unsigned weight_decimals = 0;  ///< digits of weights behind the point, the most of all files
};

struct PairedEvents {
  std::vector<PairedEvent> common;     ///< to both sides, the preferred one first
  std::vector<std::string> one_sided;  ///< names
};

/// Errors: those of the readers, with the number of the file as Error::part.
Result<PairedEvents> pair_events(std::span<const Reader* const> before,
                                 std::span<const Reader* const> after, const DiffOptions& options);

/// An error of a file of the second side, by its number among all files.
Error in_after(Error error, std::span<const Reader* const> before);

}  // namespace stackpack::app
