// Waits as samples: the events `blocked`, `woken` and `preempted`, which no file holds.
#pragma once

#include "query/selection/capture_view.h"
#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::query {

/// Adds these events to a view of a file with intervals, where a filter asks for one of them by its
/// name and the file has no event of that name itself. A sample of them is an interval: its time is
/// the end, its weight the length in ns, its callstack that of the switch-out. Those of threads
/// that wait for work (IdlePools) are idle ones, unless the filter chooses processes or threads.
/// Memory: 32 MiB when samples are asked for by time. Errors: those of the reader, which must
/// outlive the view.
Status add_wait_events(const Reader& reader, const SampleFilter& filter, CaptureView& view);

/// Who ended a wait, and what it was for, are asked of waits: a filter that asks for them and names
/// no event is one of `blocked`.
SampleFilter with_wait_event(SampleFilter filter);

/// view_of(), with these events, thread-time (thread_time.h) and latency (latency_samples.h) where
/// the filter asks for them.
Result<CaptureView> view_for(const Reader& reader, const SampleFilter& filter);

}  // namespace stackpack::query
