#pragma once

#include <string>

#include "workload/workload.h"

namespace stackpack::bench {

/// Writes the workload as a perf.data file, as `perf record -e cpu-clock -F 8192 -g -a` would: one
/// attribute, a COMM per thread, samples with ip, tid, time, cpu, period and callchain, a
/// FINISHED_ROUND every 4,096 of them. About 250 bytes per callstack. Streams: no more memory for
/// a larger file. Result: false when the file could not be written.
bool write_perf(const WorkloadOptions& options, const std::string& path);

/// The same as `perf record -o -` writes it into a pipe: `path` may be one, as /dev/stdout.
bool write_perf_stream(const WorkloadOptions& options, const std::string& path);

}  // namespace stackpack::bench
