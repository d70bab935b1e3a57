#pragma once

#include <cstdint>

#include "stackpack/model.h"

namespace stackpack::symbols {

/// A process in one epoch of its names and mappings: all that the meaning of an address depends on.
struct MappingContext {
  std::uint32_t pid = kUnknownId;  ///< unknown: any process of which nothing is known
  std::uint64_t time_ns = 0;       ///< any time in the epoch
};

}  // namespace stackpack::symbols
