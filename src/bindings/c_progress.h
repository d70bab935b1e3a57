#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

// What both kinds of work are asked for. False: a number that is not known.
template <typename Struct, typename Options>
bool take_packing(const Struct& given, Options& options) {
  constexpr std::uint32_t kMostEncoders = 64;
  if (given.level > kHighestLevel ||
      (given.encoders > kMostEncoders && given.encoders != STACKPACK_NO_ENCODERS)) {
    return false;
  }
  options.level = given.level != 0 ? static_cast<int>(given.level) : options.level;
  options.samples = given.drop_samples == 0;
  options.force = given.force != 0;
  options.memory_limit = given.memory_limit;
  options.time_resolution_ns = given.time_resolution_ns;
  options.format = given.format == nullptr ? "" : given.format;
  if (given.encoders != 0) {
    options.encoders = given.encoders == STACKPACK_NO_ENCODERS ? 0 : given.encoders;
  }
  return true;
}

// Names of files; false: one of them is null.
inline bool take_names(const char* const* from, std::size_t count,
                       std::vector<std::string>& names) {
  if (from == nullptr) {
    return count == 0;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (from[i] == nullptr) {
      return false;
    }
    names.emplace_back(from[i]);
  }
  return true;
}

}  // namespace stackpack::bindings
