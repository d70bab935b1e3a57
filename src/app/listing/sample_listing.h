#pragma once

#include <functional>
#include <span>

#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// visit(sample, frames leaf first) for every sample that matches, in time order. The span is empty
/// for a sample without a stack, and valid during the visit. An error of `visit` ends the walk.
/// Memory: the frames of the stacks of a few thousand samples.
Status visit_samples_with_frames(
    const Reader& reader, const SampleQuery& query,
    const std::function<Status(const StoredSample& sample, std::span<const Frame> frames)>& visit);

}  // namespace stackpack::app
