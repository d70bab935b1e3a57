#pragma once

#include <functional>
#include <span>

#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// visit(sample, frames leaf first) for every sample that passes the filter, in time order. The
/// span is empty for a sample without a stack, and valid during the visit. An error of `visit` ends
/// the walk. Memory: the frames of the stacks of a few thousand samples. Errors: kUsage when the
/// filter names what the file does not have; those of the reader.
Status visit_samples_with_frames(
    const Reader& reader, const SampleFilter& filter,
    const std::function<Status(const StoredSample& sample, std::span<const Frame> frames)>& visit);

}  // namespace stackpack::app
