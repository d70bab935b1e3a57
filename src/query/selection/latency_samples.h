// Time on the clock, shared by the threads that run: the event `latency`, which no file holds.
#pragma once

#include <cstdint>
#include <string_view>

#include "query/selection/capture_view.h"
#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack::query {

inline constexpr std::string_view kLatencyEvent = "latency";

/// The process of time in which no thread ran or nothing was recorded, which is no process.
inline constexpr std::uint32_t kClockPid = kUnknownId - 1;

/// What such time is called, by its thread number, which is no thread; empty: it is a thread.
std::string_view clock_title(std::uint32_t pid, std::uint32_t tid);

/// Rows that stand after all others: what is known of no function. 0: any other name.
unsigned clock_rank(std::string_view name);

/// Adds the event to a view of a file with intervals, where the filter asks for it by its name and
/// the file has no event of that name. Samples of it are those of events that say where time goes;
/// their weights (LatencySweep) are of the threads that the filter lets through by process, thread
/// and name, and of the time that is asked for. Time that is no sample's has a callstack of one
/// frame: [nothing runs], [not sampled], [not recorded].
/// Memory: 32 MiB, 32 bytes for each time at which records were lost, and names of the processes
/// and threads where the filter has names.
/// Errors: those of the reader, which must outlive the view; kUsage: no intervals, a merged file.
Status add_latency(const Reader& reader, const SampleFilter& filter, CaptureView& view);

}  // namespace stackpack::query
