#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// A process and a time in which a callstack was seen: what its user addresses mean depends on
/// them.
struct StackPlace {
  std::uint32_t pid = kUnknownId;
  std::uint64_t time_ns = kUnknownTime;
};

/// Which places to consider; unset: any.
struct PlaceFilter {
  std::optional<std::uint32_t> pid;
  std::optional<CaptureTime> from;
  std::optional<CaptureTime> to;  ///< inclusive
};

/// For each id the place of the first sample which has that stack; none when no sample has it.
/// Cost: a pass over the samples up to the last one needed.
Result<std::vector<std::optional<StackPlace>>> first_places(const Reader& reader,
                                                            std::span<const StackId> ids,
                                                            const PlaceFilter& filter);

}  // namespace stackpack::app
