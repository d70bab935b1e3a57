#pragma once

#include <functional>
#include <span>

#include "core/weight_scale.h"
#include "query/selection/sample_selection.h"
#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/stats.h"

namespace stackpack::app {

/// visit(samples) for those that pass the filter, in time order, in blocks; of a file which keeps
/// counts, the counts. The span is valid during the visit; an error of `visit` ends the walk.
/// Errors: kUsage when the filter names what the file does not have; those of the reader.
/// Memory: as query::SampleSelection.
Status visit_selected(const Reader& reader, const SampleFilter& filter,
                      const std::function<Status(std::span<const query::SelectedSample>)>& visit);

/// Whether the file is an imported profile: each sample stands for as many as its weight says.
Result<bool> is_aggregated(const Reader& reader);

/// Time of the first sample; 0 in a file without samples. Cost: one block of samples.
Result<std::uint64_t> first_time(const Reader& reader);

/// Fills in what `statistics` says of samples, callstacks and events for the samples that pass the
/// filter; the rest stays. Errors: as visit_selected.
/// Memory: 8 bytes a callstack, and the distinct frames at their leaves.
Status recount(const Reader& reader, const SampleFilter& filter, Statistics& statistics);

/// By event, how many digits of its weights stand behind the point.
Result<std::vector<unsigned>> decimals_of_events(const Reader& reader);

/// The weights of all samples that pass the filter, by event. Saturates.
Result<std::vector<core::ScaledNumber>> weights_of_events(const Reader& reader,
                                                          const SampleFilter& filter);

}  // namespace stackpack::app
