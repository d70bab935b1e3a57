#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::app {

/// How often each callstack was recorded, by stack id. Samples whose stack is made of an
/// instruction pointer do not count.
/// Cost: one pass over the samples, 8 bytes per stack.
Result<std::vector<std::uint64_t>> count_recorded_samples(const Reader& reader);

/// visit(samples, frames leaf first) for every recorded callstack, in the order of ids. The span is
/// valid during the visit. An error of `visit` ends the walk and is returned.
Status visit_recorded_stacks(
    const Reader& reader,
    const std::function<Status(std::uint64_t samples, std::span<const Frame> frames)>& visit);

}  // namespace stackpack::app
