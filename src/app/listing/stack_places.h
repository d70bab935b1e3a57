#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "symbols/mapping_context.h"

namespace stackpack::app {

/// Which places to consider; unset: any.
struct PlaceFilter {
  std::optional<std::uint32_t> pid;
  std::optional<CaptureTime> from;
  std::optional<CaptureTime> to;  ///< inclusive
};

/// For each id the context of the first sample which has that stack; none when no sample has it.
/// Cost: a pass over the samples up to the last one needed.
Result<std::vector<std::optional<symbols::MappingContext>>> first_places(
    const Reader& reader, std::span<const StackId> ids, const PlaceFilter& filter);

}  // namespace stackpack::app
