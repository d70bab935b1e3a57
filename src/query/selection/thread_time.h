// Time of threads that a .NET runtime samples: the event `thread-time`, which no file holds.
#pragma once

#include "query/selection/capture_view.h"
#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::query {

/// Adds this event to a view, where a filter asks for it by its name and the file has samples of
/// threads (Managed, External) and no event of that name. A sample of it is the time from a sample
/// of a thread, or an allocation, to the next one of the thread: its time is the end, its weight
/// the length in ns, its callstack that of the first of the two. The last sample of a thread has
/// none. It is what PerfView and dotnet-trace call thread time of such files.
/// Memory: 48 bytes a thread. Errors: those of the reader, which must outlive the view.
Status add_thread_time(const Reader& reader, const SampleFilter& filter, CaptureView& view);

}  // namespace stackpack::query
