#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/branches/bolt_samples.h"
#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// Where samples were: the instructions at the leaves of their callstacks.
struct LeafSamples {
  std::map<std::uint32_t, ImageSamples> images;  ///< by the row of modules that stands for each
  std::vector<std::string> events;               ///< names, in order
  std::uint64_t without_image = 0;
};

/// Counts the samples that the filter lets through, of all events unless it names some; events that
/// count the same are one. Memory: distinct leaves in images, and a million groups of samples with
/// one callstack at a time. Errors: those of the reader; kUsage: as
/// SampleSelection.
Result<LeafSamples> leaf_samples(const Reader& reader, const SampleFilter& filter);

}  // namespace stackpack::app
