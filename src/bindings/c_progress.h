#pragma once

#include <cstdint>

#include "stackpack/c_api.h"
#include "stackpack/convert.h"

// The handle by which another thread watches a conversion or a merge.
struct stackpack_progress {  // NOLINT(readability-identifier-naming): a C name
  stackpack::ConvertProgress state;
};

namespace stackpack::bindings {

// Of zstd, which the options of conversions and merges name.
inline constexpr std::uint32_t kHighestLevel = 22;

inline ConvertProgress* state_of(stackpack_progress* progress) noexcept {
  return progress == nullptr ? nullptr : &progress->state;
}

}  // namespace stackpack::bindings
