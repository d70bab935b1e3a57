#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"
#include "symbols/symbol_index.h"

namespace stackpack::app {

/// How often each callstack was recorded, by stack id. Samples whose stack is made of an
/// instruction pointer do not count.
struct StackCounts {
  std::vector<std::uint64_t> counts;
  /// Of an imported profile a sample counts for its weight. Weights of different events do not add
  /// up: the one that was counted, and those that were left out.
  std::string event;
  std::vector<EventCount> other_events;
  unsigned decimals = 0;  ///< digits of the counts behind the point
};

/// Counts the samples that pass the filter.
/// Errors: kUsage when the filter names what the file does not have; those of the reader.
/// Cost: one pass over the samples, 8 bytes per stack.
Result<StackCounts> count_recorded_stacks(const Reader& reader, const SampleFilter& filter);

/// visit(id, count, frames leaf first) for every callstack whose count is not 0, in the order of
/// ids. The span is valid during the visit. An error of `visit` ends the walk and is returned.
Status visit_counted_stacks(const Reader& reader, std::span<const std::uint64_t> counts,
                            const std::function<Status(StackId id, std::uint64_t count,
                                                       std::span<const Frame> frames)>& visit);

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
